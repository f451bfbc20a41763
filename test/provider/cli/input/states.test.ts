import { writeFileSync, mkdirSync } from "node:fs";
import { delimiter, join } from "node:path";
import { readStates } from "../../../../provider/cli/input/states";
import { temporaryFolder } from "../../../support/folders";

const folder = temporaryFolder();
const OF_ALL = { kind: "update", result: "succeeded", environment: {} };
const TARGETED = { ...OF_ALL, environment: { "pulumi.flag.target": "set", "pulumi.flag.refresh": "set" } };
const FAILED = { ...TARGETED, result: "failed" };

/** What is read of a stack with this history, newest first. */
async function readWith(history: readonly object[]): Promise<boolean | undefined> {
  const script = `#!/bin/sh
case "$1 $2" in
  "stack export") echo '{ "version": 3, "deployment": {} }' ;;
  "stack history") echo '${JSON.stringify(history)}' ;;
  *) echo "unknown: $*" >&2 && exit 9 ;;
esac
`;
  mkdirSync(join(folder, "bin"), { recursive: true });
  writeFileSync(join(folder, "bin", "pulumi"), script, { mode: 0o755 });
  writeFileSync(join(folder, "Pulumi.yaml"), "name: acme\nruntime: nodejs\n");
  const path = process.env["PATH"] ?? "";
  process.env["PATH"] = `${join(folder, "bin")}${delimiter}${path}`;
  try {
    const [state] = await readStates([], ["prod"], folder);
    return state?.hasFailedUpdate;
  } finally {
    process.env["PATH"] = path;
  }
}

test.each<[string, readonly object[], true | undefined]>([
  ["nothing", [], undefined],
  ["an update", [OF_ALL], undefined],
  ["one that failed", [FAILED, OF_ALL], true],
  ["one that failed, and one of other resources", [TARGETED, FAILED, OF_ALL], true],
  ["one that failed, and a refresh", [{ kind: "refresh", result: "succeeded" }, FAILED, OF_ALL], true],
  ["one that failed, and one of all", [OF_ALL, FAILED], undefined],
  ["one that failed as the only one", [FAILED], true],
])("a stack whose history is %s", async (_title, history, expected) => {
  expect(await readWith(history)).toBe(expected);
});
