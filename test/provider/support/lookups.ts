import * as platform from "../../../provider/index";
import type { ResourceSpec } from "../../../provider/fields/resourceSpec";
import { CHILD_UID, GROUP_UID, IDENTITY_UID, PROVIDER_UID, ROLE_UID, ROOT_UID, specs } from "./samples";
import { upperFirst } from "../../../scripts/lib/letterCase.cjs";

const enc = encodeURIComponent;
const DIGEST = `sha256:${"6b3f".repeat(16)}`;

/** Arguments, and the query that they are sent as. */
export type LookupCase = readonly [args: object, query: string];

/** What a lookup sends. */
export interface LookupRow {
  readonly operation: string;
  readonly call: (args: never) => Promise<unknown>;
  /** As it is sent. */
  readonly request: string;
  /** Needed by all cases. */
  readonly always?: LookupCase;
  readonly answer?: object;
  readonly cases: readonly LookupCase[];
}

/** What every list of resources takes. */
const scope: readonly LookupCase[] = [
  [{}, ""],
  [{ ancestorsOf: CHILD_UID }, `uidp.ancestors_of=${enc(CHILD_UID)}`],
  [{ descendantsOf: ROOT_UID }, `uidp.descendants_of=${ROOT_UID}`],
  [{ childrenOf: GROUP_UID }, `uidp.children_of=${enc(GROUP_UID)}`],
  [{ inRoot: true }, "uidp.in_root=true"],
  [{ inRoot: false }, "uidp.in_root=false"],
  [{ uids: [GROUP_UID, ROOT_UID, GROUP_UID] }, `uidp.ids=${enc(GROUP_UID)}&uidp.ids=${ROOT_UID}`],
  [{ orderBy: "created_at desc" }, "order_by=created_at%20desc"],
  [{ orderBy: "name" }, "order_by=name"],
  [{ descendantsOf: ROOT_UID, orderBy: "name asc" }, `uidp.descendants_of=${ROOT_UID}&order_by=name%20asc`],
];
const named: LookupCase = [{ name: "a+b c&d=é;" }, "name=a%2Bb%20c%26d%3D%C3%A9%3B"];

const list = (
  collection: string,
  call: (args?: never) => Promise<unknown>,
  cases: readonly LookupCase[] = [],
): LookupRow => ({
  operation: `List ${collection}`,
  call,
  request: `GET ${collection}`,
  answer: { [collection.slice(collection.lastIndexOf("/") + 1)]: [] },
  cases: [...scope, ...cases],
});

const get = (collection: string, call: (args: never) => Promise<unknown>, uid = CHILD_UID): LookupRow => ({
  operation: `Get ${collection}`,
  call,
  request: `GET ${collection}/${uid}`,
  answer: { uid },
  cases: [[{ uid }, ""]],
});

const each = (parameter: string): LookupCase => [
  { [parameter]: ["one", "t,w o"] },
  `${parameter}=one&${parameter}=t%2Cw%20o`,
];

/** Lookups with arguments or addresses of their own. */
const written: readonly LookupRow[] = [
  list("/iam/v2/identities", platform.getIdentities, [
    named,
    [{ relationshipType: "RELATIONSHIP_TYPE_STATIC" }, "relationshipType=RELATIONSHIP_TYPE_STATIC"],
  ]),
  list("/iam/v2/roles", platform.getRoles, [named, [{ builtIn: true }, ""]]),
  list("/iam/v2/roleBindings", platform.getRoleBindings, [
    [{ identityUid: IDENTITY_UID }, `identity=${enc(IDENTITY_UID)}`],
    [{ groupUid: GROUP_UID }, `group=${enc(GROUP_UID)}`],
    [{ roleUid: ROLE_UID }, `role=${ROLE_UID}`],
    [
      { roleUid: ROLE_UID, identityUid: IDENTITY_UID, groupUid: GROUP_UID },
      `identity=${enc(IDENTITY_UID)}&group=${enc(GROUP_UID)}&role=${ROLE_UID}`,
    ],
  ]),
  list("/iam/v2/groupInvites", platform.getGroupInvites, [[{ keyId: "k/1" }, "keyId=k%2F1"]]),
  list("/iam/v2/externalGroupRoleMappings", platform.getExternalGroupRoleMappings, [
    [{ identityProviderUid: PROVIDER_UID }, `identityProviderUid=${enc(PROVIDER_UID)}`],
  ]),
  {
    operation: "Get /registry/v2/repos readme",
    call: platform.getRepoReadme,
    request: `GET /registry/v2/repos/${CHILD_UID}/readme`,
    answer: { uid: CHILD_UID },
    cases: [[{ repoUid: CHILD_UID }, ""]],
  },
  list("/registry/v2/tags", platform.getTags, [
    named,
    [{ digest: DIGEST }, `digest=${enc(DIGEST)}`],
    [{ updatedSince: "2026-01-28T12:54:21+02:00" }, "updatedSince=2026-01-28T12%3A54%3A21%2B02%3A00"],
    [{ includeReferrers: true }, "includeReferrers=true"],
    [{ includeDates: true }, "includeDates=true"],
    [{ includeEpochs: false }, "includeEpochs=false"],
    [{ deprecated: true }, ""],
    [{ deprecated: false, limit: 5 }, ""],
  ]),
  {
    operation: "Get images architectures",
    call: platform.getImageArchitectures,
    request: `GET /registry/v2/repos/${CHILD_UID}/digests/${DIGEST}/architectures`,
    answer: { architectures: [] },
    cases: [[{ repoUid: CHILD_UID, digest: DIGEST }, ""]],
  },
  {
    operation: "Get images size",
    call: platform.getImageSize,
    request: `GET /registry/v2/repos/${CHILD_UID}/digests/${DIGEST}/size`,
    always: [{ repoUid: CHILD_UID, digest: DIGEST }, ""],
    answer: { size: "1" },
    cases: [
      [{}, ""],
      [{ architecture: "arm64" }, "architecture=arm64"],
    ],
  },
  {
    operation: "List /libraries/v2/artifacts",
    call: platform.getArtifacts,
    request: "GET /libraries/v2/artifacts",
    always: [
      { ecosystems: ["ECOSYSTEM_JAVA", "ECOSYSTEM_PYTHON"] },
      "ecosystems=ECOSYSTEM_JAVA&ecosystems=ECOSYSTEM_PYTHON",
    ],
    answer: { artifacts: [] },
    cases: [
      [{}, ""],
      [{ query: "log4j core" }, "query=log4j%20core"],
      [{ cudaVersion: "12.8" }, "cudaVersion=12.8"],
      [{ remediated: true }, "remediated=true"],
      [{ remediated: false }, "remediated=false"],
      [{ orderBy: "name desc" }, "order_by=name%20desc"],
    ],
  },
  {
    operation: "List artifact versions",
    call: platform.getArtifactVersions,
    request: "GET /libraries/v2/artifacts/pypi%3Aa%252Fb%20c/versions",
    always: [{ artifactUid: "pypi:a%2Fb c" }, ""],
    answer: { artifactVersions: [] },
    cases: [
      [{}, ""],
      [{ orderBy: "version asc" }, "order_by=version%20asc"],
    ],
  },
  {
    operation: "Get artifact count",
    call: platform.getArtifactCount,
    request: "GET /libraries/v2/artifacts/count",
    answer: { counts: [] },
    cases: [[{ ecosystems: ["ECOSYSTEM_JAVA"] }, "ecosystems=ECOSYSTEM_JAVA"]],
  },
  list("/vulnerabilities/v2/advisories", platform.getAdvisories, [
    each("advisoryIds"),
    each("legacyAdvisoryIds"),
    each("artifactNames"),
    each("artifactTypes"),
    each("artifactArchitectures"),
    each("componentNames"),
    each("componentTypes"),
    each("componentLocations"),
    each("aliases"),
    each("eventAuthors"),
    each("excludeEventAuthors"),
    [{ excludeEventAuthors: [] }, ""],
    each("eventReviewers"),
    [
      { eventReviewStates: ["REVIEW_STATE_PENDING", "REVIEW_STATE_REJECTED"] },
      "eventReviewStates=REVIEW_STATE_PENDING&eventReviewStates=REVIEW_STATE_REJECTED",
    ],
    [{ eventTypes: ["EVENT_TYPE_FILTER_FIXED"] }, "eventTypes=EVENT_TYPE_FILTER_FIXED"],
    [
      { latestEventType: "EVENT_TYPE_FILTER_FIX_NOT_PLANNED" },
      "latestEventType=EVENT_TYPE_FILTER_FIX_NOT_PLANNED",
    ],
    [{ origin: "o" }, "origin=o"],
    [{ query: "q" }, "query=q"],
  ]),
  {
    ...get("/vulnerabilities/v2/advisories", platform.getAdvisory, "CGA-1234/a b"),
    request: "GET /vulnerabilities/v2/advisories/CGA-1234/a%20b",
  },
  {
    operation: "Get advisory documents",
    call: platform.getAdvisoryDocuments,
    request: "GET /advisory/v2/documents",
    answer: { documents: [] },
    cases: [
      [{}, ""],
      [{ id: "nginx" }, "id=nginx"],
      [{ cves: ["CVE-1", "CVE-2"] }, "cves=CVE-1&cves=CVE-2"],
      [{ cves: ["CVE-1"], id: "nginx" }, "id=nginx&cves=CVE-1"],
    ],
  },
  {
    operation: "List vulnerability metadata",
    call: platform.getVulnerabilityMetadata,
    request: "GET /advisory/v2/metadata",
    answer: { vulnerabilityMetadata: [] },
    cases: [[{ ids: ["CVE-2", "CVE-1", "CVE-2"] }, "ids=CVE-2&ids=CVE-1"]],
  },
  {
    operation: "List terms acceptances",
    call: platform.getTermsAcceptances,
    request: `GET /iam/v2/terms/${GROUP_UID}`,
    answer: { termsAcceptances: [] },
    cases: [[{ groupUid: GROUP_UID }, ""]],
  },
  {
    operation: "Check account association",
    call: platform.checkAccountAssociation,
    request: `POST /iam/v2/accountAssociations/${GROUP_UID}:checkAccountAssociation`,
    cases: [[{ uid: GROUP_UID, provider: "ACCOUNT_PROVIDER_TYPE_AMAZON" }, ""]],
  },
  {
    operation: "Lookup identity",
    call: platform.lookupIdentity,
    request: "GET /iam/v2/identities:lookupIdentity",
    answer: { uid: IDENTITY_UID },
    cases: [
      [
        { issuer: "https://i.example.com", subject: "a+b" },
        "issuer=https%3A%2F%2Fi.example.com&subject=a%2Bb",
      ],
    ],
  },
  {
    operation: "Lookup group",
    call: platform.lookupGroup,
    request: "GET /iam/v2/groups:lookupGroup",
    answer: { group: {} },
    cases: [[{}, ""]],
  },
  {
    operation: "Check eligibility",
    call: platform.checkEligibility,
    request: "GET /iam/v2/groups:checkEligibility",
    answer: { eligible: true },
    cases: [[{}, ""]],
  },
  {
    operation: "Ping",
    call: platform.ping,
    request: "GET /ping/v2/ping",
    answer: { response: "pong" },
    cases: [[{}, ""]],
  },
];

type Call = (args?: never) => Promise<unknown>;

/** The two lookups of a kind; without those that are written above. */
function usualRows({ kind, collection, listsByName, operations }: ResourceSpec): LookupRow[] {
  const calls = platform as unknown as Readonly<Record<string, Call | undefined>>;
  const last = collection.slice(collection.lastIndexOf("/") + 1);
  const one = calls[`get${kind}`];
  const many = calls[`get${upperFirst(last)}`];
  // A readme has the address of its repository.
  if (!one || !many || operations?.get) return [];
  const rows = [list(collection, many, listsByName ? [named] : []), get(collection, one)];
  return rows.filter(({ call }) => !written.some((row) => row.call === call));
}

/** Every lookup of the package, with every argument. */
export const lookups: readonly LookupRow[] = [...written, ...specs.flatMap(usualRows)];
