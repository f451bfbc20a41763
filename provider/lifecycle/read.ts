import type { Client, JsonObject } from "../http/client";
import { isNotFound } from "../http/errors";
import { printable } from "../text/printable";
import { isUid, lineage } from "../text/uid";
import { markRefreshed } from "../fields/refreshed";
import type { ReadingApi, ResourceSpec } from "../fields/resourceSpec";
import { getOrCompute, PROVIDER_TEXT } from "../fields/values";
import type { Props } from "../fields/values";
import { findSchemaMismatch, parentUidOf, readBody, readOutputs } from "../fields/wire";
import { mergeLive } from "../fields/mergeLive";
import { explainFailure, HandlerError, labelResource } from "./messages";

const GROUPS = "/iam/v2/groups";

const organisations = new WeakMap<Client, Map<string, Promise<boolean>>>();

/** Whether the token sees a group of an organisation: asked once by each process. Where no answer says so, it may. */
function showsOrganisation(client: Client, root: string): Promise<boolean> {
  const known = getOrCompute(organisations, client, () => new Map());
  const ask = async (): Promise<boolean> => {
    try {
      for (const parameter of ["uidp.ids", "uidp.descendants_of"]) {
        const groups = client.list(GROUPS, { [parameter]: root }, { pageSize: 1 });
        if ((await groups.next()).done !== true) return true;
      }
      return false;
    } catch {
      return true;
    }
  };
  return getOrCompute(known, root, ask);
}

/**
 * Refuses to take an object for deleted where the server shows nothing of its organisation: that is another server, and the
 * object is still there.
 * @param what failed: `deleting group "team" <uid>`
 * @throws HandlerError
 */
async function requireOrganisation(client: Client, uid: string, what: string): Promise<void> {
  const [root = uid] = lineage(uid);
  if (root === uid || !isUid(uid) || (await showsOrganisation(client, root))) return;
  throw new HandlerError(
    "PP3408",
    `${what}: the API shows no group of the organisation ${root}, so nothing of it is taken for deleted; ${client.addressAdvice}, and the token. If the organisation is gone, remove what the stack records: pulumi state delete --all, or pulumi stack rm --force`,
  );
}

/** A resource as the server returned it; `id` is absent if it does not exist. */
export interface ReadResult {
  readonly id?: string;
  readonly props?: Props;
  readonly inputs?: Props;
}

/** Reads a resource for a refresh, an import or a `.get`. `olds` are its recorded properties; only a refresh has any. */
export async function readResource(reader: KindReader, id: string, olds: Props): Promise<ReadResult> {
  const { spec, find, parseInputs } = reader;
  const what = `reading ${labelResource(spec, olds)} ${id}`;
  const response = await explainFailure(spec, what, () =>
    find(id, olds, { mayShare: spec.listing?.contents === "complete" }),
  );
  if (response === undefined) {
    // A refresh records that it is gone. The engine would give a program that asks for it a resource without outputs.
    const isRecorded = Object.keys(olds).some((key) => key !== PROVIDER_TEXT);
    if (isRecorded) {
      await reader.requireOrganisation(id, what);
      return {};
    }
    throw new HandlerError(
      "PP3405",
      `reading ${spec.noun} ${printable(id, 100)}: the token may see no ${spec.noun} with this uid; correct the uid`,
    );
  }
  const { inputs, outs } = mergeLive(spec, olds, parseInputs(response, id));
  const outputs = readOutputs(spec, response as Props, id, olds);
  return { id, props: { ...outs, ...outputs, ...markRefreshed(spec, olds, inputs) }, inputs };
}

/** Reads the objects of one kind. */
export interface KindReader {
  readonly spec: ResourceSpec;
  /** The object with this uid; undefined where it does not exist. With `mayShare`, one request may read several. */
  readonly find: (
    uid: string,
    inputs: Props,
    options?: { readonly mayShare: boolean },
  ) => Promise<JsonObject | undefined>;
  /** The object with this uid. @throws HandlerError where it does not exist */
  readonly get: (uid: string, inputs: Props) => Promise<JsonObject>;
  /** Refuses to take an object for deleted at another server: see the function of this name. @throws HandlerError */
  readonly requireOrganisation: (uid: string, what: string) => Promise<void>;
  /**
   * The inputs in a response.
   * @throws HandlerError if it does not have the form of the kind
   */
  readonly parseInputs: (response: JsonObject, uid: string) => Props;
}

/** The inputs in a response; the uid contains the parent's uid. */
export function parseLiveInputs(spec: ResourceSpec, response: Props, uid: string): Props {
  const live = readBody(spec, response, uid);
  const parent = parentUidOf(spec, uid);
  return "parentUid" in spec.fields && parent !== undefined ? { parentUid: parent, ...live } : live;
}

/** What the server has of an object; undefined where it does not exist. `get` sends a GET, where the kind has no read of its own. */
export async function findObject(
  spec: ResourceSpec,
  api: ReadingApi,
  uid: string,
  inputs: Props,
  get = () => api.get(api.resourcePath(spec.collection, uid)),
): Promise<JsonObject | undefined> {
  const { get: ownGet, normalizeRead } = spec.operations ?? {};
  try {
    if (ownGet) return await ownGet(api, uid, inputs);
    const response = await get();
    return normalizeRead ? normalizeRead(response) : response;
  } catch (error) {
    if (isNotFound(error)) return undefined;
    throw error;
  }
}

export function createReader(spec: ResourceSpec, client: () => Client): KindReader {
  const find: KindReader["find"] = async (uid, inputs, { mayShare } = { mayShare: false }) => {
    const readShared = () => client().readShared(spec.collection, uid, spec.listing?.query);
    const response = await findObject(spec, client(), uid, inputs, mayShare ? readShared : undefined);
    if (response !== undefined && response["uid"] !== uid) {
      throw new HandlerError("PP4008", `the response is not about ${uid}; ${client().addressAdvice}`);
    }
    return response;
  };
  return {
    spec,
    find,
    get: async (uid, inputs) => {
      const response = await find(uid, inputs);
      if (response !== undefined) return response;
      throw new HandlerError(
        "PP3405",
        `${spec.noun} ${uid} is gone: run pulumi up --refresh, which creates it again`,
      );
    },
    requireOrganisation: (uid, what) => requireOrganisation(client(), uid, what),
    parseInputs: (response, uid) => {
      const mismatch = findSchemaMismatch(spec, response as Props, uid);
      if (mismatch !== undefined) {
        throw new HandlerError(
          "PP4008",
          `the response is not a ${spec.noun}: ${printable(mismatch, 100)}; ${client().addressAdvice}`,
        );
      }
      return parseLiveInputs(spec, response as Props, uid);
    },
  };
}
