import { isUid } from "../../text/uid";
import type { RecordedResource } from "../documents/engineState";
import { declaredOf, entityKey } from "./entities";
import type { LiveObjects } from "./liveObjects";
import type { ResourcePlan } from "./resourcePlan";

/** A resource of a kind of this package. */
export type RecordedOfKind = RecordedResource & { readonly kind: string };

export const isManagedKind = (resource: RecordedResource | undefined): resource is RecordedOfKind =>
  resource?.kind !== undefined;

/** The uid of a resource; undefined of a new one, and of an id that no server of the API assigns. */
export const recordedUid = (resource: RecordedResource | undefined): string | undefined =>
  isUid(resource?.id) ? resource.id : undefined;

/** The uid after the change; undefined where the change creates the resource. */
export function uidAfter({ op, before, after }: ResourcePlan): string | undefined {
  if (op === "create" || op === "replace") return undefined;
  if (op === "import") return isUid(after?.importId) ? after.importId : recordedUid(after);
  return recordedUid(before) ?? recordedUid(after);
}

/** The key of each planned resource: one before and after the change. */
export class PlanKeys {
  private readonly keys = new Map<string, string>();

  constructor(private readonly live: LiveObjects) {}

  /** Whether the uid that a stack records is that of an object of another kind: it then identifies nothing. */
  isOfOtherKind(plan: ResourcePlan): boolean {
    const { before, after } = plan;
    const uid = recordedUid(before) ?? uidAfter(plan);
    const kind = (before ?? after)?.kind;
    return uid !== undefined && kind !== undefined && this.live.isOfOtherKind(kind, uid);
  }

  /** The uid before the change. */
  uidOf(plan: ResourcePlan): string | undefined {
    return this.isOfOtherKind(plan) ? undefined : recordedUid(plan.before);
  }

  of(plan: ResourcePlan): string {
    const known = this.keys.get(plan.urn);
    if (known !== undefined) return known;
    const resource = plan.before ?? plan.after;
    const uid = recordedUid(plan.before) ?? uidAfter(plan);
    const parent = resource === undefined ? undefined : declaredOf(resource)["parentUid"];
    const key =
      uid === undefined || this.isOfOtherKind(plan) ? plan.urn : entityKey(resource?.kind ?? "", uid, parent);
    this.keys.set(plan.urn, key);
    return key;
  }
}
