import type { Props } from "../../description";
import { handlerError, PartialFailure } from "../messages";

/*
 * Records what this process creates, so that no two resources get the same object. Equal resources are legal: an object
 * that a lookup finds may belong to another create, whose response then confirms it.
 */

/** A create that has not ended yet. */
export interface PendingCreate {
  readonly inputs: Props;
  /** Settles with the response to the request under way; undefined where none is. */
  response?: Promise<unknown>;
  /** Whether a request of it got no response, and it has no object yet. */
  isLost: boolean;
  readonly ended: Promise<void>;
  readonly end: () => void;
}

export class CreateRegistry {
  /** By the place: all creates of one kind below one parent. */
  private readonly pending = new Map<string, Set<PendingCreate>>();
  /** The label of the resource that owns an object. */
  private readonly owners = new Map<string, string>();

  /** Runs a create. Others of the same place see it until it ends. */
  async run<T>(place: string, inputs: Props, create: (pending: PendingCreate) => Promise<T>): Promise<T> {
    const all = this.pending.get(place) ?? new Set();
    this.pending.set(place, all);
    let settle: () => void = () => undefined;
    const ended = new Promise<void>((resolve) => (settle = resolve));
    const end = () => {
      all.delete(pending);
      if (all.size === 0 && this.pending.get(place) === all) this.pending.delete(place);
      settle();
    };
    const pending: PendingCreate = { inputs, isLost: false, ended, end };
    all.add(pending);
    try {
      return await create(pending);
    } finally {
      end();
    }
  }

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

  /** Sends a request of a create. `request` also claims what the response names. */
  async send<T>(
    pending: PendingCreate,
    request: () => Promise<T>,
    isLost: (error: unknown) => boolean,
  ): Promise<T> {
    const response = request();
    // Whoever waits for the response sees at once that it was lost.
    pending.response = response.catch((error: unknown) => {
      pending.isLost ||= isLost(error);
    });
    try {
      return await response;
    } finally {
      delete pending.response;
    }
  }

  /** Waits for the responses that other creates of the place have under way now. Those without one never get it. */
  async waitForResponses(place: string, own: PendingCreate): Promise<void> {
    await Promise.all(this.others(place, own).flatMap(({ response }) => response ?? []));
  }

  /** Waits for the other creates of the place that are under way now. */
  async waitForOthers(place: string, own: PendingCreate): Promise<void> {
    await Promise.all(this.others(place, own).map(({ ended }) => ended));
  }

  /** The other creates of the place that look for an object. */
  findRivals(place: string, own: PendingCreate): PendingCreate[] {
    return this.others(place, own).filter(({ isLost }) => isLost);
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

  private others(place: string, own: PendingCreate): PendingCreate[] {
    return [...(this.pending.get(place) ?? [])].filter((other) => other !== own);
  }
}
