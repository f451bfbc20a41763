import { slug } from "../names";
import { withoutTrailing } from "../../../text/plain";

/** Which instance of a resource or module: the index of `count`, or the key of `for_each`. */
export type InstanceKey = number | string;

/** A module call on the way to a resource. */
export interface ModuleStep {
  readonly name: string;
  readonly key?: InstanceKey;
}

/** The address of one instance, as in `module.teams["a"].x_group.this[0]`. */
export interface ResourceAddress {
  readonly modules: readonly ModuleStep[];
  readonly mode: "managed" | "data";
  readonly type: string;
  readonly name: string;
  readonly key?: InstanceKey;
}

/** Names of resources stay readable in URNs. */
const MAX_NAME_LENGTH = 100;

const IDENTIFIER = /^[\p{ID_Start}_][\p{ID_Continue}-]*$/u;
const MODULE_STEP =
  /module\.([\p{ID_Start}_][\p{ID_Continue}-]*)(?:\[(?:(\d+)|"((?:[^"\\]|\\.)*)")\])?(?:\.|$)/uy;

export function isIdentifier(text: unknown): text is string {
  return typeof text === "string" && text.length <= 1000 && IDENTIFIER.test(text);
}

const ESCAPES: Readonly<Record<string, string>> = {
  "\n": "\\n",
  "\r": "\\r",
  "\t": "\\t",
  '"': '\\"',
  "\\": "\\\\",
};
const UNESCAPES: Readonly<Record<string, string>> = { n: "\n", r: "\r", t: "\t" };

/** A string as Terraform quotes it in an address: whatever cannot be printed is escaped. */
export function quoteKey(text: string): string {
  const escaped = text
    .replace(/[$%](?=\{)/g, "$&$&")
    .replace(/[^\p{L}\p{M}\p{N}\p{P}\p{S} ]|["\\]/gu, (char) => {
      const code = char.codePointAt(0) ?? 0;
      const hex = code.toString(16);
      return ESCAPES[char] ?? (code < 0x10000 ? `\\u${hex.padStart(4, "0")}` : `\\U${hex.padStart(8, "0")}`);
    });
  return `"${escaped}"`;
}

function unquoteKey(text: string): string {
  return text
    .replace(/\\(?:u([0-9a-fA-F]{4})|U00([0-9a-fA-F]{6})|(.))/gu, (...parts: unknown[]) => {
      const [short, long, char] = parts.slice(1, 4).map((part) => (typeof part === "string" ? part : ""));
      const code = parseInt(short || long || "", 16);
      if (Number.isNaN(code)) return UNESCAPES[char ?? ""] ?? char ?? "";
      return code > 0x10ffff ? "\ufffd" : String.fromCodePoint(code);
    })
    .replace(/([$%])\1(?=\{)/g, "$1");
}

/** The module calls of a path such as `module.teams["a"].module.b[0]`; undefined where it is no such path. */
export function parseModulePath(path: string): readonly ModuleStep[] | undefined {
  const steps: ModuleStep[] = [];
  for (let at = 0; at < path.length;) {
    MODULE_STEP.lastIndex = at;
    const match = MODULE_STEP.exec(path);
    if (match === null) return undefined;
    const [text, name = "", index, quoted] = match;
    const key = quoted === undefined ? (index === undefined ? undefined : Number(index)) : unquoteKey(quoted);
    steps.push(key === undefined ? { name } : { name, key });
    at += text.length;
  }
  return path.endsWith(".") ? undefined : steps;
}

function formatKey(key: InstanceKey | undefined): string {
  if (key === undefined) return "";
  return typeof key === "number" ? `[${key}]` : `[${quoteKey(key)}]`;
}

function joinAddress({ modules, mode, type, name, key }: ResourceAddress, withKeys: boolean): string {
  const shown = (one: InstanceKey | undefined): string => (withKeys ? formatKey(one) : "");
  const steps = modules.map((step) => `module.${step.name}${shown(step.key)}.`);
  return `${steps.join("")}${mode === "data" ? "data." : ""}${type}.${name}${shown(key)}`;
}

/** The address of the instance, as Terraform writes it. */
export function formatAddress(address: ResourceAddress): string {
  return joinAddress(address, true);
}

/** The address of the resource block in the configuration, without the key of an instance. */
export function formatBlockAddress(address: ResourceAddress): string {
  return joinAddress(address, false);
}

/** A name for a resource of a program, not unique: `teams-a-this-0`. */
export function nameFromAddress({ modules, name, key }: ResourceAddress): string {
  const words = [...modules.flatMap((step) => [step.name, step.key]), name, key];
  const joined = words
    .map((word) => (word === undefined ? "" : slug(String(word))))
    .filter((word) => word !== "")
    .join("-");
  return withoutTrailing(joined.slice(0, MAX_NAME_LENGTH), "-");
}
