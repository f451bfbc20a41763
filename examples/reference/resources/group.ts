import { Group } from "pulumi-platform";

const acme = new Group("acme", { name: "acme", kind: "ORG_KIND_CUSTOMER" });

new Group("payments", {
  parentUid: acme.id,
  name: "payments",
  description: "Takes the money",
});
