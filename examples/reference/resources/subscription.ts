import { Group, Subscription } from "pulumi-platform";

const acme = new Group("acme", { name: "acme" });

new Subscription("audit", {
  parentUid: acme.id,
  sink: "https://audit.example.com/platform-events",
});
