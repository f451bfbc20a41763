import { nearestWord } from "../text/suggestions";
import { settingDefinitions } from "./definitions";
import type { EnvironmentVariable, SettingDefinition } from "./definitions";

/** A variable that is no setting of this package, and what docs/settings.md says about it. */
export interface HostVariable {
  /** Whose variable it is. */
  readonly of: "GitHub Actions" | "GitLab CI" | "Pulumi" | "you";
  readonly text: string;
}

/** Every variable that is read beside the settings. `Environment` has no other: TypeScript refuses to read one. */
export const hostVariables = {
  ACTIONS_ID_TOKEN_REQUEST_URL: {
    of: "GitHub Actions",
    text: "Where the job requests its OIDC token, with `permissions: id-token: write`.",
  },
  ACTIONS_ID_TOKEN_REQUEST_TOKEN: { of: "GitHub Actions", text: "The credential of that request. Secret." },
  GITHUB_ACTIONS: { of: "GitHub Actions", text: "`true`: the token is the job's, so its comments are ours." },
  GITHUB_API_URL: {
    of: "GitHub Actions",
    text: "The API that `--post` calls. Default: `https://api.github.com`.",
  },
  GITHUB_EVENT_PATH: { of: "GitHub Actions", text: "The event: it names the pull request and its commit." },
  GITHUB_GRAPHQL_URL: { of: "GitHub Actions", text: "The GraphQL API, which names the owner of the token." },
  GITHUB_REF: { of: "GitHub Actions", text: "Names the pull request where the event does not." },
  GITHUB_REPOSITORY: {
    of: "GitHub Actions",
    text: "The repository that `--post` writes to, and that links lead to.",
  },
  GITHUB_RUN_ID: { of: "GitHub Actions", text: "The run that keeps the report, for a link to it." },
  GITHUB_SERVER_URL: { of: "GitHub Actions", text: "The address of the repository in links." },
  GITHUB_SHA: { of: "GitHub Actions", text: "The commit of the report where the event names none." },
  GITHUB_STEP_SUMMARY: { of: "GitHub Actions", text: "The file that `--summary` adds the report to." },
  GITHUB_TOKEN: { of: "GitHub Actions", text: "The token of `--post`. Secret." },
  GH_TOKEN: { of: "GitHub Actions", text: "The same, where `GITHUB_TOKEN` is not set. Secret." },
  CI_API_V4_URL: {
    of: "GitLab CI",
    text: "The API that `--post` calls. Default: `https://gitlab.com/api/v4`.",
  },
  CI_COMMIT_SHA: { of: "GitLab CI", text: "The commit of the report outside of a merge request." },
  CI_MERGE_REQUEST_IID: { of: "GitLab CI", text: "The merge request that `--post` writes to." },
  CI_MERGE_REQUEST_PROJECT_ID: { of: "GitLab CI", text: "The project of the merge request." },
  CI_MERGE_REQUEST_SOURCE_BRANCH_SHA: {
    of: "GitLab CI",
    text: "The commit of the report where the pipeline runs a merged result.",
  },
  CI_PIPELINE_URL: { of: "GitLab CI", text: "The run that keeps the report, for a link to it." },
  CI_PROJECT_ID: { of: "GitLab CI", text: "The project, where `CI_MERGE_REQUEST_PROJECT_ID` is not set." },
  CI_PROJECT_URL: { of: "GitLab CI", text: "The address of the repository in links." },
  GITLAB_TOKEN: { of: "GitLab CI", text: "The token of `--post`, with the scope `api`. Secret." },
  PULUMI_BACKEND_URL: {
    of: "Pulumi",
    text: "The backend of the stacks. With `--stack`, it confirms `backend.url` of the project.",
  },
  PULUMI_CONFIG: {
    of: "Pulumi",
    text: "The configuration of the stack, where the CLI gives it to policy packs: 3.230 does not. A pack with an approved report reads its connection there.",
  },
  PULUMI_DRY_RUN: {
    of: "Pulumi",
    text: "`true` in a preview, where the CLI tells policy packs: 3.230 does not.",
  },
  PLATFORM_ROOT_GROUP: {
    of: "you",
    text: "The uid of the root group, as the emulator prints it: the commands that `init` prints then use it.",
  },
  PLATFORM_APPROVED_REPORT: {
    of: "you",
    text: "For the policy pack of this package: the absolute path of the approved report.",
  },
  PLATFORM_APPROVED_DIGEST: {
    of: "you",
    text: "For the same: the digest of the approved report, from a place that the author of the change cannot write to.",
  },
  PULUMI_HOME: {
    of: "Pulumi",
    text: "Holds `credentials.json`, which names the backends of `pulumi login`, and `config.json` with their organizations.",
  },
  PULUMI_CREDENTIALS_PATH: {
    of: "Pulumi",
    text: "The folder of `credentials.json`, where it is another one.",
  },
  PATH: {
    of: "you",
    text: "Where commands find `pulumi` and `git`. Relative and empty entries, and folders of `node_modules`, are not searched.",
  },
  BERRY_BIN_FOLDER: {
    of: "you",
    text: "Set by yarn: the folder of the programs of dependencies, which is not searched either.",
  },
  NO_COLOR: { of: "you", text: "Not empty: no colours in a terminal." },
  NODE_TLS_REJECT_UNAUTHORIZED: {
    of: "you",
    text: "`doctor` warns where it is `0`. This package checks certificates all the same.",
  },
  https_proxy: {
    of: "you",
    text: "The proxy. `doctor` warns where Pulumi's own processes would talk to each other through it.",
  },
  http_proxy: { of: "you", text: "The proxy, where `https_proxy` is not set." },
  no_proxy: { of: "you", text: "The hosts that are reached without the proxy: `127.0.0.1` has to be one." },
} as const satisfies Readonly<Record<string, HostVariable>>;

/** The environment of a process, by the names that are declared: every other name is a type error. */
export type Environment = {
  readonly [name in EnvironmentVariable | keyof typeof hostVariables]?: string | undefined;
};

/** The environment of this process. */
export const readEnvironment = (): Environment => process.env;

/** How two spellings of a name compare: capital letters and underscores are what people get wrong. */
const fold = (name: string): string => name.toLowerCase().replace(/[_-]/g, "");

/** A name that is none of these, and near one that nothing sets; where that is set, the other is probably somebody else's. */
function findMisspelt(names: readonly string[], known: readonly string[], prefix: string): string[] {
  const own = names.filter((name) => name.startsWith(prefix)).map((name) => name.slice(prefix.length));
  const strange = own.filter((name) => !known.includes(name));
  // Short words are near to each other.
  return strange.flatMap((name) => {
    const most = Math.min(2, Math.floor(name.length / 3));
    const near = nearestWord(fold(name), known.map(fold), most);
    const meant = known.find((one) => near !== undefined && fold(one) === near);
    return meant === undefined || own.includes(meant)
      ? []
      : [`${prefix}${name} is no setting and has no effect; did you mean ${prefix}${meant}?`];
  });
}

/**
 * Names of settings that are probably misspelt, a line each. A name that is near none may be the program's, or another
 * tool's.
 *
 * @param keys of the stack configuration, with their namespaces
 */
export function listMisspeltSettings(keys: readonly string[], env: Environment): string[] {
  const definitions: readonly SettingDefinition[] = Object.values(settingDefinitions);
  const stackKeys = definitions.flatMap(({ key = [] }) => key);
  const variables = [...definitions.flatMap(({ variable = [] }) => variable), ...Object.keys(hostVariables)];
  const prefix = "PLATFORM_";
  const own = variables.flatMap((name) => (name.startsWith(prefix) ? name.slice(prefix.length) : []));
  const set = Object.entries(env).flatMap(([name, value]) => (value === "" ? [] : name));
  return [...findMisspelt(keys, stackKeys, "platform:"), ...findMisspelt(set, own, prefix)];
}
