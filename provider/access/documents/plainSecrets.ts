import type { Json } from "../../fields/values";

/**
 * The plain text of a resource's secrets, by path. It serialises and prints as empty, so that only a lookup by path
 * reveals a value.
 */
export class PlainSecrets {
  readonly #values = new Map<string, Json>();

  set(path: string, value: Json): void {
    this.#values.set(path, value);
  }

  has(path: string): boolean {
    return this.#values.has(path);
  }

  get(path: string): Json | undefined {
    return this.#values.get(path);
  }

  toJSON(): undefined {
    return undefined;
  }
}
