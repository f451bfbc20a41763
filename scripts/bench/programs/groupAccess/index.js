const { GroupAccess } = require("pulumi-platform");
const { parentUid, bindings } = require("./bench.json");

new GroupAccess("access", {
  parentUid,
  bindings: Object.fromEntries(bindings.map((binding, index) => [`binding-${index}`, binding])),
});
