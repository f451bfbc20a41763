import { printable } from "../api/errors";
import { DocumentError } from "./jsonText";

/** A value of a JSON document and where it stands in it. */
export class DocumentReader {
  private constructor(
    private readonly source: string,
    private readonly path: string,
    private readonly value: unknown,
  ) {}

  /** @param source how errors call the document: the file's name. @throws DocumentError */
  static parse(text: string, source: string): DocumentReader {
    const name = printable(source, 200);
    if (text.trim() === "") throw new DocumentError(`${name}: is empty: it must hold a JSON document`);
    try {
      // Editors on Windows begin a file with a mark of its encoding.
      return new DocumentReader(name, "", JSON.parse(text.replace(/^\uFEFF/, "")));
    } catch (error) {
      const why = error instanceof Error ? printable(error.message, 160) : "";
      throw new DocumentError(`${name}: is not JSON, or only a part of it: ${why}`);
    }
  }

  object(): Record<string, unknown> {
    const { value } = this;
    if (value === null || typeof value !== "object" || Array.isArray(value)) this.fail("must be an object");
    return value as Record<string, unknown>;
  }

  /** Refuses members that are none of these. */
  only(...known: readonly string[]): void {
    for (const key of Object.keys(this.object())) {
      if (!known.includes(key)) this.at(key).fail("is not a part of the document");
    }
  }

  member(key: string): DocumentReader {
    return this.optional(key) ?? this.at(key).fail("is missing");
  }

  optional(key: string): DocumentReader | undefined {
    const object = this.object();
    return Object.hasOwn(object, key) ? this.at(key, object[key]) : undefined;
  }

  items<T>(read: (item: DocumentReader) => T): T[] {
    const { value } = this;
    if (!Array.isArray(value)) return this.fail("must be a list");
    return value.map((item: unknown, i) => read(new DocumentReader(this.source, `${this.path}[${i}]`, item)));
  }

  text(): string {
    return typeof this.value === "string" ? this.value : this.fail("must be a text");
  }

  flag(): boolean {
    return typeof this.value === "boolean" ? this.value : this.fail("must be true or false");
  }

  literal<T extends boolean | number | string>(wanted: T): T {
    if (this.value !== wanted) this.fail(`must be ${JSON.stringify(wanted)}`);
    return wanted;
  }

  matching(isRight: (text: string) => boolean, must: string): string {
    const text = this.text();
    return isRight(text) ? text : this.fail(must);
  }

  fail(must: string): never {
    throw new DocumentError(`${this.source}: ${printable(this.path, 200) || "the document"} ${must}`);
  }

  private at(key: string, value?: unknown): DocumentReader {
    const path = /^[A-Za-z_]\w*$/.test(key)
      ? `${this.path}${this.path === "" ? "" : "."}${key}`
      : `${this.path}[${JSON.stringify(key)}]`;
    return new DocumentReader(this.source, path, value);
  }
}
