"use strict";
/*
 * Holds an update to the report that was approved. The rules are not asked again: they were, in the review.
 *   PLATFORM_APPROVED_REPORT=<its absolute path> PLATFORM_APPROVED_DIGEST=<the approved digest> \
 *     pulumi up --skip-preview --policy-pack node_modules/pulumi-platform/templates/policy-pack
 */
require("../../dist/provider/policy.js").approvedPolicyPack();
