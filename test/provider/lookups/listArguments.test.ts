import * as pulumi from "@pulumi/pulumi";
import * as platform from "../../../provider/index";
import { lookups as described } from "../../../provider/lookups/invoke";
import { ProgramContext, resolved } from "../support/program";
import { CHILD_UID, GROUP_UID, ROOT_UID } from "../support/samples";
import { detail, errorOf, failure } from "../support/server";

const context = new ProgramContext().install();
const DIGEST = `sha256:${"a".repeat(64)}`;
const IS_UID =
  "must be a uid: 40 hex digits, then 16 more after each slash; use the id of a resource or a lookup";
const NO_UID = "is missing: give a uid, as in the id of another resource";

type AnyLookup = (args?: unknown) => Promise<unknown>;
const lookups = platform as unknown as Readonly<Record<string, AnyLookup>>;

async function told(name: string, ...args: unknown[]): Promise<string> {
  const error = await errorOf((lookups[name] as AnyLookup)(...args));
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

test("a value of a wrong type is named by its type, however long it is", async () => {
  const circular: Record<string, unknown> = {};
  circular["self"] = circular;
  expect(await told("getGroups", { limit: circular })).toMatch(/, not an object \(PP1201\)$/);
  expect(await told("getGroups", { limit: () => 1 })).toMatch(/, not a function \(PP1201\)$/);
  expect(await told("getGroups", { limit: 5n })).toMatch(/, not a bigint \(PP1201\)$/);
  expect((await told("getGroups", { limit: "x".repeat(1000) })).length).toBeLessThan(200);
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
