// Invites somebody of a domain whose first letter is Cyrillic
// caught by: review
const { declare } = require("./base");

declare({ invite: { args: (args) => ({ ...args, email: "ada@\u0430cme.example" }) } });
