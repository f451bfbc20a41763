import type * as pulumi from "@pulumi/pulumi";
import { PlatformResource } from "../engine/resource";
import { defineResource, description, parentGroup } from "../engine/spec";

/** The arguments of a Group. */
export interface GroupArgs {
  /** The uid of the parent group; absent on a root group (an organisation). Changing it replaces the group. */
  parentUid?: pulumi.Input<string>;
  /** The name: lower-case letters, digits, blank, dot, underscore, dash. */
  name: pulumi.Input<string>;
  /** One line, at most 512 characters. */
  description?: pulumi.Input<string>;
  /** `ORG_KIND_…`, on root groups only; inherited below. Required if `verified`. */
  kind?: pulumi.Input<string>;
  /** Whether the organisation is verified: set by the platform's staff only, on root groups only. */
  verified?: pulumi.Input<boolean>;
}

/** A group: an organisation (root) or a team, folder or environment below one. Contract, section 5. */
export class Group extends PlatformResource {
  /** @internal */
  static readonly spec = defineResource<GroupArgs>({
    kind: "Group",
    noun: "group",
    collection: "/iam/v2/groups",
    events: "iam.group",
    listsByName: true,
    readsByList: {},
    fields: {
      parentUid: parentGroup({ required: false }),
      name: { type: "string", required: true },
      description,
      kind: {
        type: "enum",
        prefix: "ORG_KIND_",
        known: ["STARTER", "CUSTOMER", "DEV", "INFRA", "AWS_MARKETPLACE"],
      },
      verified: { type: "boolean" },
    },
    rules: (inputs, unknown) => {
      const failures = [];
      for (const key of ["kind", "verified"] as const) {
        if (inputs["parentUid"] && inputs[key]) {
          failures.push({
            property: key,
            reason: "belongs on the root group only; groups below inherit it: remove it here",
          });
        }
      }
      if (inputs["verified"] === true && !inputs["kind"] && !unknown.has("kind")) {
        failures.push({ property: "kind", reason: "is missing: a verified organisation needs a kind" });
      }
      return failures;
    },
    // Below a root both are inherited, not set (contract, section 5).
    fromServer: (body, uid) => (uid.includes("/") ? { ...body, kind: undefined, verified: undefined } : body),
    dependents: [
      { collection: "/iam/v2/groups", noun: "groups below it", by: "uidp.children_of" },
      { collection: "/iam/v2/identities", noun: "identities in it", by: "uidp.children_of" },
      { collection: "/iam/v2/roles", noun: "roles in it", by: "uidp.children_of" },
      { collection: "/iam/v2/roleBindings", noun: "role bindings in it", by: "uidp.children_of" },
      { collection: "/iam/v2/identityProviders", noun: "identity providers in it", by: "uidp.children_of" },
      { collection: "/iam/v2/groupInvites", noun: "invites to it", by: "uidp.children_of" },
      { collection: "/iam/v2/accountAssociations", noun: "its account association", by: "uidp.ids" },
      { collection: "/registry/v2/repos", noun: "repositories in it", by: "uidp.children_of" },
      { collection: "/events/v2/subscriptions", noun: "subscriptions in it", by: "uidp.children_of" },
    ],
  });

  declare readonly parentUid: pulumi.Output<string | undefined>;
  declare readonly name: pulumi.Output<string>;
  declare readonly description: pulumi.Output<string | undefined>;
  declare readonly kind: pulumi.Output<string | undefined>;
  declare readonly verified: pulumi.Output<boolean | undefined>;

  constructor(name: string, args: GroupArgs, opts?: pulumi.CustomResourceOptions) {
    super(Group.spec, name, args, opts);
  }

  /** Reads a group that this program does not manage. */
  static get(name: string, uid: pulumi.Input<string>, opts?: pulumi.CustomResourceOptions): Group {
    return new Group(name, undefined as unknown as GroupArgs, { ...opts, id: uid });
  }
}
