import { Group, TermsAcceptance } from "pulumi-platform";

const acme = new Group("acme", { name: "acme" });

// Read the documents first. An acceptance cannot be withdrawn.
new TermsAcceptance("terms", {
  parentUid: acme.id,
  documentIds: ["guardener-tos.v1"],
});
