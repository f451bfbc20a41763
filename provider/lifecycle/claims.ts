import { handlerError, PartialFailure } from "./messages";

/** Which resource of this process has which object, from its create on, so that no two get the same. */
export class Claims {
  /** The label of the resource, by the key of its object. */
  private readonly owners = new Map<string, string>();

  /**
   * Reserves the keys of an object for one resource; releases them if the action fails and leaves nothing in the state.
   *
   * @param owner The label of the resource.
   */
  async reserve<T>(
    what: string,
    names: readonly (string | undefined)[],
    owner: string,
    action: () => Promise<T>,
  ): Promise<T> {
    const keys = [...new Set(names)].filter((key) => key !== undefined);
    for (const key of keys) {
      const other = this.ownerOf(key);
      if (other !== undefined) {
        throw handlerError(
          "PP4009",
          `${what}: another resource of this program, ${other}, already manages this object; remove one of the two`,
        );
      }
    }
    for (const key of keys) this.claim(key, owner);
    try {
      return await action();
    } catch (error) {
      if (!(error instanceof PartialFailure)) for (const key of keys) this.release(key);
      throw error;
    }
  }

  /** Makes a resource the owner of an object; false where another one owns it. */
  claim(key: string, owner: string): boolean {
    if (this.owners.has(key)) return false;
    this.owners.set(key, owner);
    return true;
  }

  ownerOf(key: string): string | undefined {
    return this.owners.get(key);
  }

  release(key: string): void {
    this.owners.delete(key);
  }
}
