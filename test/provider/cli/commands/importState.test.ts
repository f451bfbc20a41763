import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { importState } from "../../../../provider/cli/commands/adopt/importState";

const EXPORTED = JSON.stringify({ version: 3, deployment: { manifest: {} } });
const CHANGED = JSON.stringify({ version: 3, deployment: { manifest: { time: "later" } } });

let folder: string;
let path: string | undefined;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "pulumi-platform-import-"));
  for (const name of ["bin", "out", "imported"]) mkdirSync(join(folder, name));
  path = process.env["PATH"];
  process.env["PATH"] = [join(folder, "bin"), path].join(delimiter);
});

afterEach(() => {
  process.env["PATH"] = path;
  rmSync(folder, { recursive: true });
});

/** Puts a CLI on PATH that has this state, and whose preview after the import ends with this exit code. */
function installPulumi({ state = EXPORTED, checked = 0 }): void {
  const script = `#!/bin/sh
case "$1 $2" in
  "config --json") echo '{}' ;;
  "preview --json") echo '{ "steps": [] }' ;;
  "stack export") printf %s '${state}' ;;
  "stack import") cp "$6" '${folder}/imported/'$(ls '${folder}/imported' | wc -l | tr -d ' ') ;;
  "preview --expect-no-changes") echo "1 change" && exit ${checked} ;;
  *) echo "unknown: $*" >&2 && exit 9 ;;
esac
`;
  writeFileSync(join(folder, "bin", "pulumi"), script, { mode: 0o755 });
}

const run = (): Promise<string> =>
  importState(
    { stack: "prod", out: join(folder, "out"), exported: EXPORTED },
    { code: "", resources: [], skipped: [] },
  );

/** The states that were imported, in their order. */
const imported = (): unknown[] =>
  readdirSync(join(folder, "imported"))
    .sort()
    .map((name) => JSON.parse(readFileSync(join(folder, "imported", name), "utf8")) as unknown);

test("the previous state is kept in a file", async () => {
  installPulumi({});
  await expect(run()).resolves.toMatch(/^0 resources are in the state of prod; backup .*before-adopt\.json$/);
  expect(imported()).toHaveLength(1);
  expect(readFileSync(join(folder, "out", "prod.before-adopt.json"), "utf8")).toBe(EXPORTED);
});

test("imports nothing into a stack that another run has changed", async () => {
  installPulumi({ state: CHANGED });
  await expect(run()).rejects.toMatchObject({
    errorCode: "PP5012",
    message: expect.stringMatching(/^stack prod changed during the run: nothing was imported/) as unknown,
  });
  expect(imported()).toEqual([]);
});

test("restores the previous state if the program would change something afterwards", async () => {
  installPulumi({ checked: 255 });
  await expect(run()).rejects.toMatchObject({
    errorCode: "PP5012",
    message: expect.stringMatching(/the state was put back as it was .*ended with 255 1 change$/s) as unknown,
  });
  expect(imported()).toHaveLength(2);
  expect(imported()[1]).toEqual(JSON.parse(EXPORTED));
});
