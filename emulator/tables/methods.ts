import type { FieldSpec, MessageType } from "../gateway/descriptor";
import { fieldMask, int32, int64, list, messageType, object, text } from "../gateway/descriptor";
import type { Method } from "../gateway/routes";
import { emptyMessage, uidpFilter } from "./common";
import type { KindTable, StandardMethod } from "./kindTable";

export const pageFields: Readonly<Record<string, FieldSpec>> = {
  pageSize: int32(),
  pageToken: text(),
  orderBy: text(),
  skip: int32(),
};

export const listFields: Readonly<Record<string, FieldSpec>> = { uidp: uidpFilter, ...pageFields };

/** Name of the field that holds one resource in requests. */
export function bodyField(table: KindTable): string {
  return table.kind.charAt(0).toLowerCase() + table.kind.slice(1);
}

export function pluralKind(table: KindTable): string {
  return table.collection.charAt(0).toUpperCase() + table.collection.slice(1);
}

/** What the methods of a kind have in common. */
interface MethodContext {
  readonly table: KindTable;
  readonly address: string;
  readonly body: string;
  readonly rpc: (name: string) => string;
  readonly request: (rpc: string, fields: Record<string, FieldSpec>) => MessageType;
}

function methodContext(table: KindTable): MethodContext {
  const { fullName } = table.message;
  const packageName = fullName.slice(0, fullName.lastIndexOf("."));
  return {
    table,
    address: `${table.prefix}/${table.collection}`,
    body: bodyField(table),
    rpc: (name) => `${table.service}/${name}`,
    request: (name, fields) => messageType(`${packageName}.${name}Request`, fields),
  };
}

function listMethod({ table, address, rpc, request }: MethodContext): Method {
  const { message } = table;
  const name = `List${pluralKind(table)}`;
  const packageName = message.fullName.slice(0, message.fullName.lastIndexOf("."));
  return {
    rpc: rpc(name),
    verb: "GET",
    pattern: address,
    request: request(name, {
      ...(table.isUnscoped ? pageFields : listFields),
      ...(table.hasNameFilter ? { name: text({ optional: true }) } : {}),
      ...table.filters,
    }),
    response: messageType(`${packageName}.${name}Response`, {
      [table.collection]: list(object(message)),
      nextPageToken: text(),
      totalCount: int64({ optional: !table.isAlwaysCounted }),
      skipped: int32(),
    }),
  };
}

function createMethod({ table: { kind, message }, address, body, rpc, request }: MethodContext): Method {
  return {
    rpc: rpc(`Create${kind}`),
    verb: "POST",
    pattern: `${address}/{parent=**}`,
    body,
    request: request(`Create${kind}`, { parent: text(), [body]: object(message) }),
    response: message,
  };
}

function updateMethod({ table: { kind, message }, address, body, rpc, request }: MethodContext): Method {
  return {
    rpc: rpc(`Update${kind}`),
    verb: "PATCH",
    pattern: `${address}/{${body}.uid=**}`,
    body,
    request: request(`Update${kind}`, { [body]: object(message), updateMask: fieldMask() }),
    response: message,
  };
}

/** The standard methods of a kind; the list is first because the path of the get also matches its address. */
export function standardMethods(table: KindTable): Method[] {
  const { kind, message } = table;
  const context = methodContext(table);
  const { address, rpc, request } = context;
  const pattern = `${address}/{uid=**}`;
  const all: Record<StandardMethod, Method> = {
    list: listMethod(context),
    get: {
      rpc: rpc(`Get${kind}`),
      verb: "GET",
      pattern,
      request: request(`Get${kind}`, { uid: text() }),
      response: message,
    },
    create: createMethod(context),
    update: updateMethod(context),
    delete: {
      rpc: rpc(`Delete${kind}`),
      verb: "DELETE",
      pattern,
      request: request(`Delete${kind}`, { uid: text() }),
      response: emptyMessage,
      hasEmptyResponse: true,
    },
  };
  return (Object.keys(all) as StandardMethod[])
    .filter((name) => table.methods.includes(name))
    .map((name) => ({ ...all[name], capabilities: listNeededCapabilities(table, name) }));
}

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
