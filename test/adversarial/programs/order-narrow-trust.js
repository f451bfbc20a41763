// Narrows the trust of an identity only after it is bound
// caught by: review
const { bind, declare, ids, platform } = require("./base");

const archive = platform.getGroupOutput({ name: "archive", parentUid: ids.root }).uid;
const uid = platform.getIdentityOutput({ name: "contractor", parentUid: archive }).uid;
declare({
  contractor: {
    create: (name, args, options, declared) => {
      const extra = bind("extra", declared, { identityUid: uid, roleUid: declared.rescue.id });
      const claimMatch = {
        issuer: args.claimMatch.issuer,
        subjectPattern: "^repo:acme/pay:ref:refs/heads/main$",
      };
      return new platform.Identity(name, { ...args, claimMatch }, { ...options, dependsOn: [extra] });
    },
  },
});
