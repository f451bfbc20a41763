import { printable } from "../../../http/errors";
import { printableAddress } from "../../../text/address";
import type { Environment } from "../../../settings/environment";
import { UsageError } from "../../framework/exitCodes";
import { PULUMI_CLOUD, readDefaultOrganization } from "../../input/backend";
import type { NamedBackend } from "../../input/backend";
import type { CiHost } from "./folder";

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

/** Text that a workflow can hold as it is: no expression, no quote and no user name. */
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

const TOKEN = ["PULUMI_ACCESS_TOKEN"];

/** The secret variables that open each kind of backend in GitLab. */
const GITLAB_VARIABLES: Readonly<Record<BackendKind, readonly string[]>> = {
  cloud: TOKEN,
  selfHosted: TOKEN,
  s3: ["AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_REGION"],
  gs: ["GOOGLE_CREDENTIALS"],
  azblob: ["AZURE_STORAGE_ACCOUNT", "AZURE_STORAGE_KEY"],
  local: TOKEN,
  other: ["the credentials of the backend"],
};

/** The variables of GitLab that the environments access-preview and production each have a value of. */
export const gitlabVariables = ({ kind, hasPassphrase }: CiBackend): readonly string[] => [
  ...GITLAB_VARIABLES[kind],
  ...(hasPassphrase ? ["PULUMI_CONFIG_PASSPHRASE"] : []),
];

/** Where the address was found. */
export function describeBackendSource({ named: { source, path = "", overridden } }: CiBackend): string {
  const file = printable(path, 200);
  const found = {
    environment: "PULUMI_BACKEND_URL",
    project: `backend.url of ${file}, and a pulumi login`,
    login: `pulumi login, in ${file}`,
    default: "the default: this machine has no pulumi login",
  }[source];
  return overridden === undefined
    ? found
    : `${found}; Pulumi.yaml names ${printableAddress(overridden)}, which CI does not use`;
}

/** What a variable of a workflow is for, by its name. */
function describeVariable(name: string): string {
  const [, access] = /_(PREVIEW|DEPLOY)_/.exec(name) ?? [];
  if (access === undefined) return name;
  return `${name} (${access === "PREVIEW" ? "may read the state" : "may write it"})`;
}

/** What CI needs to open the backend. @param text Of all files for CI: the workflows of GitHub need what they name. */
export function describeNeeds(backend: CiBackend, host: CiHost, text: string): string[] {
  const { kind, hasPassphrase } = backend;
  if (kind === "local")
    return ["a backend that it can reach: move the stack, delete these files, and run init again"];
  if (host === "gitlab") {
    const names = gitlabVariables(backend).join(", ");
    return [
      `${names}: as variables of the environments access-preview (may read) and production (may write)`,
    ];
  }
  const variables = new Set(
    [...text.matchAll(/\bvars\.((?:AWS|GCP|AZURE)_\w+)/g)].map(([, name = ""]) => name),
  );
  const isCloud = kind === "cloud" || kind === "selfHosted";
  return [
    ...(isCloud ? ["the teams access-preview (may read the stack) and access-deploy (may write it)"] : []),
    ...(kind === "other" ? ["a step in each job that opens this backend: init knows none"] : []),
    ...(variables.size === 0 ? [] : [`the variables ${[...variables].map(describeVariable).join(", ")}`]),
    ...(hasPassphrase ? ["the secret PULUMI_CONFIG_PASSPHRASE"] : []),
  ];
}
