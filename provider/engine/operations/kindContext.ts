import type { Client } from "../../api/client";
import type { Clock, Host, ResourceSpec } from "../description";
import { matchesPattern } from "../values/formats";
import { CreateRegistry } from "./create/createRegistry";
import { KeyedMutex } from "./keyedMutex";
import { createReader } from "./kindReader";
import type { KindReader } from "./kindReader";
import { explain } from "./messages";
import { OwnerRegistry } from "./ownerRegistry";

/** What the handlers of every kind share in one process. */
export interface HandlerContext extends Clock {
  readonly client: () => Client;
  /** Writes to one resource run one at a time, by its uid, whatever its kinds. */
  readonly mutex?: KeyedMutex;
  /** What the program of this run declares and owns. */
  readonly owners?: OwnerRegistry;
  /** What this process creates, of every kind. */
  readonly registry?: CreateRegistry;
  /** Prints one line; nothing is printed if not given. */
  readonly warn?: (line: string) => void;
}

/** What the operations of one kind share. */
export interface KindContext {
  readonly spec: ResourceSpec;
  readonly client: () => Client;
  readonly host: Host;
  readonly reader: KindReader;
  readonly mutex: KeyedMutex;
  readonly owners: OwnerRegistry;
  readonly registry: CreateRegistry;
}

export function createKindContext(spec: ResourceSpec, context: HandlerContext): KindContext {
  const owners = context.owners ?? new OwnerRegistry();
  const host: Host = {
    ...context,
    warn: (line) => context.warn?.(line),
    matchesPattern,
    isOwned: (kind, uid) => owners.isOwned(kind, uid),
    isDeclared: (key) => owners.isDeclared(key),
    explain: (what, error) => explain(spec, what, error, []),
  };
  return {
    spec,
    client: context.client,
    host,
    reader: createReader(spec, context.client, host),
    mutex: context.mutex ?? new KeyedMutex(),
    owners,
    registry: context.registry ?? new CreateRegistry(),
  };
}
