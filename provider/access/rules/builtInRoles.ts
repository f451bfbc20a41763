import { isTopUid } from "../../text/uid";
import type { GrantedRole } from "../graph/grant";
import type { Entity } from "../graph/model";
import { readRoleCapabilities } from "../graph/roleCapabilities";
import type { Comparison } from "../review/comparison";
import { ownerCapabilities } from "./capabilities";

/** Whether a resource is one of the platform's own roles. */
export function isBuiltInRole(entity: Entity): boolean {
  return entity.kind === "Role" && (entity.builtIn === true || isTopUid(entity.uid));
}

/** The capabilities of a built-in role, as this organisation has it; undefined where no document holds them. */
function findCapabilities(
  { after, before, inventory }: Comparison,
  name: string,
): readonly string[] | undefined {
  for (const graph of [after, before]) {
    for (const entity of graph.entities.values()) {
      // A program may claim of any role that it is this one.
      if (entity.kind !== "Role" || entity.name !== name || !isTopUid(entity.uid) || entity.assumed) continue;
      const capabilities = readRoleCapabilities(entity);
      if (capabilities) return capabilities;
    }
  }
  const live = inventory?.objects.find(
    ({ kind, uid, inputs }) => kind === "Role" && inputs["name"] === name && isTopUid(uid),
  );
  return live && readRoleCapabilities(live);
}

/** Compares roles with the built-in roles `owner` and `viewer` of one organisation. */
export class BuiltInRoles {
  private readonly owner: readonly string[];
  private readonly viewer: ReadonlySet<string> | undefined;

  constructor(comparison: Comparison) {
    this.owner = ownerCapabilities(findCapabilities(comparison, "owner"));
    const viewer = findCapabilities(comparison, "viewer");
    this.viewer = viewer === undefined ? undefined : new Set(viewer);
  }

  /** Whether a role is `owner`, or holds every capability that makes an owner of IAM. */
  isOwner(role: GrantedRole): boolean {
    if (role.builtIn && role.name === "owner") return true;
    const capabilities = new Set(role.capabilities);
    return capabilities.size > 0 && this.owner.every((capability) => capabilities.has(capability));
  }

  /** What a role holds that `viewer` does not; where `viewer` is not known, what does more than list. */
  capabilitiesBeyondViewer({ capabilities = [] }: GrantedRole): readonly string[] {
    const { viewer } = this;
    return capabilities.filter((capability) =>
      viewer ? !viewer.has(capability) : !capability.endsWith("_LIST"),
    );
  }
}
