import type { Props } from "../../engine/spec";
import type { FieldEffect } from "../effects";
import type { Inventory } from "../documents/inventory";
import type { Languages } from "../trust/languages";
import type { Grant, GrantChange, GroupNode, SourceLocation } from "../report/report";
import type { UnreadValue } from "./unread";

/** A reference that is not known yet, and the resource that it is taken to name. */
export interface Assumption {
  readonly path: string;
  readonly property: string;
  /** Of the resource. */
  readonly key: string;
}

/**
 * A resource of one of our kinds: as a program declares it, as a state records it, or as the server
 * holds it.
 */
export interface Entity {
  /** The uid where it is known, else the urn. One resource has one key before and after a change. */
  readonly key: string;
  readonly kind: string;
  readonly uid?: string;
  readonly urn?: string;
  readonly name?: string;
  /**
   * The arguments. A reference to a resource that is not made yet holds its key. What was not read holds a value that
   * equals no other (unread.ts), and is named in `unread`. A secret by its nature holds "[secret]".
   */
  readonly inputs: Props;
  /** Paths of what is not known yet, and of what decides access and is not shown. */
  readonly unresolved: readonly string[];
  readonly unread?: readonly UnreadValue[];
  /** References that are taken to be the id of the one resource that they depend on. */
  readonly assumptions?: readonly Assumption[];
  /** Read with `.get`, or taken over, with no inventory that confirms it: what is said of it is the program's word. */
  readonly assumed?: true;
  readonly secretPaths: readonly string[];
  /** Secret properties that the document held in plain text. Their value is nowhere here. */
  readonly plaintextSecrets?: readonly string[];
  readonly location?: SourceLocation;
  /** The platform's own role. */
  readonly builtIn?: true;
  /** In no stack, or read with `.get`: not the program's to change. */
  readonly external?: true;
  readonly protect?: true;
  /** From the inventory: RFC 3339. */
  readonly lastSeenTime?: string;
  /** From the inventory: what the server alone says. */
  readonly details?: Props;
}

/** Everything that exists at one time, and what it grants. */
export interface AccessGraph {
  readonly entities: ReadonlyMap<string, Entity>;
  readonly grants: readonly Grant[];
}

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
  readonly fields: readonly FieldEffect[];
  /** What was there before stays at the server, deleted or replaced by the program as it may be. */
  readonly isLeftOnServer?: true;
  /** It stays since the server refuses to delete it: something that stays refers to it. */
  readonly isRefused?: true;
  /** Why nothing can be said of what it does; such a change has no entities. */
  readonly notReviewed?: string;
  readonly location?: SourceLocation;
  /** Properties that are secret on both sides, so that a change cannot be seen. */
  readonly secretsMayHaveChanged: readonly string[];
}

/** Two graphs and what lies between them. */
export interface Comparison {
  readonly stack?: string;
  readonly before: AccessGraph;
  readonly after: AccessGraph;
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
  /** Set where the change has happened already: both sides are facts. `isWhole`: everything that exists was compared. */
  readonly drift?: { readonly isWhole: boolean };
}
