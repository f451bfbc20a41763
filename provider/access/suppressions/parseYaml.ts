import { isAlias, isMap, isNode, isScalar, isSeq, LineCounter, parseDocument, Parser, visit } from "yaml";
import type { CST, Document, Node } from "yaml";
import { printable } from "../../http/errors";
import { MOST_LEVELS } from "../documents/jsonText";

/** The keys and values directly inside of a token of YAML. */
function childrenOf(token: CST.Token): (CST.Token | null | undefined)[] {
  if (token.type === "document") return [token.value];
  return "items" in token ? token.items.flatMap(({ key, value }) => [key, value]) : [];
}

/** Whether a text has more than MOST_LEVELS levels: the parser of documents calls itself for each. */
export function isYamlTooDeep(text: string): boolean {
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
export interface LineAndColumn {
  readonly node: Node | undefined;
  readonly line: number;
}

/** A YAML document, what is wrong with it, and where its values stand. */
export class YamlText {
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
    for (const error of [...this.document.errors, ...this.document.warnings]) {
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
