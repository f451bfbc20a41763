import type { Words } from "../fields/builders";
import type { Json } from "../fields/values";

/*
 * Names without their prefix `CAP_`, of one published version of the API: how those of a family begin, and their last words. The
 * list grows at the server: in programs it serves hints and warnings, and refuses only what is misspelt.
 */

/** What an editor offers. */
const usual = {
  IAM_GROUPS: "CREATE UPDATE LIST DELETE",
  IAM_GROUP_INVITES: "CREATE LIST DELETE",
  IAM_ROLES: "CREATE UPDATE LIST DELETE",
  IAM_ROLE_BINDINGS: "CREATE UPDATE LIST DELETE",
  TENANT_RECORD_SIGNATURES: "LIST",
  TENANT_SBOMS: "LIST",
  TENANT_VULN_REPORTS: "LIST",
  TENANT_ATTESTATIONS: "LIST",
  IAM_ACCOUNT_ASSOCIATIONS: "CREATE UPDATE LIST DELETE",
  IAM_IDENTITY: "CREATE UPDATE LIST DELETE",
  IAM_IDENTITY_PROVIDERS: "CREATE UPDATE LIST DELETE",
  IAM_SCIM: "MANAGE",
  EVENTS_SUBSCRIPTION: "CREATE UPDATE LIST DELETE",
  REPO_BLOBS: "GET",
  REPO: "CREATE UPDATE LIST DELETE",
  MANIFEST: "CREATE UPDATE LIST DELETE",
  TAG: "CREATE UPDATE LIST DELETE",
  MANIFEST_METADATA: "LIST",
  REFERRERS: "LIST",
  APK: "CREATE UPDATE LIST DELETE",
  VERSION: "LIST",
  APK_BLOBS: "GET",
  VULN_REPORT: "CREATE LIST",
  VULN: "CREATE",
  BUILD_REPORT: "LIST",
  REGISTRY_ENTITLEMENTS: "LIST CREATE DELETE",
  REGISTRY_SETTINGS: "LIST UPDATE",
  REGISTRY_ENTITLEMENTS_IMAGES: "ADD REMOVE SWAP",
  REGISTRY_OVERLAYS: "LIST EDIT",
  LIBRARIES_ENTITLEMENTS: "CREATE LIST DELETE",
  LIBRARIES_ARTIFACTS: "LIST",
  LIBRARIES_PYTHON: "LIST CREATE",
  LIBRARIES_JAVA: "LIST CREATE",
  LIBRARIES_JAVASCRIPT: "LIST CREATE",
  LIBRARIES_DOTNET: "LIST CREATE",
  LIBRARIES_GO: "LIST CREATE",
  LIBRARIES_CACHE: "INVALIDATE LIST",
  LIBRARIES_AWS_MARKETPLACE_SUBSCRIPTIONS: "CREATE UPDATE LIST",
  LIBRARIES_REQUEST_GROUPS: "CREATE LIST UPDATE DELETE SUBMIT",
  LIBRARIES_REQUEST_GROUPS_ITEMS: "UPDATE",
  LIBRARIES_REMOTE_REGISTRIES: "CREATE LIST DELETE",
  ADVISORIES: "CREATE UPDATE LIST DELETE APPROVE",
  REGISTRY_DEPLOYMENTS: "CREATE LIST",
  POLICIES_POLICY: "CREATE UPDATE LIST DELETE",
  POLICIES_BINDING: "CREATE UPDATE LIST DELETE",
  POLICIES_DECISION: "LIST",
  POLICIES_OVERRIDE: "CREATE LIST DELETE",
  REPO_CHECK: "POLICIES",
  PACKAGES_ENTITLEMENTS: "LIST",
  TERMS: "ACCEPT LIST",
  GUARDENER_DFC: "CONVERT",
  GUARDENER_ASSOCIATION: "MANAGE LIST",
  GUARDENER_ENTITLEMENT: "LIST",
  GUARDENER_ACTIONS: "MIGRATE",
  GUARDENER_SCAN: "LIST GET",
  MCP_TOOL: "CALL",
  SKILLS: "PUBLISH LIST",
  SKILLS_ENTITLEMENTS: "CREATE LIST DELETE",
  SKILLS_HARDEN: "READ WRITE CANCEL",
  ARGOS_DOCUMENTS: "CREATE LIST DELETE",
  ARGOS_OSV: "READ DUMP",
  LIBRARIES_POLICY: "CREATE UPDATE LIST DELETE",
  LIBRARIES_POLICY_BINDING: "CREATE UPDATE LIST DELETE",
  LIBRARIES_POLICY_BLOCK_EVENT: "LIST",
  ACTIONS: "LIST",
  GULFSTREAM: "",
} as const;

const deprecated = {
  TENANT_CLUSTERS: "CREATE UPDATE LIST DELETE DISCOVER",
  TENANT_RECORDS: "LIST",
  TENANT_RECORD_CONTEXTS: "LIST",
  TENANT_RECORD_POLICY_RESULTS: "LIST",
  TENANT_RISKS: "LIST",
  IAM_POLICY: "CREATE UPDATE LIST DELETE",
  TENANT_NODES: "LIST",
  TENANT_NAMESPACES: "LIST",
  TENANT_WORKLOADS: "LIST",
  SIGSTORE: "CREATE UPDATE LIST DELETE",
  SIGSTORE_CERTIFICATE: "CREATE",
} as const;

/** Not for customers. */
const internalOnly = {
  REPO_INTERNAL: "ADMIN",
  LIBRARIES_REBUILDER_REQUESTS: "CREATE LIST CANCEL",
  LIBRARIES_REBUILDER_REQUESTS_GROUP: "UPDATE",
  LIBRARIES_REBUILDER_ARTIFACTS: "INVALIDATE",
  LIBRARIES_REBUILDER_EXCLUSIONS: "MANAGE",
  LIBRARIES_REBUILDER_BUILDS: "READ UNTRUSTED",
  LIBRARIES_REBUILDER_BUILDS_TOKENS: "FETCH",
  LIBRARIES_REBUILDER_REMEDIATED_ARTIFACTS: "READ",
  LIBRARIES_REBUILDER_NEW_VERSIONS: "READ REFRESH",
  LIBRARIES_REBUILDER_MALWARE_STATUS: "READ",
  LIBRARIES_REBUILDER_CVE_REMEDIATIONS: "LIST UPDATE",
  LIBRARIES_REBUILDER_SOURCE_COORDINATES: "WRITE RESOLVE",
  LIBRARIES_REQUEST_GROUPS_REFRESH: "COVERAGE",
  LIBRARIES_REQUEST_GROUPS_DELETE: "SUBMITTED",
  REGISTRY_DEPLOYMENTS: "UPDATE",
  GUARDENER_ENTITLEMENT: "MANAGE",
  SKILLS: "WRITE DELETE",
  BUILDAPI_BUILD: "CREATE LIST CANCEL",
  BUILDAPI_WORKER: "SYNC",
  REX_EXECUTIONS: "CREATE LIST",
  REX_WORKERS: "CONNECT",
  REX_CLASS: "USE SERVE",
  CASSIE_CAS: "READ WRITE",
  CASSIE_AC: "WRITE READ",
  LOGGIE_LOGS: "READ WRITE CREATE",
} as const;

type Name<Family extends string, Word extends string> = Word extends "" ? Family : `${Family}_${Word}`;

type NamesOf<T extends Readonly<Record<string, string>>> = {
  [F in keyof T & string]: Name<F, Words<T[F]>>;
}[keyof T & string];

/** What an editor offers: not what is deprecated or not for customers. */
export type UsualCapability = NamesOf<typeof usual>;

/** The full name of a capability. The compiler would list all of them where a value is wrong, had they no name. */
export type Capability = `CAP_${UsualCapability}` | (string & Record<never, never>);

export type CapabilityName =
  UsualCapability | NamesOf<typeof deprecated> | NamesOf<typeof internalOnly> | "INTERNAL";

const capabilitiesIn = (families: Readonly<Record<string, string>>): string[] =>
  Object.entries(families).flatMap(([family, words]) =>
    words.split(" ").map((word) => (word === "" ? family : `${family}_${word}`)),
  );

/** Of several names that are equally near, the first is the hint: what hardly anybody means comes last. */
export const capabilityNames: readonly string[] = [
  ...[usual, deprecated, internalOnly].flatMap(capabilitiesIn),
  "INTERNAL",
];

/** Warnings about capabilities that are legal, yet probably not what was meant. */
export function adviseOnCapabilities(capabilities: Json | undefined): string[] {
  if (!Array.isArray(capabilities)) return [];
  return capabilities.flatMap((capability) => {
    if (typeof capability !== "string" || !/^CAP_[A-Z0-9_]+$/.test(capability)) return [];
    const name = capability.slice("CAP_".length);
    if (capabilitiesIn(internalOnly).includes(name))
      return [`${capability} is internal to the platform, not for customers`];
    if (capabilitiesIn(deprecated).includes(name)) return [`${capability} is deprecated`];
    return [];
  });
}
