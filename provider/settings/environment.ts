import { nearestWord } from "../text/suggestions";
import { settingDefinitions } from "./definitions";
import type { EnvironmentVariable, SettingDefinition } from "./definitions";

/**
 * Every variable that is read beside the settings: docs/settings.md says of each whose it is, and what for. `Environment` has no
 * other: TypeScript refuses to read one.
 */
export const hostVariables = [
  "ACTIONS_ID_TOKEN_REQUEST_URL",
  "ACTIONS_ID_TOKEN_REQUEST_TOKEN",
  "GITHUB_ACTIONS",
  "GITHUB_API_URL",
  "GITHUB_EVENT_PATH",
  "GITHUB_GRAPHQL_URL",
  "GITHUB_REF",
  "GITHUB_REPOSITORY",
  "GITHUB_RUN_ID",
  "GITHUB_SERVER_URL",
  "GITHUB_SHA",
  "GITHUB_STEP_SUMMARY",
  "GITHUB_TOKEN",
  "GH_TOKEN",
  "CI_API_V4_URL",
  "CI_COMMIT_SHA",
  "CI_MERGE_REQUEST_IID",
  "CI_MERGE_REQUEST_PROJECT_ID",
  "CI_MERGE_REQUEST_SOURCE_BRANCH_SHA",
  "CI_PIPELINE_URL",
  "CI_PROJECT_ID",
  "CI_PROJECT_URL",
  "GITLAB_TOKEN",
  "PULUMI_BACKEND_URL",
  "PULUMI_CONFIG",
  "PULUMI_DRY_RUN",
  "PLATFORM_ROOT_GROUP",
  "PLATFORM_APPROVED_REPORT",
  "PLATFORM_APPROVED_DIGEST",
  "PULUMI_HOME",
  "PULUMI_CREDENTIALS_PATH",
  "PATH",
  "BERRY_BIN_FOLDER",
  "NO_COLOR",
  "NODE_TLS_REJECT_UNAUTHORIZED",
  "https_proxy",
  "http_proxy",
  "no_proxy",
] as const;

/** The environment of a process, by the names that are declared: every other name is a type error. */
export type Environment = {
  readonly [name in EnvironmentVariable | (typeof hostVariables)[number]]?: string | undefined;
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
  const variables = [...definitions.flatMap(({ variable = [] }) => variable), ...hostVariables];
  const prefix = "PLATFORM_";
  const own = variables.flatMap((name) => (name.startsWith(prefix) ? name.slice(prefix.length) : []));
  const set = Object.entries(env).flatMap(([name, value]) => (value === "" ? [] : name));
  return [...findMisspelt(keys, stackKeys, "platform:"), ...findMisspelt(set, own, prefix)];
}
