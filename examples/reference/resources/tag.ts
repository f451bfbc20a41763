import { Group, Repo, Tag } from "pulumi-platform";

const acme = new Group("acme", { name: "acme" });
const api = new Repo("api", { parentUid: acme.id, name: "api" });

// Another digest moves the tag: its uid stays.
new Tag("api-latest", {
  parentUid: api.id,
  name: "latest",
  digest: "sha256:6b3f9d1c2e4a58770f1e2d3c4b5a69788796a5b4c3d2e1f00f1e2d3c4b5a6978",
});
