import { printable } from "../../../text/printable";
import { compareTexts, isObject } from "../../../fields/values";
import type { Props } from "../../../fields/values";
import { DocumentError, parseJson } from "../../documents/jsonText";
import { withoutTrailing } from "../../../text/plain";
import { slug } from "../program";

/** One instance of a resource or data source in a state of Terraform or OpenTofu. */
export interface TerraformInstance {
  /** As Terraform writes it: `module.teams["a"].x_group.this[0]`. */
  readonly address: string;
  readonly mode: "managed" | "data";
  readonly type: string;
  /** For a resource of a program, not unique: `teams-a-this-0`. */
  readonly name: string;
  /** The source address of its provider, without host where the state has none. */
  readonly provider: string;
  readonly attributes: Props;
  /** Tainted: Terraform replaces it with its next apply. Deposed: Terraform deletes it with its next apply. */
  readonly status?: "tainted" | "deposed";
}

/** A state, in the order of its addresses. */
export interface TerraformState {
  readonly name: string;
  readonly instances: readonly TerraformInstance[];
}

/** Names of resources stay readable in URNs. */
const MAX_NAME_LENGTH = 100;

const WORD = String.raw`[\p{ID_Start}_][\p{ID_Continue}-]*`;
/** The index of `count`, or the key of `for_each`. */
const KEY = String.raw`\[(?:\d+|"(?:[^"\\]|\\.)*")\]`;
const IDENTIFIER = new RegExp(`^${WORD}$`, "u");
const MODULE = new RegExp(String.raw`module\.(${WORD})(${KEY})?`, "gu");
const MODULES = new RegExp(String.raw`^module\.${WORD}(?:${KEY})?(?:\.module\.${WORD}(?:${KEY})?)*$`, "u");

const isIdentifier = (text: unknown): text is string =>
  typeof text === "string" && text.length <= 1000 && IDENTIFIER.test(text);

/** Whatever cannot be printed is escaped, as Terraform escapes it. */
const escapeUnprintable = (text: string): string =>
  text.replace(/[^\p{L}\p{M}\p{N}\p{P}\p{S} ]/gu, (char) => {
    const code = char.codePointAt(0) ?? 0;
    const hex = code.toString(16);
    const short = { "\n": "\\n", "\r": "\\r", "\t": "\\t" }[char];
    return short ?? (code < 0x10000 ? `\\u${hex.padStart(4, "0")}` : `\\U${hex.padStart(8, "0")}`);
  });

/** A key as Terraform quotes it in an address. */
function formatKey(key: number | string): string {
  if (typeof key === "number") return `[${key}]`;
  const escaped = key.replace(/["\\]/g, "\\$&").replace(/[$%](?=\{)/g, "$&$&");
  return `["${escapeUnprintable(escaped)}"]`;
}

/** A name of the words of an address, without the characters that are escaped in it. */
function nameOfWords(words: readonly string[]): string {
  const slugs = words.map((word) => slug(word.replace(/\\(?:u[0-9a-f]{4}|U[0-9a-f]{8}|.)/gi, " ")));
  return withoutTrailing(slugs.filter(Boolean).join("-").slice(0, MAX_NAME_LENGTH), "-");
}

const WANTED = "give what terraform state pull writes (tofu state pull writes the same)";

/** What makes a document something else than a state of version 4, in the words of an error. */
function describeOtherForm(document: Props): string | undefined {
  const { version } = document;
  if ("encrypted_data" in document) return "is an encrypted state: give what tofu state pull writes";
  if ("format_version" in document) return `is what terraform show -json writes: ${WANTED}`;
  if (version === 4) return undefined;
  if (typeof version === "number")
    return `is a state of version ${version}, and only version 4 is supported: give what terraform state pull of Terraform 0.12 or newer writes`;
  return `is not a state of Terraform or OpenTofu: ${WANTED}`;
}

/** Reads one state, and names the path of a wrong value. */
class StateReader {
  private readonly instances: TerraformInstance[] = [];

  constructor(private readonly name: string) {}

  read(document: Props): TerraformState {
    const rows = document["resources"] ?? this.fail("resources", "is missing");
    for (const [i, row] of this.listAt(rows, "resources").entries())
      this.readResource(row, `resources[${i}]`);
    this.instances.sort((a, b) => compareTexts(a.address, b.address));
    return { name: this.name, instances: this.instances };
  }

  private fail(at: string, must: string): never {
    throw new DocumentError("PP6003", `${this.name}: ${at} ${must}; ${WANTED}`);
  }

  private listAt(value: unknown, at: string): Props[] {
    if (value === undefined || value === null) return [];
    if (!Array.isArray(value)) this.fail(at, "must be a list");
    return value.map((item: unknown, i) =>
      isObject(item) ? item : this.fail(`${at}[${i}]`, "must be an object"),
    );
  }

  private readResource(row: Props, at: string): void {
    const modules = this.readModule(row["module"], `${at}.module`);
    const provider = this.readProvider(row["provider"], `${at}.provider`);
    for (const [i, instance] of this.listAt(row["instances"], `${at}.instances`).entries()) {
      const where = `${at}.instances[${i}]`;
      const address = this.readAddress(row, modules, instance["index_key"], where);
      const attributes = instance["attributes"] ?? {};
      if (!isObject(attributes)) this.fail(`${where}.attributes`, "must be an object");
      const status = instance["deposed"]
        ? "deposed"
        : instance["status"] === "tainted"
          ? "tainted"
          : undefined;
      this.instances.push({ ...address, provider, attributes, ...(status && { status }) });
    }
  }

  /** A path of modules; empty for the root. */
  private readModule(value: unknown, at: string): string {
    if (value === undefined || value === null || value === "") return "";
    if (typeof value === "string" && MODULES.test(value)) return escapeUnprintable(value);
    return this.fail(at, 'must be a path of modules, as in module.teams["a"]');
  }

  private readAddress(
    row: Props,
    modules: string,
    key: unknown,
    at: string,
  ): Pick<TerraformInstance, "address" | "mode" | "type" | "name"> {
    const { mode, type, name } = row;
    if (mode !== "managed" && mode !== "data") this.fail(`${at}: mode`, 'must be "managed" or "data"');
    if (!isIdentifier(type)) this.fail(`${at}: type`, "must be a resource type");
    if (!isIdentifier(name)) this.fail(`${at}: name`, "must be an identifier");
    const shownKey = key === undefined || key === null ? "" : formatKey(this.readKey(key, at));
    const parts = [...(modules === "" ? [] : [modules]), ...(mode === "data" ? [mode] : []), type, name];
    const words = [...modules.matchAll(MODULE)].flatMap(([, word = "", index = ""]) => [word, index]);
    return {
      address: `${parts.join(".")}${shownKey}`,
      mode,
      type,
      name: nameOfWords([...words, name, shownKey]),
    };
  }

  private readKey(key: unknown, at: string): number | string {
    if (typeof key === "string" || (typeof key === "number" && Number.isSafeInteger(key) && key >= 0))
      return key;
    return this.fail(`${at}: the index`, "must be a string or a whole number");
  }

  /** The source in `provider["registry.terraform.io/a/b"]` and in `provider.b`. */
  private readProvider(value: unknown, at: string): string {
    if (typeof value !== "string") this.fail(at, "must be a string");
    const quoted = /provider\["([^"]*)"\]/.exec(value) ?? /(?:^|\.)provider\.([\w-]+)/.exec(value);
    return printable(quoted?.[1] ?? value, 200);
  }
}

/** Parses what `terraform state pull` or `tofu state pull` wrote. @throws DocumentError in one line. */
export function parseTerraformState(input: string | Uint8Array, name: string): TerraformState {
  const document = parseJson(input, name, WANTED) as Props;
  const problem = describeOtherForm(document);
  if (problem !== undefined) throw new DocumentError("PP6002", `${name} ${problem}`);
  return new StateReader(name).read(document);
}
