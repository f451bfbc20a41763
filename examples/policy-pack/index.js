"use strict";
/*
 * The rules of the access review (docs/rules.md) as a policy pack:
 *   npm install && pulumi up --policy-pack <this folder>
 * What is critical or high stops the update, the rest is told.
 */
const { accessPolicyPack } = require("pulumi-platform/policy");

accessPolicyPack("access", {
  // Without an inventory the pack does not know what the platform's own roles allow: `owner`, `editor`, …
  // inventory: "inventory.json",
  // What is all right, each with a reason and a last day: the same file as for `pulumi-platform review --policy`.
  // policyFile: "access-policy.yaml",
  // Nothing but what this report announces is updated. The digest is what the log of the review shows.
  // approved: "review.json",
  // digest: process.env.APPROVED_DIGEST,
  options: {
    // Pipelines of these alone may act as an identity.
    issuerAllow: ["https://token.actions.githubusercontent.com", "https://gitlab.com"],
  },
  enforcement: {
    // Told, and no reason to stop: pipelines push images.
    "supply-chain-write": "advisory",
  },
});
