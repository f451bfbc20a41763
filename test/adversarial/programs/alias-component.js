// Lets a component take over a binding of the owner by an alias, which deletes it
// caught by: review
const { declare, nameOf, pulumi } = require("./base");

declare({
  "archive-owner": {
    create: () =>
      new pulumi.ComponentResource(
        "acme:index:Archive",
        nameOf("archive"),
        {},
        {
          aliases: [{ name: nameOf("archive-owner"), type: "pulumi-nodejs:dynamic/platform:RoleBinding" }],
        },
      ),
  },
});
