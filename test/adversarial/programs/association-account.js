// Associates a stranger's account with a group
// caught by: review
const { declare } = require("./base");

declare({ services: { args: (args) => ({ ...args, amazon: { account: "210987654321" } }) } });
