import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { delimiter, join } from "node:path";
import type { AdoptedResource } from "../../../../provider/access/adopt/program";
import { importState } from "../../../../provider/cli/commands/adopt/importState";
import { temporaryFolder } from "../../../support/folders";

const EXPORTED = JSON.stringify({ version: 3, deployment: { manifest: {} } });
const ROOT_UID = "a".repeat(40);
const CHANGED = JSON.stringify({ version: 3, deployment: { manifest: { time: "later" } } });

let folder: string;
let path: string | undefined;

beforeEach(() => {
  folder = temporaryFolder();
  for (const name of ["bin", "out", "imported"]) mkdirSync(join(folder, name));
  path = process.env["PATH"];
  process.env["PATH"] = [join(folder, "bin"), path].join(delimiter);
});

afterEach(() => {
  process.env["PATH"] = path;
});

/** Puts a CLI on PATH that has this state, and whose preview after the import ends with this exit code. */
function installPulumi({
  state = EXPORTED,
  checked = 0,
  config = "{}",
  preview = '{ "steps": [] }',
  fails = false,
}): void {
  const script = `#!/bin/sh
case "$1 $2" in
  "config --json") echo '${config}' ;;
  "preview --json") echo '${preview}'; exit ${fails ? 255 : 0} ;;
  "stack export") printf %s '${state}' ;;
  "stack import") cp "$4" '${folder}/imported/'$(ls '${folder}/imported' | wc -l | tr -d ' ') ;;
  "preview --expect-no-changes") echo "1 change" && exit ${checked} ;;
  *) echo "unknown: $*" >&2 && exit 9 ;;
esac
`;
  writeFileSync(join(folder, "bin", "pulumi"), script, { mode: 0o755 });
}

const run = (resources: AdoptedResource[] = [], settings: Record<string, string> = {}): Promise<string> =>
  importState(
    { stack: "prod", out: join(folder, "out"), exported: EXPORTED },
    { code: "", files: {}, resources, skipped: [], settings },
  );

/** Expects that nothing is imported, and why. */
const refuses = (importing: Promise<string>, errorCode: string, message: RegExp) =>
  expect(importing).rejects.toMatchObject({ errorCode, message: expect.stringMatching(message) as unknown });

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
  await expect(run()).resolves.toMatch(/prod\.before-adopt\.1\.json$/);
});

test("imports nothing where the preview fails, and says why", async () => {
  const diagnostics = [{ severity: "error", message: "config: rootUid is missing" }];
  installPulumi({ preview: JSON.stringify({ steps: [], diagnostics }), fails: true });
  await refuses(run(), "PP5009", /^the preview of the program fails:\n.*rootUid is missing$/);
  installPulumi({ preview: "no document", fails: true });
  await refuses(run(), "PP5009", /^pulumi preview --json .*ended with 255$/);
  expect(imported()).toEqual([]);
});

test("imports nothing into a stack that another run has changed", async () => {
  installPulumi({ state: CHANGED });
  await refuses(run(), "PP5012", /^stack prod changed during the run: nothing was imported/);
  expect(imported()).toEqual([]);
});

test("restores the previous state if the program would change something afterwards", async () => {
  installPulumi({ checked: 255 });
  await refuses(run(), "PP5012", /the state was put back as it was .*ended with 255 1 change$/s);
  expect(imported()).toHaveLength(2);
  expect(imported()[1]).toEqual(JSON.parse(EXPORTED));
});

describe("a secret that the program reads", () => {
  const token: AdoptedResource = {
    kind: "IdentityProvider",
    name: "staff",
    uid: "a".repeat(40),
    inputs: {},
    secrets: [{ path: "oidc.clientSecret", key: "staffSecret" }],
  };
  const importWith = (config: Record<string, string>, file = "Pulumi.yaml"): Promise<string> => {
    const values = Object.entries({ "organisation:rootUid": ROOT_UID, ...config }).map(([key, value]) => [
      key,
      { value, secret: true },
    ]);
    installPulumi({ config: JSON.stringify(Object.fromEntries(values)) });
    writeFileSync(join(folder, file), "name: organisation\nruntime: nodejs\n");
    return run([token], { rootUid: ROOT_UID });
  };

  it.each<Record<string, string>>([
    { "other:staffSecret": "of another project" },
    { "platform:staffSecret": "of the package" },
    { "other:organisation:staffSecret": "of a longer key" },
    { "organisation:staffSecret2": "of another key" },
    {},
  ])("is not set by %j", async (config) => {
    const message =
      /never returns a secret:\n.*pulumi config set --secret staffSecret --stack prod --cwd .+$/;
    await refuses(importWith(config), "PP6007", message);
  });

  it.each(["", "b".repeat(40)])("is set where rootUid is %j, which is named", async (rootUid) => {
    const config = { "organisation:staffSecret": "hush", "organisation:rootUid": rootUid };
    const message = `never returns a secret:\n.*pulumi config set rootUid ${ROOT_UID} --stack prod --cwd .+$`;
    await refuses(importWith(config), "PP6007", new RegExp(message));
  });

  // The preview of this CLI creates nothing, so that only the secret is found.
  it.each(["Pulumi.yaml", "Pulumi.yml", join("out", "Pulumi.yaml"), join("out", "Pulumi.json")])(
    "is read from the namespace of the project in %s, whatever comes first",
    async (file) => {
      const config = { "other:staffSecret": "wrong", "organisation:staffSecret": "right" };
      await refuses(importWith(config, file), "PP6007", /^the preview creates no IdentityProvider "staff"/);
    },
  );
});
