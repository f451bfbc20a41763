const { RoleBinding } = require("pulumi-platform");
const { parentUid, bindings } = require("./bench.json");

bindings.forEach((binding, index) => {
  new RoleBinding(`binding-${index}`, { parentUid, ...binding });
});
