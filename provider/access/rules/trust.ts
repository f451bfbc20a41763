import { hasPrincipal } from "../graph/accessKinds";
import { findChangedTrust, findInheritedGrants } from "./changedTrust";
import { newOutsider } from "./newOutsider";
import type { Rule } from "./rule";
import { anySubject, sharedIssuer, pullRequestRef } from "./subjectTrust";
import { anyIssuer, looseMatch } from "./tokenTrust";

const trustChanged: Rule = {
  id: "T5",
  name: "trust-changed",
  severities: ["high"],
  when: "always",
  what: "The trust of an identity that has grants changes, so that a different principal gets these grants. Its issuer, subject, audience, claims, keys or AWS match change, or it authenticates in another way. The finding lists the inherited grants. Or such an identity is deleted, and a new one that trusts somebody else gets its grants: the same role on the same group. Of identity providers, the rule checks the issuer, the client id, the groups claim and the correlation rule. A change that cannot be judged is reported. Not reported: a change that accepts no more than before, such as a further claim; identities without grants; a new description or expiry of keys.",
  why: "No binding changes, so nothing in the diff shows that a different principal now has this access.",
  fix: "Create a new identity for the new principal and bind what it needs. Remove the old one in a second change. If it is the same principal under another name, say so in the pull request. To rotate keys, add the new key beside the old one, and remove the old one in a second change.",
  except:
    "After a repository or an issuer has moved, or to rotate keys, for that identity, while the pull request is open.",
  exampleMatch: { name: "ci-deployer" },
  needsBefore: "object",
  driftAdvice: "restore the trust, unless your team changed it; then change the program and have it reviewed",
  about: hasPrincipal,
  find: (facts) => [...findChangedTrust(facts), ...findInheritedGrants(facts)],
};

export const trustRules: readonly Rule[] = [
  anySubject,
  anyIssuer,
  sharedIssuer,
  pullRequestRef,
  trustChanged,
  looseMatch,
  newOutsider,
];
