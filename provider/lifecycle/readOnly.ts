import { CodedError, errorCodeOf } from "../errors/codedError";
import type { Api, Host } from "../fields/resourceSpec";

const refuse = (): Promise<never> =>
  Promise.reject(new CodedError("PP9001", "only what exists is read here"));

/** An API of which a kind's operations can read, and write nothing. */
export function readOnly(reads: Pick<Api, "address" | "get" | "list">): Api {
  return {
    ...reads,
    maxConcurrency: 1,
    getCallerClaims: () => Promise.resolve(undefined),
    post: refuse,
    createShared: refuse,
    listShared: refuse,
    patchAt: refuse,
    delete: refuse,
  };
}

/** The host of operations that only read: it prints no warning and never waits. */
export const readingHost: Host = {
  now: Date.now,
  sleep: () => Promise.resolve(),
  warn: () => undefined,
  isOwned: () => false,
  isDeclared: () => false,
  explain: (what, error) =>
    new CodedError(errorCodeOf(error), `${what}: ${error instanceof Error ? error.message : "it failed"}`),
};
