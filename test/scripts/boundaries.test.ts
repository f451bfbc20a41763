import { execFileSync } from "node:child_process";
import { appendFileSync, cpSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";

const root = resolve(__dirname, "../..");

/** What a file must not import, by design: one line a boundary. */
const forbidden: [string, string][] = [
  ["provider/fields/check.ts", "../http/client"],
  ["provider/fields/formats.ts", "../settings/settings"],
  ["provider/fields/wire.ts", "@pulumi/pulumi"],
  ["provider/fields/wire.ts", "../program/sdk"],
  ["provider/fields/patch.ts", "../lifecycle/handlers"],
  ["provider/lifecycle/handlers.ts", "../kinds/group"],
  ["provider/lifecycle/handlers.ts", "@pulumi/pulumi"],
  ["provider/lifecycle/handlers.ts", "axios"],
  ["provider/lifecycle/handlers.ts", "../../emulator"],
  ["provider/lifecycle/messages.ts", "../cli/main"],
  ["provider/lifecycle/create.ts", "../program/sdk"],
  ["provider/dynamic.ts", "./index"],
  ["provider/program/resource.ts", "../lifecycle/handlers"],
  ["provider/program/resource.ts", "@pulumi/pulumi"],
  ["provider/program/resource.ts", "../http/client"],
  ["provider/program/ownership.ts", "../http/client"],
  ["provider/http/client.ts", "../fields/resourceSpec"],
  ["provider/http/client.ts", "@pulumi/pulumi"],
  ["provider/text/address.ts", "../http/errors"],
  ["provider/events/verifyEvent.ts", "../http/client"],
  ["provider/kinds/role.ts", "../http/client"],
  ["provider/kinds/role.ts", "axios"],
  ["provider/lookups/ofKinds.ts", "../cli/main"],
  ["provider/lookups/arguments.ts", "./image"],
  ["provider/lookups/invoke.ts", "@pulumi/pulumi"],
  ["provider/settings/settings.ts", "../kinds"],
  ["provider/index.ts", "./cli/main"],
  ["provider/access/graph/keys.ts", "../review/compare"],
  ["provider/access/documents/preview.ts", "../graph/keys"],
  ["provider/inventory/takeInventory.ts", "../cli/main"],
  ["emulator/index.ts", "../provider"],
  ["emulator/index.ts", "@pulumi/pulumi"],
];

/** A file of a folder that has no row in the table. */
const UNLISTED = "provider/unlisted/module.ts";

interface Cruise {
  readonly summary: { readonly violations: readonly { readonly from: string; readonly to: string }[] };
}

/** Runs `npm run check:boundaries` over a copy of the sources with the forbidden imports. */
function cruiseWithForbidden(): Cruise {
  const copy = mkdtempSync(join(tmpdir(), "pulumi-platform-boundaries-"));
  try {
    for (const name of ["provider", "emulator", "tsconfig.json", ".dependency-cruiser.cjs"]) {
      cpSync(join(root, name), join(copy, name), { recursive: true });
    }
    symlinkSync(join(root, "node_modules"), join(copy, "node_modules"));
    for (const [file, target] of forbidden)
      appendFileSync(join(copy, file), `\nimport ${JSON.stringify(target)};\n`);
    mkdirSync(join(copy, "provider/unlisted"));
    writeFileSync(join(copy, UNLISTED), 'import "../text/uid";\n');
    const cruiser = join(root, "node_modules/dependency-cruiser/bin/dependency-cruise.mjs");
    const args = [cruiser, "provider", "emulator", "--output-type", "json"];
    return JSON.parse(
      execFileSync(process.execPath, args, { cwd: copy, maxBuffer: 2 ** 28 }).toString(),
    ) as Cruise;
  } finally {
    rmSync(copy, { recursive: true, force: true });
  }
}

test("every forbidden import is found, and a folder without a row", () => {
  const { violations } = cruiseWithForbidden().summary;
  const caught = (file: string, target: string) =>
    violations.some(({ from, to }) => from === file && to.includes(target.replace(/^[./]+/, "")));
  expect(forbidden.filter(([file, target]) => !caught(file, target))).toEqual([]);
  expect(caught(UNLISTED, "text/uid")).toBe(true);
});
