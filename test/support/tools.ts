import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { ROOT } from "./engine";

/** What a tool of this repository answered. */
export interface Answered {
  readonly status: number | null;
  readonly output: string;
}

export const clean: Answered = { status: 0, output: "" };

/** Runs the script of an installed package: `prettier/bin/prettier.cjs`. */
export function tool(path: string, args: readonly string[], cwd: string): Answered {
  const script = join(ROOT, "node_modules", path);
  const { status, stdout, stderr } = spawnSync(process.execPath, [script, ...args], {
    cwd,
    encoding: "utf8",
  });
  return { status, output: stdout + stderr };
}

/** Compiles a folder as its tsconfig.json says. */
export const compile = (folder: string): Answered => tool("typescript/bin/tsc", ["-p", "."], folder);

/** Checks the programs of a folder by the rules of correctness that oxlint recommends. */
export function lint(folder: string): Answered {
  const options = ["--disable-nested-config", "--format=unix", "--max-warnings=0"];
  return tool("oxlint/bin/oxlint", [...options, "--ignore-pattern=node_modules"], folder);
}
