/**
 * What capabilities are for, read off their names: the list grows at the server, so a family is a
 * form of name, never a list. `CAP_IAM_ROLES_UPDATE` is the family `IAM_ROLES` and the verb `UPDATE`.
 */

const READING = /_(?:LIST|GET|READ|DISCOVER|RESOLVE|VIEW|DUMP)$/;
const IAM = /^CAP_IAM_/;

/** One word names no family: what it allows cannot be read off it, so it counts as the worst. */
const WITHOUT_FAMILY = /^CAP_[A-Z0-9]+$/;

/** Changing one of these changes what an existing grant means, or who holds it. */
const TAKEOVER =
  /^CAP_IAM_(?:(?:ROLES|IDENTITY|IDENTITIES)_(?!CREATE$|DELETE$)|(?:IDENTITY_PROVIDERS|SCIM|ACCOUNT_ASSOCIATIONS)_)/;

/** With one of these a holder passes on what it holds. */
const DELEGATION =
  /^CAP_IAM_(?:ROLE_BINDINGS_(?!DELETE$)|GROUP_INVITES_(?!DELETE$)|(?:IDENTITY|IDENTITIES)_CREATE$)|_TOKENS_(?:FETCH|CREATE|ISSUE)$/;

const BINDING = /^CAP_IAM_ROLE_BINDINGS_(?!DELETE$)/;

/** These change nothing that others have: own requests, groups and roles that nobody uses yet. */
const WITHOUT_EFFECT_ON_OTHERS =
  /^CAP_(?:IAM_(?:GROUPS|ROLES)_CREATE$|TERMS_ACCEPT$|MCP_TOOL_CALL$|LIBRARIES_(?:REQUEST_GROUPS|AWS)_)/;

/** The known families of IAM that neither take over nor delegate. */
const OTHER_IAM = /^CAP_IAM_(?:GROUPS|GROUP_INVITES|ROLES|ROLE_BINDINGS|IDENTITY|IDENTITIES|ORGANIZATIONS?)_/;

/** With one of these a holder changes what others pull, build, sign and run, or the policies and advisories that stop it. */
const SUPPLY_CHAIN =
  /^CAP_(?:(?:MANIFEST|TAG|REPO|APK|REGISTRY|SIGSTORE|POLICIES|ADVISORIES|VULN|SKILLS|BUILDAPI|REX|CASSIE)_|LIBRARIES_(?!REQUEST_GROUPS_|AWS_))/;

/** These convert what the caller sends, and change nothing at the platform. The built-in role `viewer` has both. */
const CONVERTING = /^CAP_GUARDENER_(?:DFC_CONVERT|ACTIONS_MIGRATE)$/;

/** `CAP_REPO_CHECK_POLICIES` only evaluates policies. */
function isHarmless(capability: string): boolean {
  if (CONVERTING.test(capability)) return true;
  const [, ...checked] = capability.split("_CHECK_");
  return checked.join("_CHECK_") !== "" && /^[A-Z0-9_]+$/.test(capability);
}

/** Whether a capability changes something: everything that is not known to read only. */
export function isWriting(capability: string): boolean {
  return !READING.test(capability) && !isHarmless(capability);
}

/** Whether a capability changes something of IAM. */
export function isIamWriting(capability: string): boolean {
  return IAM.test(capability) && isWriting(capability);
}

export function isTakeover(capability: string): boolean {
  return (TAKEOVER.test(capability) && isWriting(capability)) || WITHOUT_FAMILY.test(capability);
}

/** A family of IAM that this version does not know counts as delegation, so that nothing is overlooked. */
export function isDelegation(capability: string): boolean {
  if (!isWriting(capability) || isTakeover(capability)) return false;
  return DELEGATION.test(capability) || (IAM.test(capability) && !OTHER_IAM.test(capability));
}

/** Whether a capability lets its holder give roles to others. The API does not promise to refuse roles that allow more. */
export function allowsBinding(capability: string): boolean {
  return BINDING.test(capability) && isWriting(capability);
}

export function isSupplyChain(capability: string): boolean {
  return SUPPLY_CHAIN.test(capability) && isWriting(capability);
}

/** Whether a capability changes something of others that no other family covers: one that this version does not know counts. */
export function isOtherWriting(capability: string): boolean {
  const isCovered = [isTakeover, isDelegation, isSupplyChain].some((covers) => covers(capability));
  return isWriting(capability) && !isCovered && !WITHOUT_EFFECT_ON_OTHERS.test(capability);
}

/**
 * Used where the organisation's own role `owner` is not known: whoever can bind roles, change roles and change
 * identities can give itself the rest.
 */
const OWNER_FALLBACK = ["CAP_IAM_ROLE_BINDINGS_CREATE", "CAP_IAM_ROLES_UPDATE", "CAP_IAM_IDENTITY_UPDATE"];

/**
 * The capabilities that together make a role as good as `owner`.
 * @param owner Those of the organisation's role `owner`; undefined where they are not known.
 */
export function ownerCapabilities(owner: readonly string[] | undefined): readonly string[] {
  const writing = owner?.filter(isIamWriting) ?? [];
  return writing.length > 0 ? writing : OWNER_FALLBACK;
}
