import type { Inventory } from "../documents/inventory";
import type { SourceLocation } from "../documents/sourceLocation";
import type { FieldEffect } from "../effects";
import type { GrantChange, GroupNode } from "../graph/grant";
import type { Entity, AccessGraph } from "../graph/model";
import type { Languages } from "../trust/languages";

/** What happens to one resource. */
export interface ResourceChange {
  readonly op: "create" | "update" | "replace" | "delete" | "same" | "read";
  /** The registry key; the type token of a resource that is not of this package, which has no entities. */
  readonly kind: string;
  readonly urn?: string;
  /** Absent for a create. */
  readonly before?: Entity;
  /** Absent for a delete. */
  readonly after?: Entity;
  /** What the stack records of what it manages, where `before` is of the server. */
  readonly recorded?: Entity;
  /** What the program declares of what it manages, where `after` is of the server. */
  readonly planned?: Entity;
  readonly fields: readonly FieldEffect[];
  /** What the change adds to `ignoreChanges`: paths. */
  readonly newlyIgnored?: readonly string[];
  /** What was there before stays at the server, deleted or replaced by the program as it may be. */
  readonly isLeftOnServer?: true;
  /** It stays since the server refuses to delete it: something that stays refers to it. */
  readonly isRefused?: true;
  /** No inventory lists it: what was there before is what the stack records, and may differ from the server. */
  readonly isRecordOnly?: true;
  /** The stack records it, and the server does not have it: it was deleted otherwise. */
  readonly isMissing?: true;
  /** The uid that the stack records is that of an object of another kind. */
  readonly isOfOtherKind?: true;
  /** The update changes only what the stack records: it sends nothing to the server. */
  readonly sendsNothing?: true;
  /** Why nothing can be said of what it does; such a change has no entities. */
  readonly notReviewed?: string;
  /** The version of its package, where it is known. */
  readonly packageVersion?: string | undefined;
  /** Of what is not reviewed: a digest of its inputs. */
  readonly inputsDigest?: string | undefined;
  readonly location?: SourceLocation;
  /** Properties that are secret on both sides, so that a change cannot be seen. */
  readonly secretsMayHaveChanged: readonly string[];
}

/** The same change compared with what the stack records, where that differs from the server and the change keeps the server's. */
export interface ComparisonAsRecorded {
  readonly comparison: Comparison;
  readonly kept: readonly KeptChange[];
  /** The stack managed nothing before: what it takes over may be a whole organisation. */
  readonly isFirstImport: boolean;
}

/** A change, and what was done to its object by hand that the program takes over. */
export interface KeptChange {
  readonly change: ResourceChange;
  /** The object as the stack records it, where somebody deleted it. */
  readonly lost?: Entity;
  /** From what the stack records to what the server has; empty of an object that no stack managed. */
  readonly fields: readonly FieldEffect[];
}

/** Two graphs and what lies between them. */
export interface Comparison {
  /** SHA-256 of what the preview shows of the stack before the change: see `digestRecord`. Absent where there is no preview. */
  readonly record?: string;
  readonly stack?: string;
  readonly before: AccessGraph;
  readonly after: AccessGraph;
  /** All that is there at some time of the update; undefined where it only adds. */
  readonly meanwhile?: AccessGraph;
  readonly changes: readonly ResourceChange[];
  readonly grants: readonly GrantChange[];
  readonly unchanged: number;
  readonly groups: readonly GroupNode[];
  readonly unresolved: readonly string[];
  readonly complete: boolean;
  readonly incomplete: readonly string[];
  /** The live organisation, where it was given. */
  readonly inventory?: Inventory;
  /** What the patterns of the change were compared with: who asks more of them shares its budget. */
  readonly languages?: Languages;
  /**
   * What exists before the change, by uid, from states and the inventory alone: what a suppression may name.
   * Without it a suppression matches by uid only.
   */
  readonly recorded?: ReadonlyMap<string, Entity>;
  /** Set where the change makes official what was made by hand. */
  readonly asRecorded?: ComparisonAsRecorded;
  /** Set where the change has happened already: both sides are facts. `isWhole`: everything that exists was compared. */
  readonly drift?: { readonly isWhole: boolean };
}
