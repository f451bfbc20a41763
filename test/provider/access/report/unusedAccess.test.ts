import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { main } from "../../../../provider/cli/commands/access";
import { acme, group, objectOf, owner, pinned } from "../../../support/access";
import { inventoryOf } from "../../../support/documents";
import { temporaryFolder } from "../../../support/folders";
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

const uidOf = (name: string): string => `${acme}/${Buffer.from(name.padEnd(8)).toString("hex")}`;
const folder = temporaryFolder();

/** An inventory in which these identities own the organisation. */
function fileOf(name: string, owners: readonly string[]): string {
  const file = join(folder, name);
  const objects = [
    objectOf(group("acme", acme)),
    objectOf({ ...owner, inputs: { ...owner.inputs, parentUid: undefined } }),
    ...Object.entries(TIMES).map(([name, times]) => ({
      ...{ kind: "Identity", uid: uidOf(name), ...times },
      inputs: { ...pinned, name, parentUid: acme },
    })),
    ...owners.map((each, i) => ({
      ...{ kind: "RoleBinding", uid: `${acme}/${i.toString().repeat(16)}` },
      inputs: { parentUid: acme, identityUid: uidOf(each), roleUid: owner.uid },
    })),
  ];
  writeFileSync(file, JSON.stringify({ ...inventoryOf(acme, ...objects), takenAt: TAKEN }));
  return file;
}
const path = fileOf("inventory.json", ["old", "edge", "never", "fresh", "unknown"]);

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
  const sole = fileOf("sole.json", ["never"]);
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
