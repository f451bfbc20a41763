import { spawnSync } from "node:child_process";
import { writeFileSync } from "node:fs";
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

/** Checks the programs of a folder by the rules that ESLint and its TypeScript parser recommend. */
export function lint(folder: string): Answered {
  writeFileSync(
    join(folder, "eslint.config.mjs"),
    `import eslint from "@eslint/js";
import tseslint from "typescript-eslint";
export default tseslint.config(eslint.configs.recommended, tseslint.configs.recommended);
`,
  );
  return tool("eslint/bin/eslint.js", ["*.ts"], folder);
}
