import * as pulumi from "@pulumi/pulumi";
import { adopt, Group, GroupAccess, Identity, Role, RoleBinding, Subscription } from "../../../provider";
import { WRONG_ARGUMENTS } from "../../../provider/fields/values";
import { ALIAS_OPTION } from "../../../provider/text/aliasOption";
import { setPreviewReads } from "../../../provider/program/uidSources";
import { ROOT_UID, sampleOf } from "../support/samples";

/** Ends when all that was begun has ended; the public types lack it. */
const { waitForRPCs } = pulumi.runtime as unknown as { readonly waitForRPCs: () => Promise<void> };

const TEAM = `${ROOT_UID}/${"1".repeat(16)}`;
const [CI, PULLER] = [`${TEAM}/${"2".repeat(16)}`, `${ROOT_UID}/${"3".repeat(16)}`];
const ABSENT = `${ROOT_UID}/${"9".repeat(16)}`;
const NAMES = { [CI]: "CI", [TEAM]: "TEAM", [PULLER]: "PULLER", [ABSENT]: "ABSENT", [ROOT_UID]: "ROOT" };

/** What the server has. */
const live = [
  { kind: "Role", uid: PULLER, parentUid: ROOT_UID, name: "puller" },
  ...[TEAM, CI].map((uid) => ({ kind: "Role", uid, parentUid: TEAM, name: "puller" })),
  { kind: "Group", uid: ROOT_UID, parentUid: undefined, name: "acme" },
  { kind: "Subscription", uid: CI, parentUid: TEAM, sink: "https://events.acme.example/" },
];
for (const kind of ["Group", "Identity", "Role", "RoleBinding", "Subscription"])
  setPreviewReads(kind, {
    findAbsent: (asked) => Promise.resolve({ uids: asked.filter((uid) => uid === ABSENT), advice: "ADVICE" }),
    listBelow: (above) => Promise.resolve(live.filter((one) => one.kind === kind && one.parentUid === above)),
  });

const shorten = (line: string): string =>
  Object.entries(NAMES)
    .reduce((text, [uid, name]) => text.replaceAll(uid, name), line)
    .replace(/[\w/.]*preview\.test\.ts:\d+/g, "LINE");

/** What a preview of a program warns of, and the wrong arguments that it has the provider refuse. */
async function previewOf(program: () => void): Promise<{ warned: string[]; refused: string[] }> {
  const refused = new Set<string>();
  await pulumi.runtime.setMocks({
    newResource: ({ name, inputs }) => {
      const wrong = (inputs as Record<string, { lines: string[] } | undefined>)[WRONG_ARGUMENTS];
      wrong?.lines.forEach((line) => refused.add(shorten(line)));
      // A preview knows no id of what is new.
      return { id: name === "there" ? PULLER : "", state: inputs as object };
    },
    call: () => ({}),
  });
  // Where a unit test of a program runs nothing is warned of: this one is as the engine runs it.
  const monitor = new Proxy(pulumi.runtime.getMonitor() as object, {
    has: (target, key) => key !== "mocks" && key in target,
  });
  pulumi.runtime.setMockOptions(monitor, "project", "stack", true);
  const warn = jest.spyOn(pulumi.log, "warn").mockResolvedValue(undefined);
  try {
    program();
    await waitForRPCs();
    const warned = warn.mock.calls.map(([line]) => shorten(line)).sort();
    return { warned, refused: [...refused] };
  } finally {
    await waitForRPCs();
    warn.mockRestore();
  }
}

const group = (name: string, parentUid: pulumi.Input<string>) => new Group(name, { parentUid, name }).id;
const identity = (name: string, parentUid: pulumi.Input<string>) =>
  new Identity(name, { ...sampleOf("Identity"), parentUid, name }).id;
const role = (resource: string, name: pulumi.Input<string>, args: object = {}) =>
  new Role(resource, { parentUid: ROOT_UID, name, capabilities: ["CAP_REPO_LIST"], ...args }).id;
const bind = (name: string, args: object) =>
  new RoleBinding(name, { parentUid: TEAM, identityUid: CI, roleUid: PULLER, ...args });

const elsewhere =
  "identityUid is an identity of a group that is neither parentUid nor above it, and an identity can act in its own group and below only: bind it there, or move it into a group that holds both (PP1109)";
const ofNoGroup = (also = "") =>
  `parentUid "ABSENT" is the uid of no Group that the token may see${also}: give the id of a Group, or the uid that getGroup finds; doctor prints those of the root groups; or ADVICE (PP3405)`;
const many = Array.from({ length: 101 }, (_, index) => `not a name ${index}`);
const manyWrong = many.map(
  (_, index) => expect.stringContaining(`LINE: Role "a": capabilities[${index}] must`) as string,
);
const makeEmpty = (name: string) => role(name, name, { capabilities: [] });
const empty = (name: string) => `LINE: Role "${name}": capabilities is missing: give at least one (PP1001)`;

test.each<[string, () => void, string[], string[]?]>([
  [
    "an identity in its own group and below",
    () => {
      const team = group("team", ROOT_UID);
      bind("own", { parentUid: team, identityUid: identity("ci", team), roleUid: role("r", "own") });
      bind("below", { parentUid: group("inner", team), identityUid: identity("bot", team) });
      bind("below what is known", { parentUid: group("inner2", TEAM) });
    },
    [],
  ],
  [
    "an identity elsewhere",
    () => {
      const team = group("team", ROOT_UID);
      bind("above", { parentUid: team, identityUid: identity("ci", group("inner", team)) });
      bind("known", { parentUid: ROOT_UID });
      bind("in another organisation", { parentUid: new Group("root", { name: "root" }).id });
      bind("nobody knows", { parentUid: pulumi.output(team).apply((uid) => uid) });
      const bindings = { one: { identityUid: CI, roleUid: PULLER } };
      new GroupAccess("access", { parentUid: group("other", ROOT_UID), bindings });
    },
    [
      'LINE: Group "root" has no parentUid: it makes a new organisation (a root group); give parentUid where that is not meant (PP1110)',
      `LINE: GroupAccess "access": bindings.one.${elsewhere}`,
      ...["above", "in another organisation", "known"].map(
        (name) => `LINE: RoleBinding "${name}": ${elsewhere}`,
      ),
    ],
  ],
  [
    "equals in the program",
    () => {
      role("one", "reader");
      role("two", pulumi.output("reader"));
      role("below", "reader", { parentUid: TEAM });
      bind("grant", {});
      bind("again", {});
      bind("another", { roleUid: ROOT_UID });
      const ci = new Identity("ci", { ...sampleOf("Identity"), parentUid: ROOT_UID, name: "ci" });
      bind("by id", { identityUid: ci.id });
      bind("by the resource", { identityUid: ci as unknown as string });
    },
    [
      'LINE: Role "two" and Role "one" (LINE) have the same parentUid and name: they are two objects; remove one if you mean one (PP1108)',
      'LINE: RoleBinding "again" and RoleBinding "grant" (LINE) have the same parentUid, identityUid and roleUid: they are two objects; remove one if you mean one (PP1108)',
      'LINE: RoleBinding "by the resource" and RoleBinding "by id" (LINE) have the same parentUid, identityUid and roleUid: they are two objects; remove one if you mean one (PP1108)',
    ],
  ],
  [
    "an equal at the server",
    () => void role("one", "puller"),
    [
      `LINE: Role "one": "PULLER", which is there already, has the same parentUid and name. Unless this one replaces it, there will be two. If this program had it under another name or parent, add the option ${ALIAS_OPTION}; to take over what no stack has, wrap the arguments in adopt("PULLER", { … }) (PP1108)`,
    ],
  ],
  ["what is no new one", () => void role("there", "puller"), []],
  [
    "several equals at the server",
    () => void role("one", "puller", { parentUid: TEAM }),
    [
      `LINE: Role "one": "TEAM" and "CI", which are there already, have the same parentUid and name. Unless this one replaces one of them, there will be one more. If this program had one of them under another name or parent, add the option ${ALIAS_OPTION}; to take over one that no stack has, wrap the arguments in adopt(uid, { … }) (PP1108)`,
    ],
  ],
  [
    "an equal below a group that is taken over",
    () => {
      const team = new Group("team", adopt(TEAM, { parentUid: ROOT_UID, name: "team" }));
      new Subscription("one", { parentUid: team.id, sink: "https://events.acme.example/" });
    },
    [
      `LINE: Subscription "one": "CI", which is there already, has the same parentUid and sink. Unless this one replaces it, there will be two. If this program had it under another name or parent, add the option ${ALIAS_OPTION}; to take over what no stack has, wrap the arguments in adopt("CI", { … }) (PP1108)`,
    ],
  ],
  [
    "an equal root group",
    () => new Group("one", { name: "acme" }),
    [
      'LINE: Group "one" has no parentUid: it makes a new organisation (a root group); give parentUid where that is not meant (PP1110)',
      `LINE: Group "one": "ROOT", which is there already, has the same name. Unless this one replaces it, there will be two. If this program had it under another name or parent, add the option ${ALIAS_OPTION}; to take over what no stack has, wrap the arguments in adopt("ROOT", { … }) (PP1108)`,
    ],
  ],
  [
    "what takes over nothing",
    () => role("one", "puller", adopt(ABSENT, {})),
    [
      'LINE: Role "one": adopt "ABSENT" is the uid of no Role that the token may see: give the id of a Role, or the uid that getRole finds; or ADVICE (PP3405)',
    ],
  ],
  [
    "what takes that one over",
    () => new Role("one", adopt(PULLER, { parentUid: ROOT_UID, name: "puller", capabilities: [] as never })),
    [],
    [empty("one")],
  ],
  [
    "what takes another one over than it says",
    () => role("one", "pusher", { ...adopt(PULLER, {}), parentUid: ROOT_UID }),
    [
      'LINE: Role "one" takes over "PULLER", which has name "puller": declare that, or the update refuses it (PP4006)',
    ],
  ],
  [
    "up to three references to nothing",
    () => ["a", "b", "c"].forEach((name) => role(name, name, { parentUid: ABSENT })),
    ["a", "b", "c"].map((name) => `LINE: Role "${name}": ${ofNoGroup()}`),
  ],
  [
    "more references to one that is absent",
    () => ["a", "b", "c", "d"].forEach((name) => role(name, name, { parentUid: ABSENT })),
    [`LINE: Role "a": ${ofNoGroup(" (and 3 other arguments of this program have it)")}`],
  ],
  [
    "arguments that are wrong",
    () => {
      makeEmpty("a");
      makeEmpty("b");
      role("fine", "fine");
    },
    [],
    [empty("a"), empty("b")],
  ],
  ["a hundred of one", () => role("a", "a", { capabilities: many.slice(1) }), [], manyWrong.slice(0, 100)],
  [
    "more than a hundred",
    () => role("a", "a", { capabilities: many }),
    [],
    [...manyWrong.slice(0, 100), "… and 1 more"],
  ],
])("a preview tells of %s", async (_title, program, warned, refused = []) => {
  expect(await previewOf(program)).toEqual({ warned, refused });
});

test("two resources of one name are refused with both lines, unless their parents are of other types", async () => {
  const twice = (...types: readonly (string | undefined)[]) =>
    previewOf(() =>
      types.forEach((type, i) => {
        const parent = type && new pulumi.ComponentResource(`test:index:${type}`, `parent-${i}`);
        const args = { parentUid: ROOT_UID, name: "a", capabilities: ["CAP_REPO_LIST"] };
        new Role("a", args, parent ? { parent } : {});
      }),
    );
  const message =
    /^\S+:\d+: Role "a": the one of \S+:\d+ has this name already(.*): give one of .* "a-2" \(PP1107\)$/;
  await expect(twice(undefined, undefined)).rejects.toThrow(message);
  await expect(twice("Box", "Box")).rejects.toThrow("name already, below parents of the same types: ");
  await expect(twice("Box", "Crate")).resolves.toBeDefined();
});
