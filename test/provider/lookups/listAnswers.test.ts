import fc, { casesOf } from "../../support/properties";
import type { ResourceSpec } from "../../../provider/fields/resourceSpec";
import * as platform from "../../../provider/index";
import { kinds } from "../../../provider/kinds";
import { ProgramContext } from "../support/program";
import { CHILD_UID, GROUP_UID, ROOT_UID } from "../support/samples";
import { upperFirst } from "../../../scripts/lib/letterCase.cjs";

/* Answers of wrong types, partial ones and newer ones: a lookup answers plain JSON or ends in its own error. */

const context = new ProgramContext().install();
const DIGEST = `sha256:${"a".repeat(64)}`;
const uid = GROUP_UID;
const collectionOf = ({ collection }: ResourceSpec): string =>
  collection.slice(collection.lastIndexOf("/") + 1);

type Lookup = readonly [member: string, () => Promise<unknown>];

/** The lookups that each kind has: of one by its uid, and the list. */
const ofKinds = kinds.flatMap(({ spec }): [string, Lookup][] => {
  const calls = platform as unknown as Readonly<Record<string, (args?: { uid: string }) => Promise<unknown>>>;
  const [one, list] = [`get${spec.kind}`, `get${upperFirst(collectionOf(spec))}`];
  if (!(one in platform)) return [];
  return [
    [one, ["", () => calls[one]!({ uid })]],
    [list, [collectionOf(spec), () => calls[list]!()]],
  ];
});

/** Each lookup, and the member of the answer that holds its list. */
const lookups: Readonly<Record<string, Lookup>> = {
  ...Object.fromEntries(ofKinds),
  checkAccountAssociation: [
    "",
    () => platform.checkAccountAssociation({ uid, provider: "ACCOUNT_PROVIDER_TYPE_AZURE" }),
  ],
  checkEligibility: ["", () => platform.checkEligibility()],
  getAdvisories: ["advisories", () => platform.getAdvisories()],
  getAdvisory: ["", () => platform.getAdvisory({ uid })],
  getAdvisoryDocuments: ["documents", () => platform.getAdvisoryDocuments()],
  getArtifactCount: ["counts", () => platform.getArtifactCount({ ecosystems: ["ECOSYSTEM_JAVA"] })],
  getArtifacts: ["artifacts", () => platform.getArtifacts({ ecosystems: ["ECOSYSTEM_JAVA"] })],
  getArtifactVersions: ["artifactVersions", () => platform.getArtifactVersions({ artifactUid: "a" })],
  getIdentity: ["identities", () => platform.getIdentity({ name: "a" })],
  getImageArchitectures: ["", () => platform.getImageArchitectures({ repoUid: uid, digest: DIGEST })],
  getImageSize: ["", () => platform.getImageSize({ repoUid: uid, digest: DIGEST })],
  getRepoReadme: ["", () => platform.getRepoReadme({ repoUid: uid })],
  getRoles: ["roles", () => platform.getRoles({ builtIn: true })],
  getTag: ["tags", () => platform.getTag({ name: "a" })],
  getTags: ["tags", () => platform.getTags({ deprecated: false })],
  getTermsAcceptances: ["termsAcceptances", () => platform.getTermsAcceptances({ groupUid: uid })],
  getVulnerabilityMetadata: [
    "vulnerabilityMetadata",
    () => platform.getVulnerabilityMetadata({ ids: ["a"] }),
  ],
  lookupGroup: ["", () => platform.lookupGroup()],
  lookupIdentity: ["", () => platform.lookupIdentity({ issuer: "i", subject: "s" })],
  ping: ["", () => platform.ping()],
};

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

test("every lookup of the package is here", () => {
  const names = Object.keys(platform).filter((name) => /^(get|check|lookup|ping)/.test(name));
  expect(Object.keys(lookups).sort()).toEqual(names.filter((name) => !name.endsWith("Output")).sort());
});

test.each(Object.entries(lookups))("%s", async (_name, [member, call]) => {
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
