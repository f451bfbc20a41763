import { exitCodeOf } from "../../../provider/cli/framework/exitCodes";
import { logFailure } from "../../../provider/cli/output/log";

/** What a command wrote, and what it answered. */
export interface Ended {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs a command in this process, in an environment of its own, as `provider/cli/main.ts` would. */
export async function runCommand(
  main: (argv: readonly string[]) => Promise<number>,
  argv: readonly string[],
  env: Readonly<Record<string, string | undefined>>,
): Promise<Ended> {
  const before = { ...process.env };
  const [stdout, stderr]: [string[], string[]] = [[], []];
  const take = (into: string[]) =>
    ((text: string | Uint8Array) => into.push(String(text)) > 0) as typeof process.stdout.write;
  const spies = [
    jest.spyOn(process.stdout, "write").mockImplementation(take(stdout)),
    jest.spyOn(process.stderr, "write").mockImplementation(take(stderr)),
    jest.spyOn(console, "error").mockImplementation((...words) => void stderr.push(`${words.join(" ")}\n`)),
    jest.spyOn(console, "log").mockImplementation((...words) => void stdout.push(`${words.join(" ")}\n`)),
  ];
  for (const key of Object.keys(process.env)) {
    if (/^(PLATFORM_|PULUMI_|GITHUB_|ACTIONS_ID_TOKEN|CI$)/.test(key))
      Reflect.deleteProperty(process.env, key);
  }
  Object.assign(process.env, env);
  try {
    const code = await main(argv).catch((error: unknown) => {
      if (!(error instanceof Error)) throw error;
      logFailure(error);
      return exitCodeOf(error);
    });
    return { code, stdout: stdout.join(""), stderr: stderr.join("") };
  } finally {
    for (const spy of spies) spy.mockRestore();
    process.env = before;
  }
}

/** What a command ends with that says this on standard error. */
export const ending = (code: number, said: string | RegExp): Pick<Ended, "code" | "stderr"> => ({
  code,
  stderr: (typeof said === "string" ? expect.stringContaining(said) : expect.stringMatching(said)) as string,
});
