import { distinctLabels, labelByKey } from "../graph/groupHierarchy";
import { readRoleCapabilities } from "../graph/roleCapabilities";
import type { Entities } from "../graph/model";
import type { Languages } from "../trust/languages";

/** What is known of the resources that a value refers to, before a change or after it. */
export interface EffectSide {
  /** What to call a resource, by its uid or its key. */
  readonly findName: (key: string) => string;
  /** The capabilities of a role; undefined if they are unknown. */
  readonly findCapabilities: (role: string) => readonly string[] | undefined;
}

/** What `describeEffects` needs besides the two sets of arguments. */
export interface EffectContext {
  readonly before: EffectSide;
  readonly after: EffectSide;
  /** Compares patterns. All questions of one run share its budget. */
  readonly languages: Languages;
  /** Paths of values that a state records as secrets (`staticKeys.issuerKeys`): no text shows them. */
  readonly secretPaths?: readonly string[];
}

/** Looks up names and capabilities of the referenced resources in entities. */
export function createEffectSide(entities: Entities): EffectSide {
  let labels: ReadonlyMap<string, string> | undefined;
  return {
    findName: (key) => (labels ??= distinctLabels(entities)).get(key) ?? labelByKey(entities, key),
    findCapabilities: (role) => readRoleCapabilities(entities.get(role)),
  };
}
