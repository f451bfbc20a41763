import { Group, Role } from "pulumi-platform";

const acme = new Group("acme", { name: "acme" });

new Role("image-pusher", {
  parentUid: acme.id,
  name: "image-pusher",
  description: "Pushes images into repositories that exist, and moves tags",
  capabilities: [
    "CAP_REPO_LIST",
    "CAP_REPO_BLOBS_GET",
    "CAP_MANIFEST_LIST",
    "CAP_MANIFEST_CREATE",
    "CAP_TAG_LIST",
    "CAP_TAG_CREATE",
    "CAP_TAG_UPDATE",
  ],
});
