import { isTopUid } from "../../text/uid";
import { groupBy } from "../../fields/values";
import type { Grant, GrantedRole, Scope } from "../graph/grant";
import type { AccessGraph, Entity } from "../graph/model";
import { readRoleCapabilities } from "../graph/roleCapabilities";
import type { Comparison } from "../review/compare";
import { foldName } from "../trust/writingSystems";
import { familyOf, OWNER_CAPABILITIES } from "./capabilities";
import type { CapabilityEffect } from "./capabilities";
import { builtInRoleNames } from "./data/builtInRoleNames";

/** Whether a resource is one of the platform's own roles. */
export function isBuiltInRole(entity: Entity): boolean {
  return entity.kind === "Role" && (entity.builtIn === true || isTopUid(entity.uid));
}

/** The capabilities of a built-in role at the server; undefined where no inventory has it. */
function findLiveCapabilities({ inventory }: Comparison, name: string): readonly string[] | undefined {
  const live = inventory?.objects.find(
    ({ kind, uid, inputs }) => kind === "Role" && inputs["name"] === name && isTopUid(uid),
  );
  return live && readRoleCapabilities(live);
}

/** The capabilities of a built-in role, as this organisation has it; undefined where no document holds them. */
function findCapabilities(comparison: Comparison, name: string): readonly string[] | undefined {
  const { after, before } = comparison;
  for (const graph of [after, before]) {
    for (const entity of graph.entities.values()) {
      // A program may claim of any role that it is this one.
      if (entity.kind !== "Role" || entity.name !== name || !isTopUid(entity.uid) || entity.assumed) continue;
      const capabilities = readRoleCapabilities(entity);
      if (capabilities) return capabilities;
    }
  }
  return findLiveCapabilities(comparison, name);
}

/** Whether a role is `owner`, or is as good. */
function isOwner(role: GrantedRole): boolean {
  if (role.builtIn && role.name === "owner") return true;
  return OWNER_CAPABILITIES.every((capability) => role.capabilities?.includes(capability));
}

/** Whether a grant makes an identity the owner of a root group: an invite is not accepted yet, and nobody knows the members of a directory's group. */
export const isOwnerOfRoot = ({ group, subject, role }: Grant): boolean =>
  group.isRoot && subject.type === "identity" && isOwner(role);

/** The objects without which a root group would have no owner, by uid: the identity, the binding or the role of all of them. */
export function findLastOwners({ grants }: AccessGraph): ReadonlyMap<string, Scope> {
  const uidsOf = ({ uid, subject, role }: Grant) => [uid, subject.uid, role.uid];
  const byRoot = groupBy(grants.filter(isOwnerOfRoot), ({ group }) => [group.key]);
  return new Map(
    [...byRoot.values()].flatMap(([first, ...others]) =>
      first === undefined
        ? []
        : uidsOf(first).flatMap((uid): [string, Scope][] =>
            uid !== undefined && others.every((grant) => uidsOf(grant).includes(uid))
              ? [[uid, first.group]]
              : [],
          ),
    ),
  );
}

/** Compares roles with the built-in roles of one organisation. */
export class BuiltInRoles {
  private readonly viewer: ReadonlySet<string> | undefined;
  private readonly liveViewer: ReadonlySet<string>;
  private readonly names: ReadonlySet<string>;

  constructor(comparison: Comparison) {
    const viewer = findCapabilities(comparison, "viewer");
    this.viewer = viewer === undefined ? undefined : new Set(viewer);
    this.liveViewer = new Set(findLiveCapabilities(comparison, "viewer"));
    const live = [...comparison.before.entities.values()].flatMap((entity) =>
      isBuiltInRole(entity) ? (entity.name ?? []) : [],
    );
    this.names = new Set([...builtInRoleNames, ...live].map(foldName));
  }

  /** Whether a name, folded, is that of a role of the platform. */
  hasName(fold: string): boolean {
    return this.names.has(fold);
  }

  /** What a capability allows. One that this version does not know only reads if the server's own `viewer` has it. */
  effectOf(capability: string): CapabilityEffect {
    const { effect, isGuess } = familyOf(capability);
    return isGuess === true && this.liveViewer.has(capability) ? "reads" : effect;
  }

  /** Whether a role does more than read. */
  mayWrite({ capabilities }: GrantedRole): boolean {
    return capabilities?.some((capability) => this.effectOf(capability) !== "reads") ?? true;
  }

  /** Whether a role lets its holder bind roles. The platform made its own roles of this name to create pull tokens only. */
  bindsAnyRole({ builtIn, name, capabilities }: GrantedRole): boolean {
    if (builtIn && name?.endsWith(".pull_token_creator") === true) return false;
    return capabilities?.some((capability) => this.effectOf(capability) === "binding") ?? true;
  }

  /** Whether a role lets its holder change roles and identities, or give itself a role that does. */
  mayAdminister(role: GrantedRole): boolean {
    const isTakeover = role.capabilities?.some((capability) => this.effectOf(capability) === "takeover");
    return isTakeover === true || this.bindsAnyRole(role);
  }

  readonly isOwner = isOwner;

  /** What a role holds that `viewer` does not; where `viewer` is not known, what does more than list what it lists. */
  capabilitiesBeyondViewer({ capabilities = [] }: GrantedRole): readonly string[] {
    const { viewer } = this;
    return capabilities.filter((capability) =>
      viewer
        ? !viewer.has(capability)
        : familyOf(capability).effect !== "reads" || !capability.endsWith("_LIST"),
    );
  }
}
