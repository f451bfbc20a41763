import * as platform from "../../../provider/index";
import type { LookupRow } from "../support/lookups";
import { lookups } from "../support/lookups";
import { ProgramContext } from "../support/program";
import { CHILD_UID, GROUP_UID, PROVIDER_UID, ROOT_UID } from "../support/samples";

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
