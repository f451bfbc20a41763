import { printableAddress } from "../../../text/address";
import { printable } from "../../../http/errors";
import { shownUrl } from "./ciBackend";
import type { BackendKind, CiBackend } from "./ciBackend";
import type { Host } from "./inspectFolder";

const PAGE = "node_modules/pulumi-platform/docs/tasks/state-for-ci.md";

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
function describeSource({ named: { source, path = "", overridden } }: CiBackend): string {
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

/** What the workflows of GitHub need, by what they name. @param text Of all workflows. */
function describeGithubNeeds({ kind, hasPassphrase }: CiBackend, text: string): string[] {
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

function describeNeeds(backend: CiBackend, host: Host, text: string): string[] {
  if (backend.kind === "local")
    return ["a backend that it can reach: move the stack, delete these files, and run init again"];
  if (host === "github") return describeGithubNeeds(backend, text);
  const names = gitlabVariables(backend).join(", ");
  return [`${names}: as variables of the environments access-preview (may read) and production (may write)`];
}

/**
 * Says which backend was found, where, and what CI needs to open it.
 *
 * @param text Of all files for CI.
 */
export function describeBackend(backend: CiBackend, host: Host, text: string): string[] {
  const { kind, url, omitted } = backend;
  const isMissing = url === undefined && kind !== "cloud" && kind !== "local";
  const notes = [
    ...(kind === "local" ? ["CI cannot reach it; the files name Pulumi Cloud"] : []),
    ...(omitted.length === 0 ? [] : [`the files leave out: ${omitted.join(", ")}`]),
    ...(isMissing ? ["set the variable PULUMI_BACKEND_URL of CI to its address, without credentials"] : []),
  ];
  return [
    "",
    `backend: ${printable(shownUrl(backend), 300)} (${describeSource(backend)})`,
    ...notes.map((note) => `  ${note}`),
    ...describeNeeds(backend, host, text).map((need) => `  CI needs ${need}`),
    `  ${PAGE} says how`,
  ];
}
