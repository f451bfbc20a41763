import type { ErrorCode } from "../errors/registry";
import { isSet } from "./equal";
import { containsSecret, leftOutMeans } from "./fieldSpec";
import type {
  EnumSpec,
  FieldSpec,
  ListSpec,
  MapSpec,
  ObjectSpec,
  OneOf,
  Pattern,
  SecretObjectSpec,
  SecretSpec,
  StringSpec,
} from "./fieldSpec";
import { problemOfName } from "./enumNames";
import type { CheckContext, Failure, ResourceSpec } from "./resourceSpec";
import { ADOPT, containsUnknown, isObject, isUnknown, PROVIDER_TEXT, ownMember } from "./values";
import type { Json, Props } from "./values";
import { printable } from "../text/printable";
import { didYouMean, quote, suggest } from "../text/suggestions";
import { formats } from "./formats";
import { hasType, typeNames, memberPath } from "./walk";
import { isDeepStrictEqual } from "node:util";

function describeType(value: unknown): string {
  if (value === null || value === undefined) return String(value);
  if (Array.isArray(value)) return "a list";
  if (typeof value === "number" || typeof value === "boolean") return `the ${typeof value} ${value}`;
  return typeof value === "object" ? "an object" : `a ${typeof value}`;
}

/** What is among the inputs and is no argument: the engine's, and what `adopt` adds. */
const INTERNAL: ReadonlySet<string> = new Set([PROVIDER_TEXT, ADOPT]);

function patternFailure(pattern: Pattern | undefined, text: string): string | undefined {
  return pattern && !pattern.regex.test(text) ? `must be ${pattern.must}` : undefined;
}

/**
 * Whether a value is the recorded one. With `ignoreChanges` the engine hands those to `check`: a refresh may have
 * recorded what a program must not write, and no program could then repair it.
 */
export function isRecorded(olds: Props | undefined, key: string, value: Json | undefined): boolean {
  return olds !== undefined && isDeepStrictEqual(ownMember(olds, key), value);
}

function asObject(value: Json | undefined): Props | undefined {
  return isObject(value) ? value : undefined;
}

/** The arguments that unknown ones were probably meant to be: the message about those says all. */
const listMisspelt = (fields: Readonly<Record<string, FieldSpec>>, values: Props): readonly string[] =>
  Object.keys(values).flatMap((key) =>
    Object.hasOwn(fields, key) ? [] : (didYouMean(key, Object.keys(fields)) ?? []),
  );

/** The members that an object needs: of several that exclude each other, the first. */
const listNeeded = ({
  fields,
  oneOfs = [],
}: ObjectSpec | SecretObjectSpec): readonly [string, FieldSpec][] => {
  const chosen = oneOfs.filter(({ required }) => required).map(({ members }) => members[0]);
  return Object.entries(fields).filter(([key, field]) => field.required || chosen.includes(key));
};

/** What a program would write. */
function writeSample(spec: FieldSpec): string {
  if (spec.type === "object")
    return `{ ${listNeeded(spec)
      .map(([key, field]) => `${key}: ${writeSample(field)}`)
      .join(", ")} }`;
  return spec.type === "string" && spec.format ? quote(formats[spec.format].sample ?? "…") : quote("…");
}

/** Checks values against their fields, and collects what is wrong. */
class FieldChecker {
  readonly failures: Failure[] = [];

  /**
   * What is done with a name of an enumeration. A server may know more names than this version. It clears a field that is
   * written with one that it does not know.
   */
  constructor(private readonly names: "compares" | "filters" | "writes") {}

  report(code: ErrorCode, property: string, reason: string): void {
    this.failures.push({ property, reason, code });
  }

  checkValue(spec: FieldSpec, path: string, value: Json, old?: Json): void {
    if (isUnknown(value)) return;
    if (!hasType(spec, value, "program")) {
      const hasUid = spec.type === "string" && asObject(value)?.["uid"] !== undefined;
      const isOne = spec.type === "list" && typeof value === "string";
      const advice = isOne
        ? ": write it in brackets, as in [value]"
        : hasUid
          ? ": write .uid behind it, or .then(({ uid }) => uid) behind a promise"
          : "";
      const given = spec.secret ? "" : `, not ${describeType(value)}${advice}`;
      const sample =
        (spec.type === "string" && spec.format && formats[spec.format].sample !== undefined) ||
        (spec.type === "object" && listNeeded(spec).length > 0);
      const asIn = sample ? `, as in ${writeSample(spec)}` : "";
      this.report("PP1003", path, `must be ${typeNames[spec.type]}${asIn}${given}`);
      return;
    }
    switch (spec.type) {
      case "string":
        this.string(spec, path, value as string);
        break;
      case "enum":
        this.enumeration(spec, path, value as string);
        break;
      case "list":
        this.list(spec, path, value as Json[], old);
        break;
      case "map":
        this.checkMap(spec, path, value as Props, asObject(old));
        break;
      case "object":
        this.object(spec, path, value as Props, asObject(old));
        break;
      case "boolean":
      case "integer":
        break;
    }
  }

  private string(spec: StringSpec | SecretSpec, path: string, text: string): void {
    if (text === "") {
      // An unset configuration value must not make a root by accident.
      if (spec.path)
        this.report(
          "PP1006",
          path,
          "must not be empty: give a uid, or leave it out where there is no parent",
        );
      return;
    }
    if (text.includes("Calling [toString] on an [Output<T>]")) {
      const advice = "write pulumi.interpolate before the backquotes, or the id alone without quotes";
      this.report(
        "PP1004",
        path,
        `holds no value, but the text of an Output in a template literal: ${advice}`,
      );
      return;
    }
    const length = Array.from(text).length;
    if (spec.maxLength !== undefined && length > spec.maxLength) {
      this.report("PP1005", path, `must have at most ${spec.maxLength} characters, not ${length}`);
    }
    const problem =
      (spec.format && formats[spec.format].problem(text)) ?? patternFailure(spec.pattern, text) ?? undefined;
    if (problem === undefined) {
      // It is as good as none, and would pass for one that is given.
      if (spec.access !== undefined && text.trim() === "")
        this.report("PP1006", path, "must not be blank: give a value, or leave it out");
      return;
    }
    // A name in the place of a uid, which a lookup finds; what may be a secret is not repeated.
    const isRole = spec.access === "role" || spec.refersTo === "Role";
    const hint =
      isRole && /^[a-z][a-z._ -]{0,30}$/.test(text) ? `, as getRoleOutput({ name: ${quote(text)} }).uid` : "";
    this.report("PP1004", path, `${problem}${hint}`);
  }

  private enumeration(spec: EnumSpec, path: string, name: string): void {
    if (name === "") return;
    const shape = new RegExp(`^${spec.prefix}[A-Z0-9_]+$`);
    if (shape.test(name)) {
      if (this.names === "compares") return;
      const problem = problemOfName(this.names === "filters" ? { ...spec, open: true } : spec, name);
      if (problem !== undefined) this.report("PP1013", path, problem);
      return;
    }
    const names = spec.known.map((known) => `${spec.prefix}${known}`);
    const asName = name.toUpperCase().replace(/[^A-Z0-9]+/g, "_");
    const candidates = names.filter((known) => known === asName || known === `${spec.prefix}${asName}`);
    const meant = candidates[0] ?? didYouMean(asName, names) ?? didYouMean(`${spec.prefix}${asName}`, names);
    this.report(
      "PP1009",
      path,
      `must be a full name that begins with ${spec.prefix}, not ${quote(name)}` +
        (meant === undefined ? `, as in ${names[0] ?? spec.prefix}` : `; did you mean ${meant}?`),
    );
  }

  private list(spec: ListSpec, path: string, items: Json[], old: Json | undefined): void {
    const recorded = Array.isArray(old) ? old : [];
    if (spec.maxItems !== undefined && items.length > spec.maxItems) {
      this.report("PP1005", path, `must hold at most ${spec.maxItems}, not ${items.length}`);
    }
    items.forEach((item, i) => {
      if (item === null || (typeof item === "string" && item.trim() === ""))
        this.report("PP1006", `${path}[${i}]`, "must not be empty");
      else if (!recorded.some((one) => isDeepStrictEqual(one, item)))
        this.checkValue(spec.items, `${path}[${i}]`, item);
    });
  }

  private checkMap(spec: MapSpec, path: string, entries: Props, olds: Props | undefined): void {
    for (const [key, value] of Object.entries(entries)) {
      if (isRecorded(olds, key, value)) continue;
      const at = memberPath(path, key);
      if (key.trim() === "") this.report("PP1006", at, "must have a key that is not empty");
      const wrong = patternFailure(spec.keys, key);
      if (wrong !== undefined) this.report("PP1004", at, `key ${wrong}`);
      if (spec.reservedKeys?.regex.test(key)) this.report("PP1004", at, spec.reservedKeys.must);
      if (value === null || value === undefined) this.report("PP1001", at, "must have a value");
      else this.checkValue(spec.values, at, value, ownMember(olds, key));
    }
  }

  private object(
    spec: ObjectSpec | SecretObjectSpec,
    path: string,
    value: Props,
    olds: Props | undefined,
  ): void {
    this.checkFields(spec.fields, path, value, olds);
    this.checkOneOfs(spec.oneOfs ?? [], spec.fields, path, value);
  }

  checkFields(
    fields: Readonly<Record<string, FieldSpec>>,
    path: string,
    values: Props,
    olds: Props | undefined,
  ): void {
    for (const key of Object.keys(values)) {
      if (Object.hasOwn(fields, key)) continue;
      if (path === "" && INTERNAL.has(key)) continue;
      this.report("PP1002", memberPath(path, key), `is not an argument${suggest(key, Object.keys(fields))}`);
    }
    const misspelt = listMisspelt(fields, values);
    for (const [key, field] of Object.entries(fields)) {
      const value = values[key];
      if (isRecorded(olds, key, value)) continue;
      const at = memberPath(path, key);
      if (field.required && !isRequiredSet(field, value)) {
        if (!misspelt.includes(key)) this.report("PP1001", at, missingReason(field));
      } else if (value !== undefined && value !== null) {
        this.checkValue(field, at, value, olds?.[key]);
      }
    }
  }

  checkOneOfs(
    oneOfs: readonly OneOf[],
    fields: Readonly<Record<string, FieldSpec>>,
    path: string,
    values: Props,
  ): void {
    for (const { members, required } of oneOfs) {
      // An empty object sets its member too; the check of its fields reports what is missing in it.
      const given = members.filter((key) => {
        const field = fields[key];
        return field !== undefined && (isSet(field, values[key]) || isObject(values[key]));
      });
      const settled = given.filter((key) => !isUnknown(values[key]));
      const names = members.join(", ");
      if (settled.length > 1) {
        const first = settled[0] ?? "";
        for (const key of settled.slice(1)) {
          this.report("PP1007", memberPath(path, key), `conflicts with ${first}; set only one of ${names}`);
        }
      } else if (required && given.length === 0) {
        if (listMisspelt(fields, values).some((key) => members.includes(key))) continue;
        const reason = path === "" ? `exactly one of ${names} is needed` : `needs exactly one of ${names}`;
        const [unspecified] = members.flatMap((key) => {
          const text = values[key];
          return typeof text === "string" && text !== "" ? [{ key, text }] : [];
        });
        if (unspecified === undefined) this.report("PP1008", path, reason);
        else {
          const { key, text } = unspecified;
          this.report("PP1008", memberPath(path, key), `is no value: ${text} means none; ${reason}`);
        }
      }
    }
  }
}

function isRequiredSet(field: FieldSpec, value: Json | undefined): boolean {
  if (field.type === "object") return isObject(value) || isUnknown(value);
  if (field.type === "map" && field.allowEmpty) return value !== undefined && value !== null;
  if (field.type === "boolean" || field.type === "integer") return value !== undefined && value !== null;
  if (field.type === "string" && typeof value === "string") return value.trim() !== "";
  return isSet(field, value);
}

/** What to say of a field that must be given. */
export function missingReason(field: FieldSpec): string {
  switch (field.type) {
    case "list":
      return "is missing: give at least one";
    case "string":
      if (field.format === "uid" || field.format === "groupUid") {
        return "is missing: give a uid, as in the id of another resource";
      }
      return "is missing: give a string that is not empty";
    default:
      return `is missing: give ${typeNames[field.type]}`;
  }
}

/** A failure in one line, without its code. */
export const describeWrongArgument = ({ property, reason }: Failure): string =>
  printable(`${property} ${reason}`.trim(), 500);

/** Finds all problems of one value that a lookup filters by. */
export function checkField(field: FieldSpec, path: string, value: Json): Failure[] {
  const checker = new FieldChecker("filters");
  checker.checkValue(field, path, value);
  return checker.failures;
}

/** Finds all problems of inputs that can be found without the server. Unknown values never fail. */
export function checkInputs(spec: ResourceSpec, inputs: Props, context: CheckContext): Failure[] {
  // A create has none.
  const olds = Object.keys(context.olds).length === 0 ? undefined : context.olds;
  // An adoption compares the values with those of the server. A later change writes them.
  const checker = new FieldChecker(olds === undefined && inputs[ADOPT] !== undefined ? "compares" : "writes");
  if (olds && Object.keys({ ...olds, ...inputs }).every((key) => isRecorded(olds, key, inputs[key])))
    return [];
  checker.checkFields(spec.fields, "", inputs, olds);
  checker.checkOneOfs(spec.oneOfs ?? [], spec.fields, "", inputs);
  const adopted = inputs[ADOPT];
  if (adopted !== undefined) {
    checker.checkValue({ type: "string", format: "uid" }, "adopt", adopted);
    if (adopted === "")
      checker.report("PP1006", "adopt", "must be the uid of the existing object, not empty");
  }
  if (olds !== undefined && adopted === undefined) checker.failures.push(...findLost(spec, olds, inputs));
  const across = validateAcrossFields(spec, inputs, context);
  // What does not fit the other arguments need not be right in itself.
  const unfit = across.filter(({ code }) => code === "PP1011").map(({ property }) => property);
  const own = checker.failures.filter(({ property }) => !unfit.includes(property));
  return [...own, ...across].map((failure) => hideValue(spec, inputs, failure));
}

/** Arguments that a resource loses, and that keep others out. A replacement of it is hardly ever meant. */
function findLost({ fields }: ResourceSpec, olds: Props, inputs: Props): Failure[] {
  return Object.entries(fields).flatMap(([property, field]): Failure[] => {
    const means = leftOutMeans(field);
    if (means === undefined || !isSet(field, olds[property]) || isSet(field, inputs[property])) return [];
    const reason = `is missing, and the state has it: without it, this would be replaced by ${means}; write it again, or declare another resource, under another name, if that is meant`;
    return [{ property, reason, code: "PP1110" }];
  });
}

/** Runs `spec.validate`, which may look inside a value only if its form is right, so it gets no others. */
function validateAcrossFields(spec: ResourceSpec, inputs: Props, context: CheckContext): Failure[] {
  const unknown = new Set(Object.keys(inputs).filter((key) => containsUnknown(inputs[key])));
  const valid = Object.fromEntries(
    Object.entries(inputs).filter(([key, value]) => {
      const field = spec.fields[key];
      return (
        field &&
        value !== undefined &&
        value !== null &&
        !isUnknown(value) &&
        hasType(field, value, "program")
      );
    }),
  );
  return spec.validate?.(valid, unknown, context) ?? [];
}

/**
 * The engine prints the value of a top-level property that fails: an object with a secret in it, an address with a
 * password, or a secret under a name that is none. Without a property it prints the reason alone.
 */
function hideValue(spec: ResourceSpec, inputs: Props, failure: Failure): Failure {
  const { property, reason, code } = failure;
  const field = ownMember(spec.fields, property);
  const hides = field
    ? containsSecret(field) || mayHoldPassword(field, inputs[property])
    : Object.values(spec.fields).some(containsSecret) && Object.hasOwn(inputs, property);
  return hides ? { property: "", reason: `${property} ${reason}`, code } : failure;
}

function mayHoldPassword(field: FieldSpec, value: Json | undefined): boolean {
  const isAddress = field.type === "string" && (field.format === "url" || field.format === "httpsUrl");
  return isAddress && typeof value === "string" && /@|%40/.test(value);
}
