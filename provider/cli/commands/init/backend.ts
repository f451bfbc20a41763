import { printableAddress } from "../../../text/address";
import type { Environment } from "../../../settings/environment";
import { UsageError } from "../../framework/exitCodes";
import { PULUMI_CLOUD, readDefaultOrganization } from "../../input/backend";
import type { NamedBackend } from "../../input/backend";

type BackendKind = "cloud" | "selfHosted" | "s3" | "gs" | "azblob" | "local" | "other";

/** The backend of the stacks, as the files for CI need it. */
export interface CiBackend {
  readonly kind: BackendKind;
  /** Without credentials; undefined where the files cannot hold it. */
  readonly url?: string;
  /** Parts of the address that the files do not hold: credentials, and settings of this machine. */
  readonly omitted: readonly string[];
  /** Whether the secrets of the stack are encrypted with a passphrase. */
  readonly hasPassphrase: boolean;
  /** What was found, and where. */
  readonly named: NamedBackend;
}

/** The stack configuration's members that say how secrets are encrypted. */
export interface StackEncryption {
  readonly secretsprovider?: unknown;
  readonly encryptionsalt?: unknown;
}

const BUCKETS = ["s3", "gs", "azblob"] as const;

/** Parameters of a bucket's address that hold for every machine, and no secret. */
const SHARED_PARAMETERS = [
  ...["region", "endpoint", "awssdk", "s3ForcePathStyle", "use_path_style", "hostname_immutable"],
  ...["disableSSL", "disable_https", "dualstack", "fips", "accelerate", "ssetype", "kmskeyid"],
  ...["storage_account", "domain", "protocol", "cdn", "localemu"],
];

/** A text that a workflow can hold as it is: no expression, no quote and no user name. */
const PLAIN = /^[\w:/.[\]%~-]*$/;

function kindOf(url: string): BackendKind {
  const [, scheme = ""] = /^([a-z][a-z0-9+.-]*):/i.exec(url) ?? [];
  const lower = scheme.toLowerCase();
  if (url.replace(/\/$/, "") === PULUMI_CLOUD) return "cloud";
  if (lower === "https") return "selfHosted";
  // Plain http passes the check of the address on this machine only.
  if (lower === "file" || lower === "http") return "local";
  return BUCKETS.find((bucket) => bucket === lower) ?? "other";
}

/** A parameter of an address. */
export const parameterOf = (url: string | undefined, name: string): string | undefined =>
  (url !== undefined && URL.canParse(url) ? new URL(url).searchParams.get(name) : null) ?? undefined;

const isBucket = (kind: BackendKind): boolean => BUCKETS.some((bucket) => bucket === kind);

/** Whether the backend has no organizations: the full name of each stack begins with `organization`. */
export const isSelfManaged = (kind: BackendKind): boolean => isBucket(kind) || kind === "other";

/** An address without its user name, its password and the parameters that CI must not have. */
function withoutCredentials(text: string): Pick<CiBackend, "url" | "omitted"> {
  if (!URL.canParse(text)) return { omitted: [] };
  const url = new URL(text);
  const omitted = url.username === "" && url.password === "" ? [] : ["user name and password"];
  const parameters = [...url.searchParams].filter(([name, value]) => {
    if (SHARED_PARAMETERS.includes(name) && PLAIN.test(value)) return true;
    omitted.push(PLAIN.test(name) ? name : "a parameter");
    return false;
  });
  const address = `${url.protocol}//${url.host}${url.pathname.replace(/\/$/, "")}`;
  const query = parameters.map(([name, value]) => `${name}=${value}`).join("&");
  return {
    ...(PLAIN.test(address) && { url: query === "" ? address : `${address}?${query}` }),
    omitted,
  };
}

/** Whether the commands of CI need a passphrase: of the stack that exists, or of the one that will be created. */
function needsPassphrase(kind: BackendKind, encryption: StackEncryption | undefined): boolean {
  if (kind === "local") return false;
  if (typeof encryption?.secretsprovider === "string") return encryption.secretsprovider === "passphrase";
  return encryption?.encryptionsalt !== undefined || (kind !== "cloud" && kind !== "selfHosted");
}

/** The only organization of a backend that has none. */
const NO_ORGANIZATION = "organization";

/** The organization of the stacks, where the backend or this machine decides it. */
export function findOrganization({ url }: NamedBackend, env: Environment): string | undefined {
  const kind = kindOf(url);
  if (isSelfManaged(kind)) return NO_ORGANIZATION;
  return kind === "local" ? undefined : readDefaultOrganization(url, env);
}

/** @throws UsageError for an organization that the backend cannot have. */
export function checkOrganization({ url }: NamedBackend, organization: string): void {
  if (!isSelfManaged(kindOf(url)) || organization === NO_ORGANIZATION) return;
  throw new UsageError(
    "PP5003",
    `--stack names the organization ${organization}, and ${printableAddress(url)} has none; write ${NO_ORGANIZATION} in its place`,
  );
}

/** Decides what the files for CI say about a backend. @param encryption Of the stack's configuration, if there is one. */
export function describeForCi(named: NamedBackend, encryption: StackEncryption | undefined): CiBackend {
  const kind = kindOf(named.url);
  const isWritten = kind === "selfHosted" || isBucket(kind);
  return {
    kind,
    hasPassphrase: needsPassphrase(kind, encryption),
    named,
    ...(isWritten ? withoutCredentials(named.url) : { omitted: [] }),
  };
}
