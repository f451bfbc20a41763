import type { Props } from "../../fields/values";
import type { Grant } from "./grant";
import type { GrantIndex } from "./grantIndex";
import type { GroupHierarchy } from "./groupHierarchy";
import type { SourceLocation } from "../documents/engineState";
import type { UnreadValue } from "./unread";

/** A reference that is not known yet, and the resource that it is taken to name. */
export interface Assumption {
  readonly path: string;
  readonly property: string;
  /** Of the resource. */
  readonly key: string;
}

/** References that were not read: each is the id of one of some resources. */
export interface Candidates {
  readonly paths: readonly string[];
  /** Of the resources. */
  readonly keys: readonly string[];
}

/** A value that decides access, was readable before the change, and is secret after it. `inputs` has it as it was. */
export interface ConcealedValue {
  readonly path: string;
  /** The top-level property. */
  readonly property: string;
  /** The engine has compared it with the value before, and found them equal. */
  readonly isUnchanged: boolean;
}

/** A resource of a kind of this package: as a program declares it, a state records it, or the server returns it. */
export interface Entity {
  /** The uid where it is known, else the urn. One resource has one key before and after a change. */
  readonly key: string;
  readonly kind: string;
  readonly uid?: string;
  readonly urn?: string;
  readonly name?: string;
  /** The name that the server has, where nobody can read the one that the change gives. */
  readonly formerName?: string;
  /**
   * The arguments. A reference to a resource that does not exist yet is its key, and a value that was not read is a
   * placeholder (unread.ts) named in `unread`. What is secret by its kind is "[secret]".
   */
  readonly inputs: Props;
  readonly unread?: readonly UnreadValue[];
  readonly concealed?: readonly ConcealedValue[];
  /** References that are taken to be the id of the one resource that they depend on. */
  readonly assumptions?: readonly Assumption[];
  /** What the references that were not read can name. */
  readonly candidates?: readonly Candidates[];
  /** By property: the keys of the resources that its value comes from and that have a secret. */
  readonly secretSources?: Readonly<Record<string, readonly string[]>>;
  /** Only the program describes it: it is read with `.get` or adopted, and is in no inventory. */
  readonly claimed?: true;
  readonly secretPaths: readonly string[];
  /** Secret properties that the document contained in plain text. Their values are not kept. */
  readonly plaintextSecrets?: readonly string[];
  readonly location?: SourceLocation;
  /** The platform's own role. */
  readonly builtIn?: true;
  /** In no stack, or read with `.get`: not the program's to change. */
  readonly external?: true;
  readonly protect?: true;
  /** From the inventory: RFC 3339. */
  readonly lastSeenTime?: string;
  /** From the inventory, where the API tells when an object of the kind was last written: RFC 3339. */
  readonly updateTime?: string;
  /** What only the server sets, from the inventory, else from the state. */
  readonly details?: Props;
}

/** Everything that exists at one time, and what it grants. `graphOf` makes one: other grants have another index. */
export interface AccessGraph {
  readonly entities: ReadonlyMap<string, Entity>;
  readonly grants: readonly Grant[];
  /** The places of its groups. */
  readonly hierarchy: GroupHierarchy;
  /** Its grants, by what they are about. */
  readonly index: GrantIndex;
}

export type Entities = ReadonlyMap<string, Entity>;
