import type { Client, JsonObject } from "../../api/client";
import { isNotFound, printable } from "../../api/errors";
import type { Host, Props, ResourceSpec } from "../spec";
import { findSchemaMismatch } from "../schemaMismatch";
import { parentUidOf, readBody } from "../wire";
import { handlerError } from "../messages";

type SharedRead = ResourceSpec["readsByList"];

/** Reads the objects of one kind. */
export interface KindReader {
  readonly spec: ResourceSpec;
  readonly client: () => Client;
  /** The object with this uid; undefined where it does not exist. With `shared`, one request may read several. */
  readonly find: (uid: string, inputs: Props, shared?: SharedRead) => Promise<JsonObject | undefined>;
  /** The object with this uid. @throws HandlerError where it does not exist */
  readonly get: (uid: string, inputs: Props) => Promise<JsonObject>;
  /** The inputs that a response holds. @throws HandlerError where it does not have the form of the kind */
  readonly parseInputs: (response: JsonObject, uid: string) => Props;
}

/** The inputs that a response holds; the uid names the parent. */
export function parseLiveInputs(spec: ResourceSpec, response: Props, uid: string): Props {
  const live = readBody(spec, response, uid);
  const parent = parentUidOf(spec, uid);
  return "parentUid" in spec.fields && parent !== undefined ? { parentUid: parent, ...live } : live;
}

export function createReader(spec: ResourceSpec, client: () => Client, host: Host): KindReader {
  const send = (uid: string, inputs: Props, shared?: SharedRead): Promise<JsonObject | undefined> => {
    const { collection, operations } = spec;
    if (operations?.get) return operations.get(client(), uid, inputs, host);
    if (shared) return client().readShared(collection, uid, shared.query);
    return client().getResource(collection, uid);
  };
  const find: KindReader["find"] = async (uid, inputs, shared) => {
    const response = await send(uid, inputs, shared).catch((error: unknown) => {
      if (isNotFound(error)) return undefined;
      throw error;
    });
    if (response !== undefined && response["uid"] !== uid) {
      throw handlerError(`the answer is not about ${uid}; is platform:baseUrl right?`);
    }
    return response;
  };
  return {
    spec,
    client,
    find,
    get: async (uid, inputs) => {
      const response = await find(uid, inputs);
      if (response === undefined) throw handlerError(`${spec.noun} ${uid} is gone`);
      return response;
    },
    parseInputs: (response, uid) => {
      const mismatch = findSchemaMismatch(spec, response as Props, uid);
      if (mismatch !== undefined) {
        throw handlerError(
          `the answer is not about a ${spec.noun}: ${printable(mismatch, 100)}; is platform:baseUrl right?`,
        );
      }
      return parseLiveInputs(spec, response as Props, uid);
    },
  };
}
