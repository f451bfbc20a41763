import { CodedError, hasCode } from "../../errors/codedError";

/** The exit codes of all commands, their help and the documents. */
const exitCodeTable = [
  ["clean", 0, "success; nothing found"],
  // A crash and a failed `npx` are 1 too, so 1 never means a finding.
  ["error", 1, "something failed: a request, another program, a check of doctor, or the output"],
  ["usage", 2, "wrong arguments, settings or files"],
  ["authentication", 3, "the credential is missing, refused or expired"],
  ["incomplete", 4, "incomplete: something was not checked"],
  ["reviewFindings", 5, "findings"],
  ["drift", 7, "drift"],
] as const;

export type ExitCodeName = (typeof exitCodeTable)[number][0];

export const exitCodes = Object.fromEntries(exitCodeTable.map(([name, code]) => [name, code])) as {
  readonly [Row in (typeof exitCodeTable)[number] as Row[0]]: Row[1];
};

/** The rows of the table that a command can end with. */
export function exitCodeRows(names: readonly ExitCodeName[]): readonly (readonly [number, string])[] {
  return exitCodeTable
    .filter(([name]) => names.includes(name))
    .map(([, code, meaning]) => [code, meaning] as const);
}

/** Every exit code, for the documents. */
export const allExitCodes: readonly ExitCodeName[] = exitCodeTable.map(([name]) => name);

/** An argument, or a file that it names, is wrong: one line that names what to write instead. */
export class UsageError extends CodedError {
  override readonly name = "UsageError";
  readonly code = "USAGE";
}

/** The exit code for an error that ends a command: whether other arguments, or another credential, can help. */
export function exitCodeOf(error: unknown): number {
  if (hasCode(error, "USAGE") || hasCode(error, "CONFIG")) return exitCodes.usage;
  const isAuthentication = ["CREDENTIAL", "AUTHENTICATION", "UNAUTHENTICATED"].some((code) =>
    hasCode(error, code),
  );
  return isAuthentication ? exitCodes.authentication : exitCodes.error;
}
