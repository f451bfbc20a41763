import type { ResourceSpec } from "../../fields/resourceSpec";
import type { Props } from "../../fields/values";
import type { RecordedResource } from "../documents/engineState";
import type { DifferenceKind } from "../review/finding";
import type { Direction, FieldEffect } from "../effects";

/** What a drift run could not compare, a line each. */
export class DriftNotes {
  /** Lines that make the run incomplete. */
  readonly incomplete = new Set<string>();
  /** Lines that only inform. */
  readonly unresolved = new Set<string>();
}

/** A resource that a state manages. */
export interface ManagedResource {
  readonly spec: ResourceSpec;
  readonly uid: string;
  readonly resource: RecordedResource;
  /** `project/stack` */
  readonly stack: string;
  /** The stack's own name. */
  readonly stackName: string;
}

/** A managed resource beside its live object; without `after` the object no longer exists. */
export interface ComparedResource {
  readonly managed: ManagedResource;
  /** The recorded arguments, and live values in place of what is not compared. */
  readonly before: Props;
  /** The live arguments in the program's terms. */
  readonly after?: Props;
}

/** One object that differs between the programs and the live organisation. */
export interface DetectedDifference {
  readonly kind: DifferenceKind;
  readonly spec: ResourceSpec;
  readonly uid: string;
  readonly name: string;
  readonly direction: Direction;
  readonly message: string;
  readonly advice?: string;
  readonly details: readonly string[];
  readonly fields: readonly FieldEffect[];
  /** The resource that the difference is about; for an object of several resources the first of them. */
  readonly managed?: ManagedResource;
  /** The arguments on both sides, where the object has them there. */
  readonly before?: Props;
  readonly after?: Props;
  /** RFC 3339: the time of the change, where the API has it. */
  readonly at?: string;
  readonly revert?: string;
  readonly adopt?: string;
}
