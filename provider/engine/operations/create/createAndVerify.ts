import { isNotFound, isPermissionDenied, hasUnknownOutcome } from "../../../api/errors";
import { HandlerError } from "../messages";

/*
 * A create whose response may be lost, as a state machine. `GroupAccess` uses it for its batches, every other kind for
 * its one resource.
 *
 *   sending ───────────────▶ created
 *     │  ├─▶ waitingForNewGroup ─▶ sending
 *     │  └─▶ refused
 *     ▼
 *   lookingForLostCreate ──▶ created
 *     └─▶ sending again, refused, or unknown after the last send
 *
 * Nothing here deletes what a lost create may have left behind: nobody can prove that no other program made it. The
 * caller names it.
 */

/** Waits before each look for what a lost create has made: it may arrive late. */
const LOOK_DELAYS_MS = [500, 1500, 3000];
/** How often a create is sent while its responses are lost. */
const MAX_SENDS = 3;
/** Waits before a create below a new group is sent again: the rights of its owner are not known everywhere yet. */
const NEW_GROUP_DELAYS_MS = [2000, 4000, 8000, 16_000];

export interface CreateSteps<T> {
  /** Sends the create once. */
  readonly send: () => Promise<T>;
  /** Finds what a create without a response has made; undefined while there is nothing. */
  readonly findLostCreate: (lost: unknown) => Promise<T | undefined>;
  /** The error after the last attempt, if the request may still take effect. */
  readonly explainUnknown: (error: unknown, sends: number) => unknown;
  readonly sleep: (ms: number) => Promise<void>;
  /** A second send does the same as the first, so the client has repeated it already. */
  readonly isIdempotent?: boolean;
  /** Whether the parent is so new that a refusal may end soon. */
  readonly isBelowNewGroup?: () => Promise<boolean>;
  /** Runs before a create below a new group is sent again. */
  readonly refreshToken?: () => Promise<void>;
}

type CreateState<T> = OpenState<T> | FinalState<T>;

type OpenState<T> =
  | { readonly name: "sending" }
  | { readonly name: "waitingForNewGroup"; readonly delayMs: number }
  | {
      readonly name: "lookingForLostCreate";
      readonly delaysMs: readonly number[];
      /** What follows when no look finds anything. */
      readonly otherwise: CreateState<T>;
    };

type FinalState<T> =
  | { readonly name: "created"; readonly created: Created<T> }
  | { readonly name: "refused"; readonly error: unknown }
  | { readonly name: "unknown"; readonly error: unknown };

export interface Created<T> {
  readonly result: T;
  /** An earlier send without a response, which may have taken effect besides; undefined if there was none. */
  readonly lost: unknown;
}

class CreateMachine<T> {
  private sends = 0;
  private groupWaits = 0;
  private lost: unknown;

  constructor(private readonly steps: CreateSteps<T>) {}

  next(state: OpenState<T>): Promise<CreateState<T>> {
    switch (state.name) {
      case "sending":
        return this.send();
      case "waitingForNewGroup":
        return this.waitForNewGroup(state.delayMs);
      case "lookingForLostCreate":
        return this.look(state.delaysMs, state.otherwise);
    }
  }

  private async send(): Promise<CreateState<T>> {
    try {
      const result = await this.steps.send();
      return { name: "created", created: { result, lost: this.lost } };
    } catch (error) {
      return this.judgeFailure(error);
    }
  }

  private async judgeFailure(error: unknown): Promise<CreateState<T>> {
    const delayMs = NEW_GROUP_DELAYS_MS[this.groupWaits];
    if (delayMs !== undefined && mayEndSoon(error) && (await this.steps.isBelowNewGroup?.()) === true) {
      return { name: "waitingForNewGroup", delayMs };
    }
    const refused = { name: "refused", error } as const;
    if (this.steps.isIdempotent) return refused;
    if (!hasUnknownOutcome(error)) {
      // What is refused now may exist because an earlier send has arrived.
      return this.lost === undefined
        ? refused
        : { name: "lookingForLostCreate", delaysMs: [0], otherwise: refused };
    }
    this.lost = error;
    this.sends += 1;
    const otherwise =
      this.sends < MAX_SENDS
        ? ({ name: "sending" } as const)
        : ({ name: "unknown", error: this.steps.explainUnknown(error, this.sends) } as const);
    return { name: "lookingForLostCreate", delaysMs: LOOK_DELAYS_MS, otherwise };
  }

  private async waitForNewGroup(delayMs: number): Promise<CreateState<T>> {
    this.groupWaits += 1;
    await this.steps.refreshToken?.();
    await this.steps.sleep(delayMs);
    return { name: "sending" };
  }

  private async look(delaysMs: readonly number[], otherwise: CreateState<T>): Promise<CreateState<T>> {
    const [delayMs, ...later] = delaysMs;
    if (delayMs === undefined) return otherwise;
    if (delayMs > 0) await this.steps.sleep(delayMs);
    const result = await this.steps.findLostCreate(this.lost);
    // What was found may be the work of any send, so there is no other to name.
    if (result !== undefined) return { name: "created", created: { result, lost: undefined } };
    return { name: "lookingForLostCreate", delaysMs: later, otherwise };
  }
}

/** A parent that is not known everywhere yet refuses either way. An explained error is judged by its cause. */
function mayEndSoon(error: unknown): boolean {
  const reason = error instanceof HandlerError ? error.cause : error;
  return isPermissionDenied(reason) || isNotFound(reason);
}

function isFinal<T>(state: CreateState<T>): state is FinalState<T> {
  return state.name === "created" || state.name === "refused" || state.name === "unknown";
}

/** Creates, and finds out what became of a create without a response. @throws the error of a create that failed */
export async function createAndVerify<T>(steps: CreateSteps<T>): Promise<Created<T>> {
  const machine = new CreateMachine(steps);
  let state: CreateState<T> = { name: "sending" };
  while (!isFinal(state)) state = await machine.next(state);
  if (state.name !== "created") throw state.error;
  return state.created;
}
