import { spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parse } from "yaml";
import { parsePolicy } from "../../provider/access/suppressions/policyDocument";
import { commands } from "../../provider/cli/commands/list";
import { parseFlags } from "../../provider/cli/framework/flags";
import { ROOT } from "./engine";
import { isShell } from "./pages";
import type { Fence, Page } from "./pages";

/*
 * What is wrong with the fences of a page, as far as that can be known without running them.
 */

/** Output and drawings: nothing can be checked in them. */
const SHOWN = ["text", "mermaid"];
/** The test of the pages runs the first two, and compiles the others. */
const RUN = ["sh", "bash", "ts", "js"];

/**
 * Evaluates each argument, and prints what it calls of this package's command line, of npm and of node; every other command
 * does nothing. Control characters separate the arguments, the calls and the texts.
 */
const RECORDER = String.raw`
PATH=/nonexistent
exec 3>&1
record() { local IFS=$'\x1f'; printf '%s\x1e' "$*" >&3; }
cd() { :; }
pulumi-platform() { record pulumi-platform "$@"; }
npx() {
  while [ "$1" = --no ] || [ "$1" = --yes ] || [ "$1" = -- ]; do shift; done
  "$@"
}
command_not_found_handle() {
  case "$1 $2" in
    "node "*/provider/cli/main.js) shift 2; record pulumi-platform "$@" ;;
    "npm run" | "npm test" | "node "*) record "$@" ;;
  esac
}
for text; do
  printf '\x1d'
  error=$( { eval "$text"; } 2>&1 >/dev/null )
  case "$error" in *"syntax error"* | *"unexpected EOF"*) record error "$error" ;; esac
done
`;

/** The calls of each text of the shell, with their arguments; an error of its syntax is the call `error`. */
function recordCalls(texts: readonly string[]): string[][][] {
  // A placeholder is a word, and no redirection; a variable that the reader has set has a value.
  const words = texts.map((text) => text.replaceAll(/<[a-z][\w .-]*>/gi, "PLACEHOLDER"));
  const variables = words.flatMap((text) => text.match(/(?<=\$\{?)[A-Z]\w+/g) ?? []);
  // What a command redirects into a file is written.
  const cwd = mkdtempSync(join(tmpdir(), "pages-"));
  const { stdout } = spawnSync("bash", ["-c", RECORDER, "bash", ...words], {
    cwd,
    encoding: "utf8",
    env: Object.fromEntries(variables.map((name) => [name, name])),
  });
  rmSync(cwd, { recursive: true });
  const recorded = stdout.split("\x1d").slice(1);
  return recorded.map((calls) =>
    calls
      .split("\x1e")
      .slice(0, -1)
      .map((call) => call.split("\x1f")),
  );
}

/** The command as a reader types it, or the help of the command line itself. */
function commandProblem([name = "", ...argv]: readonly string[]): string | undefined {
  if (name.startsWith("-") || name === "help") return undefined;
  const entry = commands.find((command) => command.name === name);
  if (entry === undefined) return `there is no command ${name}`;
  const flags = {
    ...entry.load().description.flags,
    help: { type: "boolean", short: "h", help: "" },
  } as const;
  try {
    parseFlags(name, flags, argv);
    return undefined;
  } catch (error) {
    return `${name}: ${(error as Error).message}`;
  }
}

const { scripts } = JSON.parse(readFileSync(join(ROOT, "package.json"), "utf8")) as { scripts: object };

function callProblem([program = "", first = "", ...others]: readonly string[]): string | undefined {
  if (program === "error") return first;
  if (program === "pulumi-platform") return commandProblem([first, ...others]);
  if (program === "npm") {
    const script = first === "test" ? first : (others.find((word) => !word.startsWith("-")) ?? "");
    return Object.hasOwn(scripts, script) ? undefined : `package.json has no script ${script}`;
  }
  return first.startsWith("scripts/") && !existsSync(join(ROOT, first)) ? `there is no ${first}` : undefined;
}

/** What a terminal shows after the prompt. */
const typed = ({ language, text }: Fence): string =>
  language === "console" ? (text.match(/(?<=^\$ ).*$/gm) ?? []).join("\n") : text;

function dataProblem({ language, text }: Fence): string | undefined {
  try {
    if (language === "json") JSON.parse(text);
    if (language === "yaml" && /^allow:/m.test(text)) parsePolicy(text, "policy");
    else if (language === "yaml") parse(text);
    return undefined;
  } catch (error) {
    return (error as Error).message;
  }
}

/** A date in an output, or a time in a program: a reader gets another one, or another output. */
function dateProblem({ language, text }: Fence): string | undefined {
  const isOutput = language === "text" || language === "console";
  const [date] = (isOutput ? /\b20\d\d-\d\d-\d\d/ : /\b20\d\d-\d\d-\d\dT/).exec(text) ?? [];
  return date === undefined ? undefined : `${date} is another one in each run: write <date> or <time>`;
}

/** Whether a test runs a program, or a reader learns why none does. */
function runProblems({ language, reason }: Fence, { runBy }: Page): string[] {
  const isKnown = [...SHOWN, ...RUN, "yaml", "json", "python", "console"].includes(language);
  if (!isKnown) return [`the language "${language}" is not known: name it after the fence`];
  const needsTest = ["python", "console"].includes(language) && runBy === undefined && reason === undefined;
  const named = [...(reason ?? "").matchAll(/\btest\/[\w/.-]+\.ts/g)].map(([path]) => path);
  return [
    ...(needsTest ? ["no test runs it: write <!-- not run: the reason --> above it"] : []),
    ...named.filter((path) => !existsSync(join(ROOT, path))).map((path) => `there is no ${path}`),
  ];
}

/** The problems of a page, each with where it is. */
export function pageProblems(page: Page): string[] {
  const { fences, codeSpans, runBy } = page;
  const ofFences = fences.flatMap((fence) =>
    [...runProblems(fence, page), dataProblem(fence), dateProblem(fence)].map((problem) => [
      `line ${fence.line}`,
      problem,
    ]),
  );
  const shellTexts = [
    ...fences.filter(isShell).map((fence) => [`line ${fence.line}`, typed(fence)] as const),
    ...codeSpans
      .filter((span) => /^(npx )?(--no )?pulumi-platform [a-z]/.test(span))
      .map((span) => [`\`${span}\``, span] as const),
  ];
  const calls = recordCalls(shellTexts.map(([, text]) => text));
  const ofCalls = shellTexts.flatMap(([place], index) =>
    (calls[index] ?? []).map((call) => [place, callProblem(call)]),
  );
  return [
    [
      "the comment",
      runBy === undefined || existsSync(join(ROOT, runBy)) ? undefined : `there is no ${runBy}`,
    ],
    ...ofFences,
    ...ofCalls,
  ].flatMap(([place, problem]) => (problem === undefined ? [] : [`${place ?? ""}: ${problem}`]));
}
