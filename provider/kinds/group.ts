import { resource } from "../program/resource";
import type { Failure } from "../fields/resourceSpec";
import type { Props } from "../fields/values";
import { optionalParentUid } from "../fields/wire";
import {
  boolean,
  enumOf,
  integer,
  kind,
  map,
  string,
  times,
  type ArgsOf,
  type OfKind,
  type Resolved,
  type ResultOf,
} from "../fields/builders";
import { adviseOnName, description, nameOnly } from "./common";

function checkRoot(inputs: Props, unknown: ReadonlySet<string>): Failure[] {
  const failures: Failure[] = (["kind", "verified"] as const)
    .filter((property) => inputs["parentUid"] && inputs[property])
    .map((property) => ({
      property,
      reason: "can be set only on a root group; groups below inherit it: remove it here",
      code: "PP1011",
    }));
  if (inputs["verified"] === true && !inputs["kind"] && !unknown.has("kind")) {
    failures.push({
      property: "kind",
      reason: "is missing: a verified organisation needs a kind",
      code: "PP1001",
    });
  }
  return failures;
}

const group = kind({
  kind: "Group",
  collection: "/iam/v2/groups",
  capabilities: "IAM_GROUPS",
  eventPrefix: "iam.group",
  listsByName: true,
  listing: { contents: "complete" },
  usedBy: "uid",
  deletion: {
    blockedBy: "children",
    dependents: [
      { collection: "/iam/v2/groups", noun: "groups below it", parameter: "uidp.children_of" },
      { collection: "/iam/v2/identities", noun: "identities in it", parameter: "uidp.children_of" },
      { collection: "/iam/v2/roles", noun: "roles in it", parameter: "uidp.children_of" },
      { collection: "/iam/v2/roleBindings", noun: "role bindings in it", parameter: "uidp.children_of" },
      {
        collection: "/iam/v2/identityProviders",
        noun: "identity providers in it",
        parameter: "uidp.children_of",
      },
      { collection: "/iam/v2/groupInvites", noun: "invites to it", parameter: "uidp.children_of" },
      { collection: "/iam/v2/accountAssociations", noun: "its account association", parameter: "uidp.ids" },
      { collection: "/registry/v2/repos", noun: "repositories in it", parameter: "uidp.children_of" },
      { collection: "/events/v2/subscriptions", noun: "subscriptions in it", parameter: "uidp.children_of" },
    ],
  },
  fields: {
    /** The uid of the parent group; absent on a root group (an organisation). Changing it replaces the group. */
    parentUid: string({
      format: "groupUid",
      path: true,
      immutable: true,
      access: "subject",
      leftOutMeans: "a new organisation (a root group)",
    }),
    /** The name: lower-case letters, digits, blank, dot, underscore, dash. */
    name: string({ required: true, ...nameOnly }),
    /** One line, at most 512 characters. */
    description,
    /** `ORG_KIND_…`, on root groups only; inherited below. Required if `verified`. */
    kind: enumOf("ORG_KIND_", "STARTER CUSTOMER DEV INFRA AWS_MARKETPLACE", {
      security: false,
      access: "other",
    }),
    /** Whether the organisation is verified: set by the platform's staff only, on root groups only. */
    verified: boolean({ security: false, access: "permission" }),
  },
  reads: {
    /** The uid of its parent; left out on a root group. */
    parentUid: optionalParentUid,
    /** How many of each type of resource there may be; left out where nothing is limited. */
    resourceLimits: map(integer(), { leftOut: true }),
    /** `ORG_STATUS_…`; inherited from the root. Left out where it is not set. */
    status: enumOf("ORG_STATUS_", []),
    ...times,
  },
  validate: checkRoot,
  inputWarnings: { name: adviseOnName },
  operations: {
    // Below a root group both are inherited, not set.
    normalizeResponse: (body, uid) =>
      uid.includes("/") ? { ...body, kind: undefined, verified: undefined } : body,
  },
});

/** The arguments of a Group. */
export interface GroupArgs extends ArgsOf<typeof group>, OfKind {}
/** A group. */
export interface GetGroupResult extends ResultOf<typeof group> {}
/** A group: an organisation (root) or a team, folder or environment below one. */
export class Group extends resource<GroupArgs>(group) {}
export interface Group extends Resolved<GroupArgs> {}
