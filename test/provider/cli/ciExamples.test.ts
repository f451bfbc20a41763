import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { parse } from "yaml";
import { ROOT } from "../../support/engine";

const folder = join(ROOT, "examples", "ci");
const files = readdirSync(folder).filter((name) => name.endsWith(".yml"));

/** Every text in a document: scripts are among them. */
function texts(value: unknown): string[] {
  if (typeof value === "string") return [value];
  if (typeof value !== "object" || value === null) return [];
  return Object.values(value).flatMap(texts);
}

interface Call {
  readonly command: string;
  readonly flags: readonly string[];
}

/** The commands of ours that a document's scripts run. */
function callsIn(value: unknown): Call[] {
  return texts(value).flatMap((text) =>
    [...text.matchAll(/npx (?:--yes )?pulumi-platform(?:@\S+)? (\S+)([^\n|;&]*)/g)].map(
      ([, command = "", rest = ""]) => ({
        command,
        flags: [...rest.matchAll(/(?<=\s)(--?[a-z][\w-]*)/g)].map(([, flag = ""]) => flag),
      }),
    ),
  );
}

async function helpOf(command: string): Promise<string> {
  const file = command === "post" ? "postReport" : command;
  const { main } = jest.requireActual<{ main: (argv: string[]) => Promise<number> }>(
    `../../../provider/cli/${file}`,
  );
  let help = "";
  const write = jest.spyOn(process.stdout, "write").mockImplementation((text) => {
    help += String(text);
    return true;
  });
  try {
    expect(await main(["--help"])).toBe(0);
  } finally {
    write.mockRestore();
  }
  return help;
}

test("there are examples for both hosts", () => {
  expect(files.sort()).toEqual([
    "access-drift.yml",
    "access-review-comment.yml",
    "access-review.yml",
    "gitlab-ci.yml",
  ]);
});

test.each(files)("%s is YAML, and the commands in it exist and know its flags", async (name) => {
  const calls = callsIn(parse(readFileSync(join(folder, name), "utf8"), { strict: true }));
  expect(calls.length).toBeGreaterThan(0);
  for (const { command, flags } of calls) {
    const help = await helpOf(command);
    for (const flag of flags) expect(help).toMatch(new RegExp(`(^|[\\s,])${flag}(?=[\\s,]|$)`, "m"));
  }
});

test("no workflow that runs a pull request's code may write, and none runs for a fork", () => {
  const review = parse(readFileSync(join(folder, "access-review.yml"), "utf8")) as {
    on: object;
    permissions: object;
    jobs: { review: { if: string; permissions?: object } };
  };
  expect(Object.keys(review.on)).toEqual(["pull_request"]);
  expect(review.permissions).toEqual({ contents: "read" });
  expect(review.jobs.review.permissions).toBeUndefined();
  expect(review.jobs.review.if).toContain("head.repo.full_name == github.repository");
  for (const name of files)
    expect(readFileSync(join(folder, name), "utf8")).not.toMatch(/^\s*pull_request_target:/m);
  const comment = readFileSync(join(folder, "access-review-comment.yml"), "utf8");
  expect(comment).not.toContain("actions/checkout");
  expect(comment).not.toContain("secrets.");
});

test("no script takes an expression of the event into a shell", () => {
  for (const name of files) {
    const scripts = texts(parse(readFileSync(join(folder, name), "utf8"))).filter((text) =>
      text.includes("pulumi"),
    );
    for (const script of scripts) expect(script).not.toContain("${{");
  }
});
