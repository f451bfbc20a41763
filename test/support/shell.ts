import { mkdtempSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { runInNewContext } from "node:vm";
import type { Run } from "./engine";
import { run } from "./project";

export type Values = Readonly<Record<string, string>>;

/**
 * Runs a script of a job as a runner does: by bash, which ends at the first command that fails.
 *
 * @param scratch The folder for the script itself.
 */
export async function runScript(script: string, cwd: string, env: Values, scratch: string): Promise<Run> {
  const file = join(mkdtempSync(join(scratch, "step-")), "script.sh");
  writeFileSync(file, script);
  return await run("bash", ["-e", "-o", "pipefail", file], { cwd, env: { ...env } });
}

/** The value of an expression whose operators are those of JavaScript. */
export function evaluate(expression: string, names: object): unknown {
  return runInNewContext(expression, { ...names }) as unknown;
}

/** A value by its path; undefined where a part of the path is missing. */
export function valueAt(value: unknown, path: readonly string[]): unknown {
  return path.reduce<unknown>(
    (at, key) =>
      typeof at === "object" && at !== null && Object.hasOwn(at, key)
        ? (at as Readonly<Record<string, unknown>>)[key]
        : undefined,
    value,
  );
}
