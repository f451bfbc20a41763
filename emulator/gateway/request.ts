import type { Field, ItemType, Message, MessageType, Value } from "./fields";
import { hasPresence, isZero } from "./fields";
import type { Call } from "./gateway";
import type { Json } from "./json";
import { isJsonObject, readBody, repeated } from "./json";
import type { Match, Method } from "./routes";
import { badRequest, Code, StatusError } from "./status";

/** The largest message between gateway and services in either direction. */
export const maxMessageBytes = 4 * 1024 * 1024;

/** The parts of a request that make a call. */
export interface CallSource {
  readonly match: Match;
  readonly rawQuery: string;
  readonly body: Buffer;
  /** The body is a form, whose fields are further query parameters. */
  readonly isForm: boolean;
  readonly ignoreMask: boolean;
}

type Mask = Pick<Call, "updateMask" | "maskSource">;

/** Decodes body, query and path into the request message and its field mask. @throws StatusError */
export function readCall(source: CallSource): Omit<Call, "authorization"> {
  const { method, values } = source.match;
  const message: Message = {};
  const maskField = method.request.fields.find((field) => field.type.kind === "fieldMask");
  const inferred = readBodyInto(message, method, source.body, maskField);
  const mask = readQueryInto(message, source, maskField, inferred);
  if (maskField) message[maskField.name] = undefined;
  for (const { path, value } of values) setPath(message, path, value);
  if (source.body.length > maxMessageBytes) checkSize(message);
  return { method, request: message, ...mask };
}

function setPath(message: Message, [first = "", ...remaining]: readonly string[], value: string): void {
  if (remaining.length > 0) setPath((message[first] ??= {}) as Message, remaining, value);
  else if (value === "") message[first] = undefined;
  else message[first] = value;
}

/** Measures a message as JSON without empty fields. @throws StatusError code 8 above the limit. */
export function checkSize(message: Message): void {
  const size = Buffer.byteLength(JSON.stringify(message));
  if (size > maxMessageBytes) {
    throw new StatusError(
      Code.resourceExhausted,
      `grpc: received message larger than max (${size} vs. ${maxMessageBytes})`,
    );
  }
}

export function invalidUtf8(): StatusError {
  return new StatusError(Code.internal, "grpc: error while marshaling: string field contains invalid UTF-8");
}

// The body.

function readBodyInto(message: Message, method: Method, body: Buffer, maskField: Field | undefined): Mask {
  if (method.body === undefined) return { updateMask: undefined, maskSource: "inferred" };
  const json = readBody(body);
  const field = method.body === "*" ? undefined : method.request.byName.get(method.body);
  const type = field ? requireMessageType(field) : method.request;
  const decoded = json === undefined ? {} : decodeMessage(json, type);
  if (field) {
    message[field.name] = decoded;
    const updateMask = maskField && (json === undefined ? [] : inferMask(json, type));
    return { updateMask, maskSource: "inferred" };
  }
  Object.assign(message, decoded);
  const updateMask = maskField && (message[maskField.name] as string[] | undefined);
  return { updateMask, maskSource: updateMask ? "body" : "inferred" };
}

function requireMessageType({ name, type }: Field): MessageType {
  if (type.kind !== "message") throw new Error(`${name} is not a message`);
  return type;
}

/**
 * Decodes a message as the gateway does: unknown fields and unknown enum names are dropped, `null` is unset, any other
 * value of the wrong type is refused.
 *
 * @throws StatusError code 3
 */
export function decodeMessage(json: Json, type: MessageType): Message {
  if (!isJsonObject(json)) throw badRequest("syntax error: an object is expected");
  const message: Message = {};
  const given = new Set<Field | string>();
  const take = (what: Field | string, problem: string): void => {
    if (given.has(what)) throw badRequest(problem);
    given.add(what);
  };
  for (const [key, value] of Object.entries(json)) {
    const field = type.byName.get(key);
    if (!field) continue;
    if (value === repeated) throw badRequest(`duplicate field "${key}"`);
    take(field, `duplicate field "${key}"`);
    if (value === null) continue;
    if (field.oneof !== undefined) take(field.oneof, `oneof ${field.oneof} is already set before "${key}"`);
    const decoded = decodeField(value, field);
    if (decoded !== null && !isDefault(decoded, field)) message[field.name] = decoded;
  }
  return message;
}

/** Null for an unknown enum name. */
function decodeField(json: Json, { name, type }: Field): Value | null {
  if (type.kind === "list") {
    if (!Array.isArray(json)) throw badRequest(`syntax error: field ${name} is a list`);
    return json.map((item) => decodeItem(item, type.item, name)).filter((item) => item !== null);
  }
  if (type.kind === "map") {
    if (!isJsonObject(json)) throw badRequest(`syntax error: field ${name} is a map`);
    // Without prototype, so that a key such as `__proto__` is a key like any other.
    const entries = Object.create(null) as Message;
    for (const [key, item] of Object.entries(json)) {
      const decodedKey = type.key.fromJson(key);
      if (typeof decodedKey !== "string")
        throw badRequest(`invalid value for ${type.key.kind} key: "${key}"`);
      if (item === repeated || decodedKey in entries) throw badRequest(`duplicate map key "${key}"`);
      const value = decodeItem(item, type.item, name);
      if (value !== null) entries[decodedKey] = value;
    }
    return entries;
  }
  return decodeItem(json, type, name);
}

function decodeItem(json: Json, type: ItemType, name: string): Value | null {
  if (type.kind === "message") return decodeMessage(json, type);
  const value = type.fromJson(json);
  if (value === undefined) throw badRequest(`invalid value for ${type.kind} field ${name}`);
  return value;
}

/** Zero values of fields without presence are the same as nothing. */
function isDefault(value: Value, field: Field): boolean {
  return !hasPresence(field) && isZero(value, field.type);
}

/**
 * The field mask that the gateway infers from a PATCH body: every key that is present,
 * as sorted snake_case paths. Lists, maps and empty objects are one path; `{}` as a whole is the path "".
 *
 * @throws StatusError code 3 that names an unknown field.
 */
function inferMask(body: Json, type: MessageType): string[] {
  const paths: string[] = [];
  const collect = (json: Json, within: MessageType | undefined, path: string): void => {
    if (!isJsonObject(json) || Object.keys(json).length === 0) {
      paths.push(path);
      return;
    }
    for (const [key, value] of Object.entries(json)) {
      const field = within?.byName.get(key);
      if (!field) throw badRequest(`could not find field "${key}"`);
      const child = path === "" ? field.snake : `${path}.${field.snake}`;
      if (field.type.kind === "list" || field.type.kind === "map") paths.push(child);
      else collect(value, field.type.kind === "message" ? field.type : undefined, child);
    }
  };
  collect(body, type, "");
  return paths.sort();
}

// The query.

/**
 * Reads the query parameters into the message, and returns the mask that applies. A mask in the query replaces the
 * inferred one; its items, as `updateMask.paths`, are added to it.
 */
function readQueryInto(
  message: Message,
  { match, rawQuery, isForm, body, ignoreMask }: CallSource,
  maskField: Field | undefined,
  mask: Mask,
): Mask {
  const { method, values } = match;
  if (method.body === "*") return mask;
  const bound = new Set(values.map(({ path }) => path[0] ?? ""));
  if (method.body !== undefined) bound.add(method.body);
  const text = isForm ? body.toString("utf8") : "";
  // The gateway reads a form body as further parameters and ignores JSON in it.
  const pairs = [...parseQuery(/^\s*[{[]/.test(text) ? "" : text), ...parseQuery(rawQuery)];
  const query = new QueryReader();
  for (const [key, given] of groupByKey(pairs)) {
    const path = key.split(".");
    const name = method.request.byName.get(path[0] ?? "")?.name;
    // What the path or the body gives is out of reach of parameters.
    if (name !== undefined && !bound.has(name)) query.write(path, given, message, method.request);
  }
  if (query.hasInvalidUtf8) throw invalidUtf8();
  if (!query.mask || !maskField || ignoreMask) return mask;
  const { replacesInferred, paths } = query.mask;
  return {
    updateMask: replacesInferred ? paths : [...(mask.updateMask ?? []), ...paths],
    maskSource: "query",
  };
}

/** A decoded value; undefined where its bytes are not UTF-8. */
type QueryText = string | undefined;

/** Parses a query string into decoded pairs. @throws StatusError code 3 for `;` and for bad escapes. */
function parseQuery(raw: string): [key: QueryText, value: QueryText][] {
  if (raw.includes(";")) throw badRequest("invalid semicolon separator in query");
  if (hasBadEscape(raw)) throw badRequest("invalid URL escape in query");
  return raw
    .split("&")
    .filter((part) => part !== "")
    .map((part) => {
      const [key = "", ...value] = part.replaceAll("+", " ").split("=");
      return [decodePercent(key), decodePercent(value.join("="))];
    });
}

/** The path and the query of an address, still encoded. */
export function splitTarget(target: string): [path: string, query: string] {
  const [path = "", ...query] = target.split("?");
  return [path, query.join("?")];
}

/** Whether a part of an address has a percent sign without two hexadecimal digits. */
export function hasBadEscape(raw: string): boolean {
  return /%(?![0-9a-fA-F]{2})/.test(raw);
}

/** Percent-decodes a part of an address without bad escapes; undefined where its bytes are not UTF-8. */
export function decodePercent(raw: string): string | undefined {
  try {
    return decodeURIComponent(raw);
  } catch {
    return undefined;
  }
}

/** The values of each key. `ids[]=x` means `ids` with the text between the brackets as a first value. */
function groupByKey(pairs: readonly [key: QueryText, value: QueryText][]): [string, QueryText[]][] {
  const values = new Map<string, QueryText[]>();
  for (const [key, value] of pairs) {
    if (key !== undefined) values.set(key, [...(values.get(key) ?? []), value]);
  }
  return [...values].map(([key, given]) => {
    const [, name, first] = /^(.*)\[(.*)\]$/s.exec(key) ?? [];
    return name === undefined ? [key, given] : [name, [first, ...given]];
  });
}

/** Writes query parameters to a request. Keys are paths of field names in either spelling. */
class QueryReader {
  /** Paths of a field mask, and whether they replace the inferred ones or are added to them. */
  mask: { paths: string[]; replacesInferred: boolean } | undefined;
  /** A value that reached the message is not UTF-8. */
  hasInvalidUtf8 = false;
  private readonly given = new Set<Field>();

  /** Ignores an unknown name; the messages around it come to be all the same. @throws StatusError code 3 */
  write(
    [step = "", ...remaining]: readonly string[],
    values: readonly QueryText[],
    message: Message,
    type: MessageType,
  ): void {
    const field = type.byName.get(step);
    if (!field) return;
    if (remaining.length === 0) {
      this.writeField(field, this.readTexts(values), message);
    } else if (field.type.kind === "message") {
      this.write(remaining, values, (message[field.name] ??= {}) as Message, field.type);
    } else if (field.type.kind !== "fieldMask") {
      throw badRequest(`invalid path: "${step}" is not a message`);
    } else if (remaining[0] === "paths") {
      const { paths = [], replacesInferred = false } = this.mask ?? {};
      this.mask = { paths: [...paths, ...this.readTexts(values)], replacesInferred };
    }
  }

  private writeField(field: Field, values: readonly string[], message: Message): void {
    const { type, name, snake } = field;
    if (type.kind === "list") {
      const earlier = (message[name] ?? []) as Value[];
      message[name] = [...earlier, ...values.map((value) => parseItem(value, type.item, snake))];
      return;
    }
    // Both spellings of a field are one parameter given twice.
    if (this.given.has(field) || values.length > 1) throw badRequest(`too many values for field "${snake}"`);
    this.given.add(field);
    if (type.kind === "map") throw badRequest(`unsupported map field "${snake}"`);
    const [value = ""] = values;
    if (type.kind === "fieldMask") {
      this.mask = { paths: value.split(","), replacesInferred: true };
      return;
    }
    const parsed = parseItem(value, type, snake);
    if (!isDefault(parsed, field)) message[name] = parsed;
  }

  private readTexts(values: readonly QueryText[]): string[] {
    return values.map((value) => {
      this.hasInvalidUtf8 ||= value === undefined;
      return value ?? "\ufffd";
    });
  }
}

function parseItem(value: string, type: ItemType, name: string): Value {
  const parsed = type.kind === "message" ? undefined : type.fromQuery?.(value);
  if (parsed === undefined) throw badRequest(`parsing field "${name}": not a value of type ${type.kind}`);
  return parsed;
}
