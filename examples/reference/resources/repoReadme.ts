import { Group, Repo, RepoReadme } from "pulumi-platform";

const acme = new Group("acme", { name: "acme" });
const api = new Repo("api", { parentUid: acme.id, name: "api" });

new RepoReadme("api-readme", {
  parentUid: api.id,
  content: "# api\n\nThe payment service. `latest` is the newest release.\n",
});
