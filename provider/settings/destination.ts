import { ConfigError } from "../api/errors";

/** A setting that decides where a credential goes, or what it is made for. */
export interface Destination {
  readonly value: string;
  /** As in "platform:baseUrl". */
  readonly key: string;
  /** The environment variable of the same setting. */
  readonly variable: string;
  /** The value is that of the stack configuration. */
  readonly isOfStack: boolean;
  /** What it is where it is not set: derived from a destination before it in the list. */
  readonly fallback: string | undefined;
  /** What the environment says; undefined where it says nothing. Throws where that is malformed. */
  readonly environmentValue: () => string | undefined;
}

/**
 * Refuses to send a credential of the environment where only a stack file says so: whoever can change that file, in a
 * pull request for example, would receive the credential.
 *
 * @param credential the setting that holds it.
 */
export function confirmDestinations(
  credential: string,
  destinations: readonly (Destination | undefined)[],
): void {
  for (const destination of destinations) {
    if (destination?.isOfStack) requireConfirmation(credential, destination);
  }
}

function requireConfirmation(
  credential: string,
  { value, key, variable, fallback, environmentValue }: Destination,
): void {
  const given = environmentValue();
  if ((given ?? fallback) === value) return;
  const found = `${key} is ${JSON.stringify(value)}`;
  const why = `the credential of ${credential} belongs to this machine, and a stack file alone may not say where it goes`;
  if (given === undefined) {
    throw new ConfigError("PP2004", `${why}: ${found}; to confirm that, set ${variable} to the same value`);
  }
  throw new ConfigError(
    "PP2004",
    `${why}: ${found}, but ${variable} is ${JSON.stringify(given)}; remove ${key}, or give both the same value (refresh and destroy use the stack configuration of the last update)`,
  );
}
