import { Group, Repo } from "pulumi-platform";

const acme = new Group("acme", { name: "acme" });

new Repo("api", {
  parentUid: acme.id,
  name: "api",
  description: "The payment service",
  catalogTier: "CATALOG_TIER_APPLICATION",
  aliases: ["payments/api:latest"],
  activeTags: ["latest", "stable"],
});

// Kept in step with a repository of the catalogue.
new Repo("nginx", {
  parentUid: acme.id,
  name: "nginx",
  syncConfig: { source: "nginx" },
});
