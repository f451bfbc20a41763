import type { Field, ItemType, Message, MessageType, Value } from "./descriptor";
import { newMessage, clearField } from "./descriptor";
import { isDefault } from "./decode";
import { decodePercent } from "./percent";
import { canonicalTimestamp } from "./scalars";

export interface QueryPair {
  readonly key: string;
  readonly value: string;
  readonly hasInvalidUtf8: boolean;
}

export class QueryError extends Error {}

/** Parses a query string into decoded pairs. @throws QueryError for `;` and for bad escapes. */
export function parseQuery(raw: string): QueryPair[] {
  const pairs: QueryPair[] = [];
  for (const part of raw.split("&")) {
    if (part === "") continue;
    if (part.includes(";")) throw new QueryError("invalid semicolon separator in query");
    const cut = part.indexOf("=");
    const key = decodePercent(cut < 0 ? part : part.slice(0, cut), true);
    const value = decodePercent(cut < 0 ? "" : part.slice(cut + 1), true);
    for (const decoded of [key, value]) {
      if ("badEscape" in decoded) {
        throw new QueryError(`invalid URL escape ${JSON.stringify(decoded.badEscape)}`);
      }
    }
    if ("badEscape" in key || "badEscape" in value) continue;
    pairs.push({
      key: key.text,
      value: value.text,
      hasInvalidUtf8: key.hasInvalidUtf8 || value.hasInvalidUtf8,
    });
  }
  return pairs;
}

export interface QueryOutcome {
  /** A value that reached the message was not UTF-8. */
  readonly hasInvalidUtf8: boolean;
  /** Paths of a field mask, and whether they replace the inferred ones or are added to them. */
  readonly mask?: { readonly paths: readonly string[]; readonly replacesInferred: boolean };
}

/**
 * Adds query parameters to a request. Keys are paths of field names in either spelling.
 *
 * @param bound names of fields that the path or the body gives; parameters do not reach them.
 * @throws QueryError with the gateway's text.
 */
export function applyQuery(
  pairs: readonly QueryPair[],
  type: MessageType,
  target: Message,
  bound: ReadonlySet<string>,
): QueryOutcome {
  const writer = new QueryWriter(target);
  for (const parameter of gather(pairs)) {
    const found = resolve(parameter.key.split("."), type, bound);
    if (found !== undefined) writer.write(parameter, found);
  }
  const { hasInvalidUtf8, mask } = writer;
  return mask ? { hasInvalidUtf8, mask } : { hasInvalidUtf8 };
}

/** A query parameter, with the values of all its occurrences. */
interface Parameter {
  key: string;
  readonly values: string[];
  hasInvalidUtf8: boolean;
}

/** The field that a parameter names, and the messages around it. */
interface ResolvedField {
  readonly field: Field | undefined;
  readonly owners: readonly Field[];
}

/** Writes query parameters to a request. */
class QueryWriter {
  hasInvalidUtf8 = false;
  mask: { paths: string[]; replacesInferred: boolean } | undefined;
  private readonly written = new Map<string, string[]>();

  constructor(private readonly target: Message) {}

  write({ values, hasInvalidUtf8 }: Parameter, { field, owners }: ResolvedField): void {
    const parent = owners.reduce((message, owner) => {
      message[owner.name] ??= newMessage();
      return message[owner.name] as Message;
    }, this.target);
    if (field === undefined) return;
    this.hasInvalidUtf8 ||= hasInvalidUtf8;
    if (field === maskPaths) {
      const { paths = [], replacesInferred = false } = this.mask ?? {};
      this.mask = { paths: [...paths, ...values], replacesInferred };
    } else if (field.type.kind === "list") {
      const { item } = field.type;
      const earlier = (parent[field.name] ?? []) as Value[];
      parent[field.name] = [...earlier, ...values.map((value) => parseItem(value, item, field))];
    } else {
      this.writeSingle(parent, field, owners, values);
    }
  }

  private writeSingle(
    parent: Message,
    field: Field,
    owners: readonly Field[],
    values: readonly string[],
  ): void {
    // Both spellings of a field are one parameter given twice.
    const place = [...owners.map((owner) => owner.name), field.name].join(".");
    const all = [...(this.written.get(place) ?? []), ...values];
    this.written.set(place, all);
    if (all.length > 1) {
      throw new QueryError(`too many values for field "${field.snake}": ${all.join(", ")}`);
    }
    if (field.type.kind === "list") return;
    if (field.type.kind === "map") throw new QueryError(`unsupported map field "${field.snake}"`);
    const value = values[0] ?? "";
    if (field.type.kind === "fieldMask") {
      this.mask = { paths: value.split(","), replacesInferred: true };
      return;
    }
    const parsed = parseItem(value, field.type, field);
    if (isDefault(parsed, field)) clearField(parent, field.name);
    else parent[field.name] = parsed;
  }
}

function gather(pairs: readonly QueryPair[]): Iterable<Parameter> {
  const byKey = new Map<string, Parameter>();
  for (const { key, value, hasInvalidUtf8 } of pairs) {
    const known = byKey.get(key);
    if (known) {
      known.values.push(value);
      known.hasInvalidUtf8 ||= hasInvalidUtf8;
    } else {
      byKey.set(key, { key, values: [value], hasInvalidUtf8 });
    }
  }
  // `ids[]=x` means `ids` with the text between the brackets as a first value.
  for (const entry of byKey.values()) {
    const brackets = /^(.*)\[(.*)\]$/s.exec(entry.key);
    if (!brackets) continue;
    entry.key = brackets[1] ?? "";
    entry.values.unshift(brackets[2] ?? "");
  }
  return byKey.values();
}

const maskPaths: Field = {
  name: "paths",
  snake: "paths",
  type: { kind: "list", item: { kind: "string" } },
};

/** Undefined: ignore the parameter. Without a field: an unknown member, whose owners come to be all the same. */
function resolve(
  steps: readonly string[],
  type: MessageType,
  bound: ReadonlySet<string>,
): ResolvedField | undefined {
  const owners: Field[] = [];
  let current = type;
  for (const [index, step] of steps.entries()) {
    const field = current.byName.get(step);
    if (!field) return owners.length > 0 ? { field: undefined, owners } : undefined;
    if (index === 0 && bound.has(field.name)) return undefined;
    if (index === steps.length - 1) return { field, owners };
    if (field.type.kind === "fieldMask") {
      return steps[index + 1] === "paths" ? { field: maskPaths, owners } : undefined;
    }
    if (field.type.kind !== "message") throw new QueryError(`invalid path: "${step}" is not a message`);
    owners.push(field);
    current = field.type.type;
  }
  return undefined;
}

function parseItem(value: string, type: ItemType, field: Field): Value {
  const fail = (why: string): QueryError => new QueryError(`parsing field "${field.snake}": ${why}`);
  const quoted = JSON.stringify(value);
  switch (type.kind) {
    case "string":
    case "bytes":
      return value;
    case "bool":
      if (/^(1|t|T|TRUE|true|True)$/.test(value)) return true;
      if (/^(0|f|F|FALSE|false|False)$/.test(value)) return false;
      throw fail(`strconv.ParseBool: parsing ${quoted}: invalid syntax`);
    case "int32":
    case "int64":
      return parseInteger(value, type.kind, fail);
    case "enum": {
      if (type.type.numberByName.has(value)) return value;
      const name = /^[+-]?[0-9]+$/.test(value) ? type.type.nameByNumber.get(Number(value)) : undefined;
      if (name === undefined) throw fail(`${quoted} is not a valid value`);
      return name;
    }
    case "timestamp":
      return parseTime(value, fail);
    case "duration":
    case "fieldMask":
    case "message":
      throw fail(
        `unsupported message type: "${type.kind === "message" ? type.type.fullName : `google.protobuf.${type.kind}`}"`,
      );
  }
}

type Fail = (why: string) => QueryError;

function parseInteger(value: string, kind: "int32" | "int64", fail: Fail): Value {
  const quoted = JSON.stringify(value);
  if (!/^[+-]?[0-9]+$/.test(value)) throw fail(`strconv.ParseInt: parsing ${quoted}: invalid syntax`);
  const number = BigInt(value.replace(/^\+/, ""));
  const limit = 2n ** (kind === "int32" ? 31n : 63n);
  if (number < -limit || number >= limit) {
    throw fail(`strconv.ParseInt: parsing ${quoted}: value out of range`);
  }
  return kind === "int32" ? Number(number) : String(number);
}

function parseTime(value: string, fail: Fail): Value {
  const time = canonicalTimestamp(value);
  if (time !== undefined) return time;
  const pattern = /^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}(?:\.[0-9]+)?/;
  const dateAndTime = pattern.exec(value)?.[0];
  const [rest, part] =
    dateAndTime === undefined ? [value, "2006"] : [value.slice(dateAndTime.length), "Z07:00"];
  const layout = "2006-01-02T15:04:05.999999999Z07:00";
  throw fail(
    `parsing time ${JSON.stringify(value)} as "${layout}": cannot parse ${JSON.stringify(rest)} as "${part}"`,
  );
}
