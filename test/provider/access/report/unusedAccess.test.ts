import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { main } from "../../../../provider/cli/commands/access";
import { acme, binding, group, identity, objectOf, owner, pinned } from "../../../support/access";
import { inventoryOf } from "../../../support/documents";
import { runCommand } from "../../cli/support";

const TAKEN = "2026-05-30T00:00:00Z";
const TIMES: Readonly<Record<string, object>> = {
  old: { lastSeenTime: "2026-02-28T23:59:59Z", createTime: "2020-01-01T00:00:00Z" },
  edge: { lastSeenTime: "2026-03-01T00:00:00Z" },
  never: { createTime: "2026-01-01T00:00:00Z" },
  fresh: { createTime: "2026-05-29T00:00:00Z" },
  unknown: {},
  idle: { lastSeenTime: "2025-01-01T00:00:00.5Z" },
};

let folder: string;
let path: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "pulumi-platform-unused-"));
  path = join(folder, "inventory.json");
  const identities = Object.keys(TIMES).map((name) =>
    identity(name, pinned, { uid: `${acme}/${Buffer.from(name.padEnd(8)).toString("hex")}` }),
  );
  const inGroup = identities.map((each) => ({
    ...each,
    inputs: { ...each.inputs, name: each.inputs["name"] as string, parentUid: acme },
  }));
  const objects = [
    ...[group("acme", acme), { ...owner, inputs: { ...owner.inputs, parentUid: undefined } }].map(objectOf),
    ...inGroup.map((each) => ({ ...objectOf(each), ...TIMES[each.inputs.name] })),
    ...inGroup
      .filter(({ inputs }) => inputs.name !== "idle")
      .map((each) => objectOf(binding(each, owner, acme))),
  ].map((object) => JSON.parse(JSON.stringify(object)) as ReturnType<typeof objectOf>);
  writeFileSync(path, JSON.stringify({ ...inventoryOf(acme, ...objects), takenAt: TAKEN }));
});
afterAll(() => rmSync(folder, { recursive: true }));

const access = (...args: string[]) => runCommand(main, args, {});

test("who was seen too long ago, or never and is older, is unused; of whom no time is known is neither", async () => {
  const { code, stdout } = await access("--inventory", path, "--unused", "90d", "-o", "json");
  const document = JSON.parse(stdout) as {
    unused: Record<"unused" | "unknown", { name: string; remove: string }[]>;
    access: { grant: { subject: { name: string } } }[];
  };
  const names = (list: readonly { name: string }[]) => list.map(({ name }) => name).sort();
  expect([code, names(document.unused.unused), names(document.unused.unknown)]).toEqual([
    0,
    ["idle", "never", "old"],
    ["unknown"],
  ]);
  expect(document.unused.unused.every(({ remove }) => remove.startsWith(acme))).toBe(true);
  expect(names(document.access.map(({ grant }) => grant.subject))).toEqual(["never", "old"]);
});

test("nothing says to remove the last owner, nor whom nobody knows to be unused", async () => {
  const inventory = JSON.parse(readFileSync(path, "utf8")) as ReturnType<typeof inventoryOf>;
  const isOthers = ({ kind, inputs }: (typeof inventory.objects)[number]): boolean =>
    kind === "RoleBinding" && inputs["identityUid"] !== `${acme}/${Buffer.from("never   ").toString("hex")}`;
  const sole = join(folder, "sole.json");
  writeFileSync(
    sole,
    JSON.stringify({ ...inventory, objects: inventory.objects.filter((object) => !isOthers(object)) }),
  );
  const { stdout } = await access("--inventory", sole, "--unused", "90d");
  expect(stdout).toMatch(
    /^ {2}never: never signed in, created \S+; do not remove it: acme has no other owner$/m,
  );
  expect(stdout).toMatch(/^ {2}old: .*; remove \S+$/m);
  expect(stdout).toMatch(/^ {2}unknown: not known when it signed in or was created$/m);
});

test.each(["text", "csv", "md", "html"])("the form %s names them, and nobody who is used", async (form) => {
  const { code, stdout } = await access("--inventory", path, "--unused", "90d", "-o", form);
  expect(code).toBe(0);
  // A colour of the style is called --edge.
  const shown = stdout.replace(/<style>.*<\/style>/s, "");
  for (const name of ["old", "never", "idle", "unknown"]) expect(shown).toMatch(new RegExp(`\\b${name}\\b`));
  expect(shown).not.toMatch(/\b(?:edge|fresh)\b/);
  expect(shown).toMatch(/never signed in|last signed in|not known when/);
});

test.each([
  [
    ["--inventory", "FILE", "--unused", "90"],
    /--unused must be a number of days from 1d to 99999d, as in 90d, not "90"/,
  ],
  [["--inventory", "FILE", "--unused", "0d"], /--unused must be a number of days/],
  [["--inventory", "FILE", "--unused", "3 months"], /--unused must be a number of days/],
  [["--state", "FILE", "--unused", "90d"], /--unused needs --inventory: only the server knows/],
])("%p ends with 2 and says what to write", async (args, message) => {
  const { code, stderr } = await access(...args.map((each) => each.replace("FILE", path)));
  expect([code, stderr]).toEqual([2, expect.stringMatching(message)]);
});
