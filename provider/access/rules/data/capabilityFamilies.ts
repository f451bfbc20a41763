/** What the holder of a capability can do to others. */
export type CapabilityEffect =
  /** Nothing: it is proven to only read. */
  | "reads"
  /** It changes what existing grants mean, or who holds them. */
  | "takeover"
  /** It gives roles to others. */
  | "binding"
  /** It gives others what it holds. */
  | "delegation"
  /** It changes what others pull, build, sign and run, or the policies and advisories that stop it. */
  | "supplyChain"
  /** All else. */
  | "other";

/** An effect that is reported where a subject gains it. */
export interface ReportedEffect {
  readonly effect: Exclude<CapabilityEffect, "reads">;
  /** The rule that reports a new grant. G4 reports the gain of a role that is bound. */
  readonly rule: "G2" | "G3" | "G6" | "G9";
  /** `byReach`: high for several subjects and at a root group, else medium. */
  readonly severity: "high" | "byReach";
}

/** From worst to least. */
export const reportedEffects: readonly ReportedEffect[] = [
  { effect: "takeover", rule: "G2", severity: "high" },
  { effect: "binding", rule: "G3", severity: "high" },
  { effect: "delegation", rule: "G3", severity: "byReach" },
  { effect: "supplyChain", rule: "G6", severity: "byReach" },
  { effect: "other", rule: "G9", severity: "byReach" },
];

/** Capabilities that are alike for the review. */
export interface CapabilityFamily {
  /** Names without `CAP_`, or a form of them that matches the whole name. The first family of a name is its family. */
  readonly names: readonly string[] | RegExp;
  readonly effect: CapabilityEffect;
  /** What a subject that gains one can do, after "it can". */
  readonly can: string;
  /** Why it is in this family. */
  readonly why: string;
  /** Built-in roles of the platform that only read: each name is held by one of them. */
  readonly heldBy?: readonly string[];
  /** The names are not known to this version: the form alone decides. */
  readonly isGuess?: true;
}

const words = (text: string): readonly string[] => text.trim().split(/\s+/);

/**
 * The one table of capabilities: each rule about them reads it. Only names that are proven to read are harmless. The list
 * grows at the server, so what writes is a form of name, and what fits no form is reported too.
 */
export const capabilityFamilies: readonly CapabilityFamily[] = [
  {
    names: words(`
      ACTIONS_LIST ADVISORIES_LIST APK_BLOBS_GET APK_LIST BUILD_REPORT_LIST EVENTS_SUBSCRIPTION_LIST
      GUARDENER_ACTIONS_MIGRATE GUARDENER_ASSOCIATION_LIST GUARDENER_DFC_CONVERT
      GUARDENER_ENTITLEMENT_LIST GUARDENER_SCAN_GET GUARDENER_SCAN_LIST IAM_ACCOUNT_ASSOCIATIONS_LIST
      IAM_GROUPS_LIST IAM_GROUP_INVITES_LIST IAM_IDENTITY_LIST IAM_IDENTITY_PROVIDERS_LIST IAM_ROLES_LIST
      IAM_ROLE_BINDINGS_LIST LIBRARIES_ARTIFACTS_LIST LIBRARIES_AWS_MARKETPLACE_SUBSCRIPTIONS_LIST
      LIBRARIES_CACHE_LIST LIBRARIES_ENTITLEMENTS_LIST LIBRARIES_POLICY_BINDING_LIST
      LIBRARIES_POLICY_BLOCK_EVENT_LIST LIBRARIES_POLICY_LIST LIBRARIES_REMOTE_REGISTRIES_LIST
      LIBRARIES_REQUEST_GROUPS_LIST MANIFEST_LIST MANIFEST_METADATA_LIST PACKAGES_ENTITLEMENTS_LIST
      POLICIES_BINDING_LIST POLICIES_DECISION_LIST POLICIES_OVERRIDE_LIST POLICIES_POLICY_LIST
      REFERRERS_LIST REGISTRY_DEPLOYMENTS_LIST REGISTRY_ENTITLEMENTS_LIST REGISTRY_OVERLAYS_LIST
      REGISTRY_SETTINGS_LIST REPO_BLOBS_GET REPO_LIST SKILLS_ENTITLEMENTS_LIST SKILLS_LIST TAG_LIST
      TENANT_RECORD_SIGNATURES_LIST TENANT_SBOMS_LIST TENANT_VULN_REPORTS_LIST TERMS_LIST VERSION_LIST
      VULN_REPORT_LIST
    `),
    effect: "reads",
    can: "read",
    why: "the platform gives it to everybody who may look at a group",
    heldBy: ["viewer"],
  },
  {
    names: words("ARGOS_OSV_READ LIBRARIES_JAVA_LIST LIBRARIES_JAVASCRIPT_LIST LIBRARIES_PYTHON_LIST"),
    effect: "reads",
    can: "read",
    why: "a role that only pulls, or only reads advisories, has it",
    heldBy: ["argos.osv.reader", "libraries.java.pull", "libraries.javascript.pull", "libraries.python.pull"],
  },
  {
    names: words("LIBRARIES_DOTNET_LIST LIBRARIES_GO_LIST"),
    effect: "reads",
    can: "read",
    why: "it is for packages of .NET and Go what LIBRARIES_JAVA_LIST is for those of Java",
  },
  {
    names: /^[A-Z0-9]+$/,
    effect: "takeover",
    can: "take over the access of others",
    why: "one word names no family: what it allows cannot be read off it",
  },
  {
    names: /^\w+_(?:LIST|GET|READ|DISCOVER|RESOLVE|VIEW|DUMP)$/,
    effect: "other",
    can: "read more than viewer",
    why: "its name says that it reads, but no role for readers has it: it may read secrets, logs or the data of others",
    isGuess: true,
  },
  {
    names: /^IAM_(?:ROLES|IDENTITY|IDENTITIES)_(?!CREATE$|DELETE$)\w+$/,
    effect: "takeover",
    can: "take over the access of others",
    why: "whoever changes a role or an identity changes what existing grants of it mean",
  },
  {
    names: /^IAM_(?:IDENTITY_PROVIDERS|SCIM|ACCOUNT_ASSOCIATIONS)_\w+$/,
    effect: "takeover",
    can: "take over the access of others",
    why: "it decides who signs in, who is in a directory, or which accounts a group trusts",
  },
  {
    names: /^IAM_ROLE_BINDINGS_(?!DELETE$)\w+$/,
    effect: "binding",
    can: "give roles to others",
    why: "the API does not promise to refuse roles that allow more than those of the caller",
  },
  {
    names:
      /^(?:IAM_GROUP_INVITES_(?!DELETE$)\w+|IAM_(?:IDENTITY|IDENTITIES)_CREATE|\w+_TOKENS_(?:FETCH|CREATE|ISSUE))$/,
    effect: "delegation",
    can: "give its access to others",
    why: "invites, identities and tokens pass on what their author holds",
  },
  {
    names:
      /^(?:IAM_(?:GROUPS|ROLES)_CREATE|(?:LIBRARIES_(?:REQUEST_GROUPS|AWS_MARKETPLACE)|EVENTS_SUBSCRIPTION|LOGGIE_LOGS|TERMS|MCP_TOOL)_\w+)$/,
    effect: "other",
    can: "do more than read",
    why: "it makes what others see, agree to or pay for, calls tools, or decides where events and logs go",
  },
  {
    names: /^IAM_(?:GROUPS|GROUP_INVITES|ROLES|ROLE_BINDINGS|IDENTITY|IDENTITIES|ORGANIZATIONS?)_\w+$/,
    effect: "other",
    can: "take away what others have",
    why: "it deletes or changes what others have access by",
  },
  {
    names: /^IAM_\w+$/,
    effect: "delegation",
    can: "give its access to others",
    why: "what an unknown family of IAM allows may be to pass on access",
    isGuess: true,
  },
  {
    names:
      /^(?:MANIFEST|TAG|REPO|APK|REGISTRY|SIGSTORE|POLICIES|ADVISORIES|VULN|SKILLS|BUILDAPI|REX|CASSIE|LIBRARIES)_\w+$/,
    effect: "supplyChain",
    can: "change what others pull",
    why: "it writes artifacts, or decides which of them are built, signed or let through",
  },
];

/** The family of a name that is in no other one. */
export const UNKNOWN_FAMILY: CapabilityFamily = {
  names: /^[^]*$/,
  effect: "other",
  can: "change what this version does not know",
  why: "what it allows cannot be read off its name",
  isGuess: true,
};
