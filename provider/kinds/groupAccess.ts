import { resource } from "../program/resource";
import type { Failure } from "../fields/resourceSpec";
import { isObject, isUnknown } from "../fields/values";
import type { Props } from "../fields/values";
import { boolean, kind, list, map, object, shape, string } from "../fields/builders";
import type { ArgsOf, OfKind, Resolved } from "../fields/builders";
import { parentGroup } from "./common";
import { bindingKind } from "./bindingKinds";
import { identityRoleKey, readBindings, UNMANAGED } from "./groupAccess/readBindings";
import { declaredGrantKeys, deleteBindings, grantsSame, writeBindings } from "./groupAccess/writeBindings";

const binding = shape({
  fields: {
    /** The uid of the identity that gets the role. */
    identityUid: string({ format: "uid", required: true, access: "subject", refersTo: "Identity" }),
    /** The uid of the role: a Role's id, or what `getRole` finds. */
    roleUid: string({ format: "uid", required: true, access: "role" }),
  },
});

const ignored = { unordered: true, security: false, access: "permission" } as const;
const uidList = (refersTo: string) => list(string({ format: "uid", refersTo }), ignored);

const ignore = shape({
  fields: {
    /** The uids of identities, whatever their roles. */
    identityUids: uidList("Identity"),
    /** The uids of roles, whoever holds them. */
    roleUids: uidList("Role"),
    /**
     * Regular expressions in RE2's syntax that match a binding's complete name, as a refresh shows it after
     * `unmanaged: `: `break-glass as owner`. Whoever makes an identity chooses its name: uids are safer.
     */
    namePatterns: list(string({ format: "regex" }), ignored),
  },
});

/** Who holds which role. */
export interface GroupAccessBindingArgs extends ArgsOf<typeof binding> {}

/** Bindings created by others, which are neither changed nor shown. A binding that matches any member is ignored. */
export interface GroupAccessIgnoreArgs extends ArgsOf<typeof ignore> {}

/** Two labels for one grant: the second would have nothing to make, and removing one would take both. */
function findRepeated({ bindings }: Props): Failure[] {
  const first = new Map<string, string>();
  // The engine sorts the labels, so the program and the provider name the same one.
  const sorted = Object.entries(isObject(bindings) ? bindings : {}).sort(([a], [b]) => (a < b ? -1 : 1));
  return sorted.flatMap(([label, grant]) => {
    const { identityUid, roleUid } = isObject(grant) ? grant : {};
    if (typeof identityUid !== "string" || typeof roleUid !== "string") return [];
    if (isUnknown(identityUid) || isUnknown(roleUid)) return [];
    const key = identityRoleKey({ identityUid, roleUid });
    const other = first.get(key);
    if (other === undefined) {
      first.set(key, label);
      return [];
    }
    const reason = `grants the same role to the same identity as ${JSON.stringify(other)}: remove one of them`;
    return [{ property: `bindings.${label}`, reason, code: "PP1012" }];
  });
}

const groupAccess = kind({
  ...bindingKind({ ownsAll: true }),
  kind: "GroupAccess",
  capabilities: {
    read: ["CAP_IAM_ROLE_BINDINGS_LIST", "CAP_IAM_GROUPS_LIST"],
    create: ["CAP_IAM_ROLE_BINDINGS_LIST", "CAP_IAM_ROLE_BINDINGS_CREATE"],
    update: [
      "CAP_IAM_ROLE_BINDINGS_LIST",
      "CAP_IAM_ROLE_BINDINGS_CREATE",
      "CAP_IAM_ROLE_BINDINGS_DELETE",
      "CAP_IAM_ROLES_LIST",
    ],
    delete: ["CAP_IAM_ROLE_BINDINGS_LIST", "CAP_IAM_ROLE_BINDINGS_DELETE", "CAP_IAM_ROLES_LIST"],
  },
  sharesParentUid: true,
  fields: {
    /** The uid of the group whose bindings are owned; those of groups below are not. Changing it replaces the resource. */
    parentUid: parentGroup,
    /** All bindings of the group, each under a label that previews show. `{}` leaves none. */
    bindings: map(object<GroupAccessBindingArgs>(binding), {
      required: true,
      allowEmpty: true,
      access: "permission",
      keys: {
        regex: /^[^\p{Cc}\p{Zl}\p{Zp}\u202a-\u202e\u2066-\u2069]{1,100}$/u,
        must: "one line of at most 100 characters",
      },
      reservedKeys: {
        regex: new RegExp(`^${UNMANAGED.trim()}`),
        must: `has a label that begins with "${UNMANAGED.trim()}", which is reserved for bindings that the program does not have`,
      },
    }),
    /** Bindings made by others that are left alone. */
    ignore: object<GroupAccessIgnoreArgs>(ignore, { inputOnly: true }),
    /** True: also removes the bindings by which the caller itself manages the group's bindings. */
    allowSelfRemoval: boolean({ inputOnly: true, harmless: "the update only takes more away" }),
  },
  declaredKeys: declaredGrantKeys,
  validate: findRepeated,
  operations: {
    // What is there already is taken over.
    takesOver: true,
    create: (api, inputs, _body, host) => writeBindings(api, inputs["parentUid"] as string, {}, inputs, host),
    get: readBindings,
    update: writeBindings,
    sendsNothing: grantsSame,
    delete: deleteBindings,
  },
});

/** The arguments of a GroupAccess. */
export interface GroupAccessArgs extends ArgsOf<typeof groupAccess>, OfKind {}
/**
 * All role bindings of one group, as one resource: what the program does not have shows as drift in a refresh,
 * by name, and goes with the next `up`. Deleting it takes away the program's bindings, and no others.
 *
 * A preview knows no uid of a new identity, so a review judges each new one of the program as the holder of each role that a
 * new one gets here. Where these roles differ much, create the identities in an update of their own first.
 */
export class GroupAccess extends resource<GroupAccessArgs>(groupAccess) {}
export interface GroupAccess extends Resolved<GroupAccessArgs> {}
