import { readFileSync } from "node:fs";
import { join } from "node:path";
import { startEmulator } from "../../../emulator";
import { CommandChain } from "../../support/commandChain";
import { ROOT } from "../../support/engine";
import { spreadOf } from "../../support/properties";
import type { Ended } from "./support";

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
  const chain = new CommandChain();
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
    refused: [{ kind: "Repo", scope: root, code: "PERMISSION_DENIED", errorCode: "PP3403", message: "no" }],
    kinds: [...new Set(objects.map(({ kind }) => kind))],
    objects: [
      ...objects,
      { kind: "Identity", uid: `${root}/${"f".repeat(16)}`, inputs: { parentUid: root, name: "by hand" } },
    ],
  });
  const documents = {
    "preview.json": hostile(fixture("update-shown.json")),
    "failing.json": hostile(fixture("program-fails.json")),
    "export.json": hostile(state),
    "recorded.json": state,
    "inventory.json": live,
    "policy.yaml": { allow: [{ rule: HOSTILE, reason: "x" }] },
  };
  for (const [name, document] of Object.entries(documents)) chain.write(name, JSON.stringify(document));
  const HOST = chain.path(HOSTILE);

  const expectPlain = ({ stdout, stderr }: Ended, shown = "EVIL") => {
    // Those that GitHub is to carry out are ours.
    expect(stdout.replace(/^::(error|warning|notice) /gm, "")).not.toMatch(COMMANDING);
    expect(stderr).not.toMatch(COMMANDING);
    expect(stdout + stderr).toContain(shown);
  };

  const forms = ["text", "json", "md", "html", "sarif", "github", "codequality"];
  const lines = [
    ...forms.flatMap((form) => [
      `review preview.json -o ${form}`,
      `drift --state recorded.json --inventory inventory.json -o ${form}`,
      `drift --state export.json --inventory inventory.json -o ${form}`,
    ]),
    ...["text", "json"].flatMap((form) => [
      `access --state export.json -o ${form}`,
      `access --inventory inventory.json -o ${form}`,
      `access --preview preview.json -o ${form}`,
    ]),
    "review preview.json --policy policy.yaml",
  ];
  test.each(spreadOf(lines, 9, 0))("%s", async (line) => {
    expectPlain(await chain.run(...chain.wordsOf(line)));
  });

  test.each(forms)("review of a preview that failed, as %s", async (form) => {
    expectPlain(await chain.run("review", chain.path("failing.json"), "-o", form), "");
  });

  test("adopt, and the program that it writes", async () => {
    expectPlain(await chain.run(...chain.wordsOf("adopt --inventory inventory.json --out adopted.ts")));
    expect(chain.read("adopted.ts/index.ts")).not.toMatch(COMMANDING);
  });

  test("inventory", async () => {
    // Past the rules of this server: another may take what it refuses.
    const groups = [{ uid: "a".repeat(40), name: HOSTILE, description: HOSTILE }];
    const emulator = await startEmulator({ seed: { groups } });
    emulator.addFault({ path: "/iam/v2/roleBindings", status: 403, body: { code: 7, message: HOSTILE } });
    const online = new CommandChain(emulator);
    for (const form of ["text", "json"])
      expectPlain(await online.run("inventory", "--root", "a".repeat(40), "-o", form));
    await emulator.close();
  });

  test("arguments", async () => {
    expectPlain(await chain.run("explain", HOSTILE));
    expectPlain(await chain.run("review", HOST));
  });
});
