import * as pulumi from "@pulumi/pulumi";
import * as platform from "../../../provider/index";
import { hostileObject } from "../support/hostileJson";
import { lookups } from "../support/lookups";
import type { LookupRow } from "../support/lookups";
import { ProgramContext, resolved } from "../support/program";
import { CHILD_UID, GROUP_UID, PROVIDER_UID, ROOT_UID } from "../support/samples";
import { detail, errorOf, failure, wrongAddress } from "../support/server";
import type { Reply } from "../support/server";
import { lookups as described } from "../../../provider/lookups/invoke";
import fc, { casesOf } from "../../support/properties";

/* What every lookup sends, with every argument. */

const context = new ProgramContext().install();
const enc = encodeURIComponent;
const page = (query: string) => (query === "" ? "page_size=200" : `${query}&page_size=200`);
const paged = ({ operation }: LookupRow) => operation.startsWith("List");

const table = lookups.flatMap((row) =>
  row.cases.map(([args, query]) => {
    const [always, alwaysSent] = row.always ?? [{}, ""];
    const sent = [alwaysSent, query].filter((part) => part !== "").join("&");
    return { row, args: { ...always, ...args }, query: paged(row) ? page(sent) : sent };
  }),
);

test.each(table.map((each) => ({ ...each, name: each.row.operation })))(
  "$name with $args",
  async ({ row, args, query }) => {
    context.server.script(() => ({ json: row.answer ?? {} }));
    await row.call(args as never);
    expect(context.server.calls).toEqual([row.request]);
    expect(context.server.last().rawQuery).toBe(query);
  },
);

/** Two thousand values like this one. */
const manyLike = (value: string): string[] =>
  Array.from({ length: 2000 }, (_, i) =>
    value.startsWith(ROOT_UID)
      ? `${ROOT_UID}/${String(i).padStart(16, "0")}`
      : `${value}${/^[A-Z_]+$/.test(value) ? "_NUMBER_" : "-"}${i}`,
  );

const repeated = table.flatMap(({ row, args }) =>
  Object.entries(args).flatMap(([key, value]: [string, unknown]) =>
    Array.isArray(value)
      ? [{ row, key, args: { ...args, [key]: manyLike(String(value[0])) }, name: `${row.operation} ${key}` }]
      : [],
  ),
);

test.each(repeated)("no address grows without bound: $name", async ({ row, key, args }) => {
  context.server.script(() => ({ json: row.answer ?? {} }));
  const message = await row.call(args as never).then(
    () => "",
    (error: unknown) => (error as Error).message,
  );
  const isRefused = context.server.requests.length === 0;
  expect(message).toMatch(isRefused ? new RegExp(`: ${key} is too long for one request: `) : /^$/);
  for (const { rawQuery } of context.server.requests) expect(rawQuery.length).toBeLessThan(8000);
  const divides = ["uids", "ids"].includes(key) && !("orderBy" in args);
  expect(isRefused).toBe(!divides);
});

test("a check says in its body what to check", async () => {
  context.server.script(() => ({ json: {} }));
  await platform.checkAccountAssociation({ uid: GROUP_UID, provider: "ACCOUNT_PROVIDER_TYPE_GOOGLE" });
  expect(context.server.last().body).toEqual({ providerType: "ACCOUNT_PROVIDER_TYPE_GOOGLE" });
});

test("every lookup of the package is in the table, and has a form that takes inputs", () => {
  const isLookup = (name: string) => /^(get|check|lookup|ping)/.test(name);
  const names = Object.keys(platform).filter(isLookup);
  const plain = names.filter((name) => !name.endsWith("Output"));
  expect(lookups.map(({ call }) => call.name).sort()).toEqual(plain.sort());
  expect(names.filter((name) => name.endsWith("Output")).sort()).toEqual(
    plain.map((name) => `${name}Output`).sort(),
  );
});

/** By name: an object of such a name, and what is asked beside the name. */
test.each([
  ["groups", platform.getGroup, "/iam/v2/groups", ""],
  ["identities", platform.getIdentity, "/iam/v2/identities", ""],
  ["roles", platform.getRole, "/iam/v2/roles", ""],
  ["repos", platform.getRepo, "/registry/v2/repos", ""],
  [
    "tags",
    platform.getTag,
    "/registry/v2/tags",
    "&includeReferrers=true&includeDates=true&includeEpochs=true",
  ],
])("one of %s by name and parent is found in the list", async (member, call, path, further) => {
  context.server.script(() => ({
    json: {
      [member]: [
        { uid: `${GROUP_UID}/${"9".repeat(16)}`, name: "A b" },
        { uid: CHILD_UID, name: "a b" },
        { uid: GROUP_UID, name: "a b" },
      ],
    },
  }));
  const args = { name: "a b", parentUid: GROUP_UID };
  await expect((call as (args: object) => Promise<object>)(args)).resolves.toMatchObject({
    uid: CHILD_UID,
    name: "a b",
  });
  expect(context.server.calls).toEqual([`GET ${path}`]);
  expect(context.server.last().rawQuery).toBe(
    `name=a%20b&uidp.children_of=${enc(GROUP_UID)}${further}&page_size=200`,
  );
});

test("an identity provider by name is read once more, because lists leave out the state of SCIM", async () => {
  const provider = { uid: PROVIDER_UID, name: "sso" };
  context.server.script([
    { json: { identityProviders: [provider] } },
    { json: { ...provider, scim: { enabled: true } } },
  ]);
  await expect(platform.getIdentityProvider({ name: "sso" })).resolves.toMatchObject({
    scim: { enabled: true },
  });
  expect(context.server.calls).toEqual([
    "GET /iam/v2/identityProviders",
    `GET /iam/v2/identityProviders/${PROVIDER_UID}`,
  ]);
});

test("an account association is selected by its name alone, or by the uid of its group", async () => {
  const json = { accountAssociations: [ROOT_UID, GROUP_UID].map((uid) => ({ uid, name: "a" })) };
  context.server.script(() => ({ json }));
  await expect(platform.getAccountAssociation({ name: "a" })).rejects.toThrow(
    'getAccountAssociation: 2 objects have the name "a"; give the uid of one:',
  );
  context.server.script(() => ({ json: { uid: GROUP_UID, name: "a" } }));
  await expect(platform.getAccountAssociation({ uid: GROUP_UID })).resolves.toMatchObject({
    uid: GROUP_UID,
    parentUid: GROUP_UID,
  });
});

const uidAt = (i: number) => `${GROUP_UID}/${i.toString(16).padStart(16, "0")}`;
const groups = (from: number, to: number, nextPageToken?: string): Reply => ({
  json: {
    groups: Array.from({ length: to - from }, (_, i) => ({ uid: uidAt(from + i), name: `g${from + i}` })),
    nextPageToken,
    skipped: 0,
  },
});
const queries = () => context.server.requests.map(({ rawQuery }) => rawQuery);
const uids = (answers: readonly { uid: string }[]) => answers.map(({ uid }) => uid);
const range = (from: number, to: number) => Array.from({ length: to - from }, (_, i) => uidAt(from + i));

describe("a limit", () => {
  test.each([
    [1, [1], ["page_size=1"]],
    [2, [1, 1], ["page_size=2", "page_size=2&page_token=1"]],
    [201, [200, 200], ["page_size=200", "page_size=200&page_token=1"]],
    [1000, [200, 3], ["page_size=200", "page_size=200&page_token=1"]],
  ])("of %d returns as many objects, in pages of at most 200", async (limit, sizes, sent) => {
    const starts = sizes.map((_, i) => sizes.slice(0, i).reduce((sum, size) => sum + size, 0));
    context.server.script(
      sizes.map((size, i) => {
        const from = starts[i] ?? 0;
        const isEnd = limit === 1000 && i === sizes.length - 1;
        return groups(from, from + size, isEnd ? "" : String(i + 1));
      }),
    );
    const wanted = Math.min(
      limit,
      sizes.reduce((sum, size) => sum + size, 0),
    );
    expect(uids(await platform.getGroups({ limit }))).toEqual(range(0, wanted));
    expect(queries()).toEqual(sent);
  });

  test("counts the objects that the package itself selects, from full pages", async () => {
    const tag = (i: number) => ({ uid: uidAt(i), name: `t${i}`, deprecated: i % 2 === 1 });
    const page = (nextPageToken: string, ...is: number[]): Reply => ({
      json: { tags: is.map(tag), nextPageToken },
    });
    context.server.script([page("1", 0, 1, 2), page("2", 3, 4, 5)]);
    const tags = await platform.getTags({ childrenOf: GROUP_UID, deprecated: true, limit: 2 });
    expect(tags.map(({ name }) => name)).toEqual(["t1", "t3"]);
    expect(queries()[1]).toMatch(/&page_size=200&page_token=1$/);
    context.server.script([page("", 0, 1, 2)]);
    const living = await platform.getTags({ childrenOf: GROUP_UID, deprecated: false });
    expect(living.map(({ name }) => name)).toEqual(["t0", "t2"]);
  });
});

test("built-in roles are picked out of the list that mixes them with custom ones", async () => {
  context.server.script(() => ({ json: { roles: [{ uid: ROOT_UID }, { uid: GROUP_UID }] } }));
  expect(uids(await platform.getRoles({ builtIn: true }))).toEqual([ROOT_UID]);
  expect(uids(await platform.getRoles({ builtIn: false }))).toEqual([GROUP_UID]);
  expect(uids(await platform.getRoles())).toEqual([ROOT_UID, GROUP_UID]);
});

describe("many uids", () => {
  const many = range(0, 500);
  const echo = (): void => {
    context.server.script(({ query }) => ({
      json: { groups: query.getAll("uidp.ids").map((uid) => ({ uid })) },
    }));
  };

  test("are asked for in addresses that proxies take, each once, in the order of the uids", async () => {
    echo();
    const shuffled = [...many.slice(250), ...many.slice(0, 300)];
    expect(uids(await platform.getGroups({ uids: shuffled, inRoot: false }))).toEqual(many);
    expect(context.server.requests.length).toBeGreaterThan(1);
    for (const query of queries()) {
      expect(query.length).toBeLessThan(8000);
      expect(query).toMatch(/^uidp\.in_root=false&uidp\.ids=.*&page_size=200$/);
    }
  });

  test("are asked for at once where an order is wanted: only the server knows it", async () => {
    echo();
    const few = range(0, 75);
    expect(uids(await platform.getGroups({ uids: few, orderBy: "name" }))).toEqual(few);
    expect(context.server.requests).toHaveLength(1);
  });

  test("are refused where an order is wanted that only one request has", async () => {
    echo();
    for (const orderBy of ["created_at desc", "uid"]) {
      await expect(platform.getGroups({ uids: many, orderBy })).rejects.toThrow(
        /^getGroups: uids is too long for one request: .*; remove orderBy, which orders the objects of one request only, and sort the result, or give fewer \(PP1201\)$/,
      );
    }
    expect(context.server.requests).toHaveLength(0);
  });
});

test.each<[string, () => Promise<unknown[]>]>([
  ["uids", () => platform.getRoles({ uids: [] })],
  ["advisoryIds", () => platform.getAdvisories({ advisoryIds: [] })],
  ["cves", () => platform.getAdvisoryDocuments({ cves: [] })],
  ["ids", () => platform.getVulnerabilityMetadata({ ids: [] })],
  ["ecosystems", () => platform.getArtifacts({ ecosystems: [] })],
  ["ecosystems to count", async () => (await platform.getArtifactCount({ ecosystems: [] })).counts],
])(
  "an empty list of %s finds nothing and is not sent, since the server would ignore it",
  async (_name, call) => {
    context.server.script([]);
    await expect(call()).resolves.toEqual([]);
    expect(context.server.requests).toHaveLength(0);
  },
);

const DIGEST = `sha256:${"a".repeat(64)}`;
const IS_UID =
  "must be a uid: 40 hex digits, then 16 more after each slash; use the id of a resource or a lookup";
const NO_UID = "is missing: give a uid, as in the id of another resource";

type AnyLookup = (args?: unknown) => Promise<unknown>;
const callable = platform as unknown as Readonly<Record<string, AnyLookup>>;

async function told(name: string, ...args: unknown[]): Promise<string> {
  const error = await errorOf((callable[name] as AnyLookup)(...args));
  expect(error).toMatchObject({ name: "LookupError", code: "LOOKUP" });
  expect(String(error.stack)).not.toMatch(/\n\s+at /);
  return error.message;
}

test.each<[string, unknown, string]>([
  ["getGroups", { descendantsOf: "x" }, `descendantsOf ${IS_UID}`],
  ["getGroups", { childrenOf: null }, "childrenOf must be a string, not null"],
  ["getGroups", { inRoot: "true" }, "inRoot must be true or false, not a string"],
  [
    "getGroups",
    { uids: GROUP_UID },
    "uids must be a list, not a string: write it in brackets, as in [value]",
  ],
  ["getGroups", { uids: [GROUP_UID, "x"] }, `uids[1] ${IS_UID}`],
  ["getGroups", { name: "\ud800" }, "name must not contain half a surrogate pair, which cannot be sent"],
  ["getGroups", { name: "" }, "name must not be empty"],
  ["lookupGroup", { name: "a" }, "name is not an argument; it takes none"],
  ["checkAccountAssociation", { uid: GROUP_UID }, "provider is missing: give a string that is not empty"],
  ["getGroups", { limit: 0 }, "limit must be at least 1"],
  ["getGroups", { limit: Infinity }, "limit must be a whole number, not the number Infinity"],
  [
    "getGroups",
    { orderBy: "name descending" },
    'orderBy must be a column and perhaps a direction, as in "name" or "created_at desc"',
  ],
  ["getGroups", null, "the arguments must be an object"],
  [
    "getGroups",
    { descendants_of: ROOT_UID, skip: 3 },
    'descendants_of, skip is not an argument; it takes ancestorsOf, descendantsOf, childrenOf, inRoot, uids, orderBy, limit, name; did you mean "descendantsOf"?',
  ],
  // The server would ignore a name there and answer everything.
  [
    "getRoleBindings",
    { name: "a" },
    "name is not an argument; it takes ancestorsOf, descendantsOf, childrenOf, inRoot, uids, orderBy, limit, identityUid, groupUid, roleUid",
  ],
  ["getRoleBinding", { name: "a" }, "name is not an argument; it takes uid"],
  ["getRoleBinding", {}, `uid ${NO_UID}`],
  ["getTag", { name: "a", uid: GROUP_UID }, "set either uid or name"],
  [
    "getRepo",
    { uid: GROUP_UID, parentUid: ROOT_UID },
    "uid conflicts with the other arguments: remove parentUid",
  ],
  [
    "getAccountAssociation",
    { name: "a", parentUid: ROOT_UID },
    "parentUid is not an argument; it takes uid, name",
  ],
  [
    "getIdentities",
    { relationshipType: "STATIC" },
    'relationshipType must be a full name that begins with RELATIONSHIP_TYPE_, not "STATIC"; did you mean RELATIONSHIP_TYPE_STATIC?',
  ],
  ["getImageSize", { repoUid: CHILD_UID, digest: `${DIGEST}/../x` }, /^digest must be a digest: /.source],
  ["getArtifacts", {}, "ecosystems is missing: give at least one"],
  [
    "getArtifactVersions",
    { artifactUid: "a/b" },
    "artifactUid must be one that the API gave, without a slash",
  ],
  ["getAdvisory", { uid: "a//b" }, "uid must be a uid as the API gave it"],
  [
    "getAdvisories",
    { origin: "o", artifactNames: ["a"] },
    "give either origin or artifactNames: beside origin the server ignores artifactNames",
  ],
  [
    "checkAccountAssociation",
    { uid: GROUP_UID, provider: "ACCOUNT_PROVIDER_TYPE_GITHUB" },
    "provider must be ACCOUNT_PROVIDER_TYPE_GOOGLE, ACCOUNT_PROVIDER_TYPE_AMAZON or ACCOUNT_PROVIDER_TYPE_AZURE",
  ],
  ["getRole", undefined, "set either uid or name"],
  ["getRole", { name: "a", parentUid: "acme" }, `parentUid ${IS_UID}`],
])("%s with %j says what to write, and sends no request", async (name, args, message) => {
  context.server.script([]);
  const said = await told(name, args);
  if (message.startsWith("^"))
    expect(said.replace(`${name}: `, "")).toMatch(new RegExp(message.replace(/\$$/, " \\(PP1201\\)$")));
  else expect(said).toBe(`${name}: ${message} (PP1201)`);
  expect(context.server.requests).toHaveLength(0);
});

test.each<[string, unknown]>([
  ["an output", pulumi.output(GROUP_UID)],
  ["a promise", Promise.resolve(GROUP_UID)],
])("%s as an argument is an error that names the right form", async (_name, later) => {
  expect(await told("getGroups", { childrenOf: later })).toBe(
    "getGroups: childrenOf is known only later: call getGroupsOutput instead (PP1202)",
  );
  expect(await told("getGroups", { uids: [later] })).toBe(
    "getGroups: uids[0] is known only later: call getGroupsOutput instead (PP1202)",
  );
  expect(await told("getGroups", later)).toBe(
    "getGroups: the arguments are known only later: call getGroupsOutput instead (PP1202)",
  );
});

test("the forms that take inputs resolve them deep inside lists, and wait for all", async () => {
  context.server.script(() => ({ json: { groups: [{ uid: GROUP_UID, name: "a" }] } }));
  const output = platform.getGroupsOutput({
    uids: [pulumi.output(Promise.resolve(GROUP_UID)), ROOT_UID],
    limit: Promise.resolve(2),
  });
  await expect(resolved(output)).resolves.toStrictEqual([
    { uid: GROUP_UID, name: "a", description: "", verified: false, parentUid: ROOT_UID },
  ]);
  expect(context.server.last().query.getAll("uidp.ids")).toEqual([GROUP_UID, ROOT_UID]);
  expect(context.server.last().query.get("page_size")).toBe("2");
});

test.each([...described.values()])(
  "an argument of $call that is there and undefined is refused, in place of no filter",
  async ({ call, takes }) => {
    const before = context.server.requests.length;
    for (const key of Object.keys(takes)) {
      // What must be given is said to be missing.
      const message = await told(call, { [key]: undefined });
      expect(message).toMatch(
        /: \w+ is undefined: give a value, or leave it out \(PP1201\)$|: \w+ is missing/,
      );
    }
    expect(context.server.requests).toHaveLength(before);
  },
);

test("an error of the server includes the details that its message omits, and its request id", async () => {
  context.server.script([
    failure(
      3,
      "Invalid argument: orderBy: unknown column",
      detail("BadRequest", {
        fieldViolations: [
          { field: "orderBy", description: "unknown column" },
          { field: "uidp", description: "two scopes" },
        ],
      }),
      detail("ErrorInfo", { reason: "INVALID_ARGUMENT", metadata: { requestId: "r-1" } }),
    ),
  ]);
  expect((await told("getGroups", { orderBy: "nope" })).split("\n")).toEqual([
    "getGroups: GET /iam/v2/groups: INVALID_ARGUMENT (HTTP 400): Invalid argument: orderBy: unknown column",
    "  uidp: two scopes",
    "  request id: r-1",
    "  see npx --no pulumi-platform explain PP3400",
  ]);
});

const uid = GROUP_UID;

/** Each lookup, and the member of the answer that holds its list. */
const calls: readonly (readonly [title: string, member: string, () => Promise<unknown>])[] = [
  ...lookups.map(({ call, always, cases, answer }) => {
    const [member = ""] = Object.entries(answer ?? {}).find(([, value]) => Array.isArray(value)) ?? [];
    const args = { ...always?.[0], ...cases[0]?.[0] };
    return [call.name, member, () => call(("uid" in args ? { uid } : args) as never)] as const;
  }),
  ["getIdentity by name", "identities", () => platform.getIdentity({ name: "a" })],
  ["getTag by name", "tags", () => platform.getTag({ name: "a" })],
  ["getTags of those in use", "tags", () => platform.getTags({ deprecated: false })],
  ["getRoles of the platform", "roles", () => platform.getRoles({ builtIn: true })],
];

/** Whether it is JSON as it stands: no `undefined`, at any depth. (A member may be called `constructor`.) */
function isPlain(value: unknown): boolean {
  if (typeof value === "object" && value !== null) return Object.values(value).every(isPlain);
  return value === null || ["string", "boolean"].includes(typeof value) || Number.isFinite(value);
}

test.each(calls)("%s", async (_name, member, call) => {
  await fc.assert(
    fc.asyncProperty(hostileObject, hostileObject, fc.boolean(), async (one, other, isWhole) => {
      const first = isWhole ? { ...one, uid, name: "a" } : one;
      context.server.script(() => ({ json: member === "" ? first : { ...one, [member]: [first, other] } }));
      const answer = await call().catch((error: unknown) => error);
      if (answer instanceof Error) {
        expect(answer.name).toBe("LookupError");
        expect(answer.message).not.toMatch(
          /Cannot (read|convert)|undefined|is not (a function|iterable)|malformed/,
        );
      } else {
        expect({ answer, isPlain: isPlain(answer) }).toMatchObject({ isPlain: true });
      }
    }),
    { numRuns: casesOf(25) },
  );
});

test.each([
  ["answers {} to everything", { json: {} }],
  ["answers nothing with 200", { text: "" }],
  ["knows no such address", wrongAddress],
])("a server that %s never looks like an empty organisation", async (_name, reply) => {
  context.server.script(() => reply);
  const lists = lookups.filter(({ answer }) => Object.values(answer ?? {}).some(Array.isArray));
  expect(lists.length).toBeGreaterThan(15);
  for (const [index, { call, always, cases }] of lists.entries()) {
    // A client of its own each: nothing before shows that the server is the API.
    context.configure({ "platform:maxConcurrency": String(index + 100) });
    const error = await errorOf(call({ ...always?.[0], ...cases[0]?.[0] } as never));
    expect(error.message).toMatch(/is not the Platform API|check platform:baseUrl|no such|NOT_FOUND/);
  }
});
