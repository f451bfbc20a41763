import type { RefusedList } from "../access/documents/inventory";
import { ApiError, ConnectionError, printable } from "../api/errors";
import type { ResourceSpec } from "../engine/description";
import { compareTexts } from "../engine/values/values";

/** What could not be read. One refused list leaves the rest of an inventory readable. */
export class Refusals {
  private readonly refused: RefusedList[] = [];

  get isEmpty(): boolean {
    return this.refused.length === 0;
  }

  sorted(): RefusedList[] {
    return [...this.refused].sort(
      (a, b) =>
        compareTexts(a.kind, b.kind) ||
        compareTexts(a.scope ?? "", b.scope ?? "") ||
        compareTexts(a.code, b.code),
    );
  }

  /**
   * Runs an action and records its failure.
   *
   * @param isRecorded whether the same failure is recorded already.
   * @returns whether the action succeeded.
   * @throws what is no failure of the server, and UNAUTHENTICATED, which every other request would meet too.
   */
  async record(
    { kind }: ResourceSpec,
    scope: string | undefined,
    action: () => Promise<void>,
    isRecorded: () => boolean = () => false,
  ): Promise<boolean> {
    try {
      await action();
      return true;
    } catch (error) {
      const isServerFailure = error instanceof ApiError || error instanceof ConnectionError;
      if (!isServerFailure || error.code === "UNAUTHENTICATED") throw error;
      if (!isRecorded()) {
        const { code, errorCode, message } = error;
        this.refused.push({
          kind,
          ...(scope === undefined ? {} : { scope }),
          code,
          errorCode,
          message: printable(message),
        });
      }
      return false;
    }
  }

  /** Records the refusals of one kind for another that is read by it. */
  copy(from: string, to: string): void {
    for (const refusal of this.refused.filter(({ kind }) => kind === from)) {
      this.refused.push({ ...refusal, kind: to });
    }
  }
}
