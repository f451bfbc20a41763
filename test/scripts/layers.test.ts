import { execFileSync } from "node:child_process";
import { resolve } from "node:path";

const root = resolve(__dirname, "../..");

/** What a file must not import, by design: one line a boundary. */
const forbidden: [string, string][] = [
  ["provider/engine/spec.ts", "./values"],
  ["provider/engine/check.ts", "../api/client"],
  ["provider/engine/formats.ts", "../config"],
  ["provider/engine/wire.ts", "@pulumi/pulumi"],
  ["provider/engine/wire.ts", "./sdk"],
  ["provider/engine/fieldMask.ts", "./handlers"],
  ["provider/engine/handlers.ts", "../resources/group"],
  ["provider/engine/handlers.ts", "@pulumi/pulumi"],
  ["provider/engine/handlers.ts", "axios"],
  ["provider/engine/handlers.ts", "../../emulator"],
  ["provider/engine/messages.ts", "../cli/main"],
  ["provider/engine/dynamic.ts", "../index"],
  ["provider/engine/resource.ts", "./handlers"],
  ["provider/engine/resource.ts", "@pulumi/pulumi"],
  ["provider/engine/resource.ts", "../api/client"],
  ["provider/engine/ownership.ts", "../api/client"],
  ["provider/api/client.ts", "../engine/spec"],
  ["provider/api/client.ts", "@pulumi/pulumi"],
  ["provider/api/uid.ts", "node:url"],
  ["provider/api/loopback.ts", "./uid"],
  ["provider/events/verifyEvent.ts", "../api/uid"],
  ["provider/resources/role.ts", "../api/client"],
  ["provider/resources/role.ts", "axios"],
  ["provider/functions/role.ts", "../cli/main"],
  ["provider/functions/invoke.ts", "@pulumi/pulumi"],
  ["provider/config.ts", "./resources"],
  ["provider/index.ts", "./cli/main"],
  ["emulator/index.ts", "../provider"],
  ["emulator/index.ts", "@pulumi/pulumi"],
];

const PROBE = `
import { readFileSync } from "node:fs";
import { ESLint } from "eslint";
const eslint = new ESLint({ ruleFilter: ({ ruleId }) => ruleId === "no-restricted-imports" });
const caught = [];
for (const [file, target] of JSON.parse(process.env.PROBES)) {
  const code = readFileSync(file, "utf8") + "\\nimport " + JSON.stringify(target) + ";\\n";
  const [{ messages }] = await eslint.lintText(code, { filePath: file });
  caught.push(messages.some(({ ruleId }) => ruleId === "no-restricted-imports"));
}
console.log(JSON.stringify(caught));
`;

test("lint holds every boundary between the layers", () => {
  const output = execFileSync(process.execPath, ["--input-type=module", "-e", PROBE], {
    cwd: root,
    encoding: "utf8",
    // In a single run, as in CI, the parser takes the text on disk for the text that is given.
    env: { ...process.env, TSESTREE_SINGLE_RUN: "false", PROBES: JSON.stringify(forbidden) },
  });
  const caught = JSON.parse(output) as boolean[];
  expect(forbidden.filter((_, i) => caught[i] !== true)).toEqual([]);
  expect(caught).toHaveLength(forbidden.length);
});
