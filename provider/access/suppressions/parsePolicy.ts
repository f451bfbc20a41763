import { CodedError } from "../../errors/codedError";
import { LineCounter, Parser, isAlias, isMap, isNode, isScalar, isSeq, parseDocument, visit } from "yaml";
import type { CST, Document, Node } from "yaml";
import { printable } from "../../text/printable";
import { MOST_LEVELS } from "../documents/jsonText";
import { unknownCapability } from "../rules/capabilities";
import { propertyPath, schemaProblems, withLists } from "../documents/jsonSchema";
import type { SchemaProblem } from "../documents/jsonSchema";
import { exactKeyOf } from "./matchEntry";
import type { Written } from "../assertions/assertion";
import type { Policy, PolicyDocument } from "./policyDocument";

/** The keys and values directly inside of a token of YAML. */
function childrenOf(token: CST.Token): (CST.Token | null | undefined)[] {
  if (token.type === "document") return [token.value];
  return "items" in token ? token.items.flatMap(({ key, value }) => [key, value]) : [];
}

/** Whether a text has more than MOST_LEVELS levels: the parser of documents calls itself for each. */
function isYamlTooDeep(text: string): boolean {
  const open = Array.from(new Parser().parse(text), (token) => ({ token, level: 0 }));
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const level = next.level + 1;
    for (const token of childrenOf(next.token)) {
      if (!token) continue;
      if (level > MOST_LEVELS) return true;
      open.push({ token, level });
    }
  }
  return false;
}

/** Where a node of a YAML document begins. */
interface LineAndColumn {
  readonly node: Node | undefined;
  readonly line: number;
}

/** A YAML document, what is wrong with it, and where its values stand. */
class YamlText {
  /** A line each, with the place. */
  readonly problems: string[] = [];
  readonly document: Document.Parsed;
  private readonly lines = new LineCounter();

  /** @param file how messages call it. */
  constructor(
    private readonly file: string,
    text: string,
  ) {
    const options = { version: "1.2", schema: "core", prettyErrors: false } as const;
    this.document = parseDocument(text, { ...options, lineCounter: this.lines });
    // What the parser says after its first error follows from it.
    for (const error of [...this.document.errors.slice(0, 1), ...this.document.warnings]) {
      const { line } = this.lines.linePos(error.pos[0]);
      // What follows the colon quotes the file, which may be none of ours.
      this.report(line, (error.message.split(/\n|: /, 1)[0] ?? "").replace(/\.$/, ""));
    }
    this.refuseExtensions();
  }

  /** The node at a path; if it is missing or unknown, the nearest one that contains or names it. */
  placeOf(keys: readonly string[]): LineAndColumn {
    let node: Node | null = this.document.contents;
    for (const key of keys) {
      if (isMap(node)) {
        const pair = node.items.find(({ key: name }) => isScalar(name) && String(name.value) === key);
        if (pair === undefined) break;
        node = isNode(pair.value) ? pair.value : isNode(pair.key) ? pair.key : node;
      } else if (isSeq(node)) {
        const item = node.items[Number(key)];
        if (isNode(item)) node = item;
      }
    }
    return { node: node ?? undefined, line: this.lineOf(node) };
  }

  private lineOf(node: Node | null): number {
    return this.lines.linePos(node?.range?.[0] ?? 0).line;
  }

  private report(line: number, problem: string): void {
    this.problems.push(printable(`${this.file}:${line}: ${problem}`, 600));
  }

  /** Anchors, tags and directives are refused, because with them a file can mean something else than a reader sees. */
  private refuseExtensions(): void {
    const { contents, directives } = this.document;
    if (directives.yaml.explicit) {
      this.report(this.lineOf(contents), "YAML directives are not used here: remove them");
    }
    visit(this.document, {
      Node: (_key, node) => {
        if (isAlias(node) || node.anchor !== undefined) {
          const advice = "write the entry out, and quote globs";
          this.report(this.lineOf(node), `anchors and aliases (& and *) are not used here: ${advice}`);
        } else if (node.tag !== undefined) {
          this.report(this.lineOf(node), `YAML tags are not used here: remove it`);
        }
      },
    });
  }
}

/** The policy file is wrong: every mistake on a line of its own. Ends with exit code 2. */
export class PolicyError extends CodedError {
  override readonly name = "PolicyError";
  readonly code = "USAGE";

  constructor(readonly problems: readonly string[]) {
    super("PP6101", problems.join("\n"));
    this.stack = "";
  }
}

const LARGEST_FILE = 1_000_000;
const MOST_PROBLEMS = 20;
const MOST_OPEN_ENTRIES = 1_000;
const ENTRIES = "write the entries as a list below allow";

/** The string as the file has it: YAML reads `2027` and `yes` as a number and a boolean. */
function quotedSource(node: unknown): string {
  const isPlain = isScalar(node) && (typeof node.value === "number" || typeof node.value === "boolean");
  return isPlain ? `, in quotes: "${node.source ?? String(node.value)}"` : "";
}

function describe(yaml: YamlText, file: string, { keys, keyword, requirement }: SchemaProblem): string {
  const { node, line } = yaml.placeOf(keys);
  const advice = keyword === "type" && requirement === "must be a string" ? quotedSource(node) : "";
  const path = propertyPath(keys) || "the policy";
  return printable(`${file}:${line}: ${path} ${requirement}${advice}`, 600);
}

/** The patterns of capabilities that match none: the assertion would never find anything. */
function capabilityProblems({ forbid = [], require = [], separate = [] }: PolicyDocument): SchemaProblem[] {
  const lists = [
    ...Object.entries({ forbid, require }).flatMap(([list, assertions]) =>
      assertions.map(({ can = [] }, i) => ({ keys: [list, String(i), "can"], can })),
    ),
    ...separate.flatMap(({ duties }, i) =>
      duties.map((can, duty) => ({ keys: ["separate", String(i), "duties", String(duty)], can })),
    ),
  ];
  return lists.flatMap(({ keys, can }) =>
    can.flatMap((pattern, i) => {
      const problem = unknownCapability(pattern);
      if (problem === undefined) return [];
      const requirement = `${printable(JSON.stringify(pattern), 80)} ${problem}`;
      return [{ keys: [...keys, String(i)], keyword: "capability", requirement }];
    }),
  );
}

function refuseLong(problems: readonly unknown[], file: string, lines: readonly string[]): never {
  const more = problems.length - MOST_PROBLEMS;
  throw new PolicyError(more > 0 ? [...lines, `${file}: and ${more} more mistakes`] : lines);
}

function parse(text: string, file: string): { yaml: YamlText; value: unknown } {
  if (text.length > LARGEST_FILE) {
    throw new PolicyError([`${file}: is larger than ${LARGEST_FILE} characters`]);
  }
  if (isYamlTooDeep(text)) {
    throw new PolicyError([`${file}: is nested more than ${MOST_LEVELS} levels deep; ${ENTRIES}`]);
  }
  const yaml = new YamlText(file, text);
  return { yaml, value: yaml.problems.length > 0 ? undefined : yaml.document.toJS() };
}

/** The policy of a text, and its document, to which entries can be added. */
export function readPolicy(text: string, file: string): { policy: Policy; document: Document.Parsed } {
  const { yaml, value } = parse(text, file);
  if (yaml.problems.length > 0) refuseLong(yaml.problems, file, yaml.problems.slice(0, MOST_PROBLEMS));
  const ofSchema = schemaProblems("access-policy", value);
  const written = ofSchema.length > 0 ? {} : (withLists(value) as PolicyDocument);
  const problems = ofSchema.length > 0 ? ofSchema : capabilityProblems(written);
  if (problems.length > 0) {
    const first = problems.slice(0, MOST_PROBLEMS);
    refuseLong(
      problems,
      file,
      first.map((problem) => describe(yaml, file, problem)),
    );
  }
  const { allow = [], types = [], settings = {}, rules, ...assertions } = written;
  const open = allow.filter((entry) => exactKeyOf(entry) === undefined).length;
  if (open > MOST_OPEN_ENTRIES) {
    const why = "each is compared with each finding; name a uid or a fingerprint in the others";
    throw new PolicyError([
      `${file}: ${open} entries have neither a fingerprint nor a whole uid, and at most ${MOST_OPEN_ENTRIES} may have: ${why}`,
    ]);
  }
  const lineOf = (list: keyof PolicyDocument, i: number): number => yaml.placeOf([list, String(i)]).line;
  const placed = <T>(list: "forbid" | "require" | "separate", each: readonly T[] = []): Written<T>[] =>
    each.map((assertion, i) => ({ ...assertion, place: `${file}:${lineOf(list, i)}` }));
  const policy: Policy = {
    file,
    assertions: {
      forbid: placed("forbid", assertions.forbid),
      require: placed("require", assertions.require),
      separate: placed("separate", assertions.separate),
    },
    ...(rules === undefined ? {} : { rules, rulesLine: yaml.placeOf(["rules"]).line }),
    settings,
    entries: allow.map((entry, i) => ({ ...entry, line: lineOf("allow", i) })),
    types: types.map((type, i) => ({ ...type, line: lineOf("types", i) })),
  };
  return { policy, document: yaml.document };
}

/**
 * Reads the policy file, strictly: YAML 1.2 without anchors, aliases and tags, of the form that
 * `schema/access-policy.schema.json` describes.
 *
 * @param fileName For messages: each names the line and the path of what is wrong.
 * @throws PolicyError with all mistakes; its `code` is "USAGE".
 */
export function parsePolicy(text: string, fileName = "the policy"): Policy {
  const file = printable(fileName);
  // A program in JavaScript may hand over what it has read as bytes.
  if (typeof (text as unknown) !== "string")
    throw new PolicyError([`${file}: is no text: give it as a string`]);
  return readPolicy(text.replace(/^\ufeff/, ""), file).policy;
}
