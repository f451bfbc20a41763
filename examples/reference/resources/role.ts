import { Group, Role } from "pulumi-platform";

const acme = new Group("acme", { name: "acme" });

new Role("image-pusher", {
  parentUid: acme.id,
  name: "image-pusher",
  description: "May list repositories, and create and move tags",
  capabilities: ["CAP_REPO_LIST", "CAP_TAG_LIST", "CAP_TAG_CREATE"],
});
