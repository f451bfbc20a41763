import type { Props } from "../../engine/description";
import type { Grant } from "./grant";
import type { SourceLocation } from "../documents/sourceLocation";
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

export type Entities = ReadonlyMap<string, Entity>;
