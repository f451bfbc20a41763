import type { FieldSpec, MessageType } from "../gateway/fields";
import { bool, fieldMask, int32, int64, list, messageType, object, text } from "../gateway/fields";
import type { Method } from "../gateway/routes";
import { createResource, deleteResource, updateResource } from "../service/writes";
import { emptyMessage } from "./common";
import type { KindTable, StandardMethod } from "./kindTable";
import { bodyField } from "./kindTable";

export const pageFields: Readonly<Record<string, FieldSpec>> = {
  pageSize: int32(),
  pageToken: text(),
  orderBy: text(),
  skip: int32(),
};

/** The scope filter of lists. */
const uidpFilter = object({
  ancestorsOf: text(),
  descendantsOf: text(),
  childrenOf: text(),
  inRoot: bool(),
  ids: list(text()),
});

/** A page of a list. Its total may be missing, unless it is always counted. */
export function pageOf(collection: string, message: MessageType, isAlwaysCounted = false): MessageType {
  return messageType({
    [collection]: list(object(message)),
    nextPageToken: text(),
    totalCount: int64({ optional: !isAlwaysCounted }),
    skipped: int32(),
  });
}

/** The standard methods of a kind; the list is first because the path of the get also matches its address. */
export function standardMethods(table: KindTable): Method[] {
  const { kind, message, collection } = table;
  const { address, suffix } = table.partOf ?? { address: `${table.prefix}/${collection}`, suffix: "" };
  const [, domain = "", version = "", resources = ""] = address.split("/");
  const service = `${domain}.${version}.${capitalise(resources)}Service`;
  const body = bodyField(table);
  const all: Record<StandardMethod, Method> = {
    list: {
      rpc: `${service}/List${capitalise(collection)}`,
      verb: "GET",
      pattern: address,
      request: messageType({
        ...(table.isUnscoped ? {} : { uidp: uidpFilter }),
        ...pageFields,
        ...(table.hasNameFilter ? { name: text({ optional: true }) } : {}),
        ...table.filters,
      }),
      response: pageOf(collection, message, table.isAlwaysCounted),
      run: (call, platform) => ({ message: platform.list(kind, call.request, platform.visibleTo(call)) }),
    },
    get: {
      rpc: `${service}/Get${kind}`,
      verb: "GET",
      pattern: `${address}/{uid=**}${suffix}`,
      request: messageType({ uid: text() }),
      response: message,
      run: ({ request }, platform) => ({
        message: platform.toResponse(platform.requireEntry(kind, request.uid)),
      }),
    },
    create: {
      rpc: `${service}/Create${kind}`,
      verb: "POST",
      pattern: `${address}/{parent=**}`,
      body,
      request: messageType({ parent: text(), [body]: object(message) }),
      response: message,
      run: (call, platform) => createResource(platform, table, call),
    },
    update: {
      rpc: `${service}/Update${kind}`,
      verb: "PATCH",
      pattern: `${address}/{${body}.uid=**}${suffix}`,
      body,
      request: messageType({ [body]: object(message), updateMask: fieldMask() }),
      response: message,
      run: (call, platform) => updateResource(platform, table, call),
    },
    delete: {
      rpc: `${service}/Delete${kind}`,
      verb: "DELETE",
      pattern: `${address}/{uid=**}${suffix}`,
      request: messageType({ uid: text() }),
      response: emptyMessage,
      run: (call, platform) => deleteResource(platform, table, call),
    },
  };
  return (Object.keys(all) as StandardMethod[])
    .filter((name) => table.methods.includes(name))
    .map((name) => ({ ...all[name], capabilities: listNeededCapabilities(table, name) }));
}

const capitalise = (name: string): string => name.charAt(0).toUpperCase() + name.slice(1);

const capabilitySuffix: Readonly<Record<StandardMethod, string>> = {
  list: "LIST",
  get: "LIST",
  create: "CREATE",
  update: "UPDATE",
  delete: "DELETE",
};

function listNeededCapabilities(
  { capabilities, furtherCapabilities }: KindTable,
  method: StandardMethod,
): readonly string[] {
  if (capabilities === undefined) return [];
  return [`${capabilities}_${capabilitySuffix[method]}`, ...(furtherCapabilities?.[method] ?? [])];
}
