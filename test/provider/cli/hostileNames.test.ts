import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { startEmulator } from "../../../emulator";
import { main as access } from "../../../provider/cli/commands/access";
import { main as adopt } from "../../../provider/cli/commands/adopt/adopt";
import { main as drift } from "../../../provider/cli/commands/drift";
import { main as explain } from "../../../provider/cli/commands/explain";
import { main as inventory } from "../../../provider/cli/commands/inventory";
import { main as review } from "../../../provider/cli/commands/review";
import { ROOT } from "../../support/engine";
import { runCommand } from "./support";
import { temporaryFolder } from "../../support/folders";
import { environmentOf } from "../../support/wire";

/** A title of the window, a cleared screen in both codings, text that runs backwards, a command of a CI job. */
const HOSTILE =
  "EVIL\u001b]0;x\u0007\u001b[2J\u009b2J\u007f\u202e\u2066\u200f\u2028\r\n::error::x ##[error]y ##vso[z]";
const COMMANDING =
  // eslint-disable-next-line no-control-regex
  /[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028\u2029\u202a-\u202e\u2066-\u2069]|^\s*::|##\[|##vso\[/mu;
const CHOSEN = ["name", "description", "subject", "email", "externalGroupId", "message", "clientId"];

/** A document in which everything that people choose is hostile: names, also the program's, files, messages. */
function hostile(value: unknown, key = ""): unknown {
  if (Array.isArray(value)) return value.map((item) => hostile(item, key));
  if (value !== null && typeof value === "object") {
    return Object.fromEntries(
      Object.entries(value).map(([name, member]) => [hostile(name), hostile(member, name)]),
    );
  }
  if (typeof value !== "string") return value;
  if (value.startsWith("urn:pulumi:") && !value.includes("pulumi:providers:")) return value + HOSTILE;
  if (value.startsWith("project:///")) return value.replace("project:///", `project:///${HOSTILE}`);
  if (key === "message") return HOSTILE + value;
  return CHOSEN.includes(key) ? value + HOSTILE : value;
}

const fixture = (name: string): unknown =>
  JSON.parse(readFileSync(join(ROOT, "test/fixtures/previews", name), "utf8"));

interface Recorded {
  readonly type: string;
  readonly id?: string;
  readonly inputs?: Record<string, unknown>;
}

describe("no name controls the terminal, in the output of any command:", () => {
  const folder = temporaryFolder();
  const write = (name: string, document: unknown): string => {
    const path = join(folder, name);
    writeFileSync(path, typeof document === "string" ? document : JSON.stringify(document));
    return path;
  };
  const state = fixture("export-v3.json") as { deployment: { resources: Recorded[] } };
  const objects = state.deployment.resources.flatMap(({ type, id, inputs }) => {
    const kind = type.split("platform:")[1];
    if (kind === undefined || id === undefined || Object.keys(inputs ?? {}).length === 0) return [];
    const own = Object.entries(inputs ?? {}).filter(([name]) => name !== "__provider");
    return [{ kind, uid: id, inputs: Object.fromEntries(own) }];
  });
  const root = objects.find(({ kind, uid }) => kind === "Group" && !uid.includes("/"))?.uid ?? "";
  const live = hostile({
    schemaVersion: 1,
    root,
    takenAt: "2026-01-01T00:00:00Z",
    complete: false,
    refused: [{ kind: "Repo", scope: root, code: "PERMISSION_DENIED", message: "no" }],
    kinds: [...new Set(objects.map(({ kind }) => kind))],
    objects: [
      ...objects,
      { kind: "Identity", uid: `${root}/${"f".repeat(16)}`, inputs: { parentUid: root, name: "by hand" } },
    ],
  });
  const preview = write("preview.json", hostile(fixture("update-shown.json")));
  const failing = write("failing.json", hostile(fixture("program-fails.json")));
  const exported = write("export.json", hostile(state));
  const recorded = write("recorded.json", state);
  const listed = write("inventory.json", live);
  const policy = write("policy.yaml", `allow:\n  - rule: ${JSON.stringify(HOSTILE)}\n    reason: x\n`);
  const forms = ["text", "json", "md", "html", "sarif", "github", "codequality"];

  const expectPlain = (
    { stdout, stderr }: { stdout: string; stderr: string },
    form = "text",
    shown = "EVIL",
  ) => {
    // Those that GitHub is to carry out are ours.
    const own = form === "github" ? stdout.replace(/^::(error|warning|notice) /gm, "") : stdout;
    expect(own).not.toMatch(COMMANDING);
    expect(stderr).not.toMatch(COMMANDING);
    expect(stdout + stderr).toContain(shown);
  };

  test.each(forms)("review as %s", async (form) => {
    expectPlain(await runCommand(review, [preview, "-o", form], {}), form);
    expectPlain(await runCommand(review, [failing, "-o", form], {}), form, "");
  });

  test.each(forms)("drift as %s", async (form) => {
    const argv = ["--state", recorded, "--inventory", listed, "-o", form];
    expectPlain(await runCommand(drift, argv, {}), form);
    expectPlain(await runCommand(drift, ["--state", exported, "--inventory", listed, "-o", form], {}), form);
  });

  test.each(["text", "json"])("access as %s", async (form) => {
    expectPlain(await runCommand(access, ["--state", exported, "-o", form], {}));
    expectPlain(await runCommand(access, ["--inventory", listed, "-o", form], {}));
    expectPlain(await runCommand(access, ["--preview", preview, "-o", form], {}));
  });

  test("adopt, and the program that it writes", async () => {
    const out = join(folder, "adopted");
    expectPlain(await runCommand(adopt, ["--inventory", listed, "--out", out], {}));
    expect(readFileSync(join(out, "index.ts"), "utf8")).not.toMatch(COMMANDING);
  });

  test("inventory", async () => {
    // Past the rules of this server: another may take what it refuses.
    const groups = [{ uid: "a".repeat(40), name: HOSTILE, description: HOSTILE }];
    const emulator = await startEmulator({ seed: { groups } });
    const env = environmentOf(emulator);
    emulator.addFault({ path: "/iam/v2/roleBindings", status: 403, body: { code: 7, message: HOSTILE } });
    const argv = ["--root", "a".repeat(40)];
    expectPlain(await runCommand(inventory, argv, env));
    expectPlain(await runCommand(inventory, [...argv, "-o", "json"], env));
    await emulator.close();
  });

  test("explain, arguments and the policy file", async () => {
    expectPlain(await runCommand(explain, [HOSTILE], {}));
    expectPlain(await runCommand(review, [preview, "--policy", policy], {}));
    expectPlain(await runCommand(review, [join(folder, HOSTILE)], {}));
  });
});
