import fc, { casesOf } from "../../support/properties";
import * as platform from "../../../provider/index";
import { lookups } from "../support/lookups";
import { ProgramContext } from "../support/program";
import { CHILD_UID, GROUP_UID, ROOT_UID } from "../support/samples";
import { errorOf, wrongAddress } from "../support/server";

/* Answers of wrong types, partial ones and newer ones: a lookup answers plain JSON or ends in its own error. */

const context = new ProgramContext().install();
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

const NAMES =
  "uid name description kind verified resourceLimits status createTime updateTime claimMatch claims claimPatterns issuer " +
  "staticKeys audiences awsIdentity servicePrincipal identity role group identityUid oidc scim additionalScopes amazon " +
  "github appInstallations installations installationId azure clientIds capabilities sync_config source customOverlay contents " +
  "packages runtimeKeyring accounts users environment certificates additional digest deprecated bundles ecosystem versionCount " +
  "sizeBytes totalCount severities events fixed findings advisories aliases references eligible response size architectures id " +
  "content __proto__ constructor toString";
const awkward = [
  "",
  "a",
  "12",
  ROOT_UID,
  CHILD_UID,
  "CAP_A",
  "X_UNSPECIFIED",
  "0001-01-01T00:00:00Z",
  0,
  1,
  -3,
  99,
  1.5,
  1e300,
  true,
  false,
  null,
];

const { object } = fc.letrec<{ value: unknown; object: Record<string, unknown> }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 4, depthSize: "medium", withCrossShrink: true },
    fc.constantFrom<unknown>(...awkward),
    fc.array(tie("value"), { maxLength: 3 }),
    tie("object"),
  ),
  object: fc.dictionary(fc.constantFrom(...NAMES.split(" ")), tie("value"), { maxKeys: 12 }),
}));

/** Whether it is JSON as it stands: no `undefined`, at any depth. (A member may be called `constructor`.) */
function isPlain(value: unknown): boolean {
  if (typeof value === "object" && value !== null) return Object.values(value).every(isPlain);
  return value === null || ["string", "boolean"].includes(typeof value) || Number.isFinite(value);
}

test.each(calls)("%s", async (_name, member, call) => {
  await fc.assert(
    fc.asyncProperty(object, object, fc.boolean(), async (one, other, isWhole) => {
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
