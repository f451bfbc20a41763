import { homedir } from "node:os";
import { join, resolve } from "node:path";
import { printableAddress, isSafe } from "../../text/address";
import { readTextFile } from "../../text/files";
import { ConfigError } from "../../http/errors";
import { readEnvironment } from "../../settings/environment";
import type { Environment } from "../../settings/environment";
import { isObject } from "../../fields/values";
import { checkProjectFiles, settingOf, readProject } from "./projectFiles";

export const PULUMI_CLOUD = "https://api.pulumi.com";

/** A file that the Pulumi CLI keeps; empty where it cannot be read. */
function tryReadSettings(path: string): Record<string, unknown> {
  try {
    const settings: unknown = JSON.parse(readTextFile(path));
    return isObject(settings) ? settings : {};
  } catch {
    return {};
  }
}

/** The name of the project of a folder, which is the namespace of its own configuration. */
export function readProjectName(folder: string): string | undefined {
  const name = readProject(folder)?.members["name"];
  return typeof name === "string" && name !== "" ? name : undefined;
}

/** The backend that the project of a folder names. */
function projectBackend(folder: string): { readonly path: string; readonly url: string } | undefined {
  const project = readProject(folder);
  const url = settingOf(project?.members, "backend", "url");
  return project && typeof url === "string" && url !== "" ? { path: project.path, url } : undefined;
}

const pulumiHome = (env: Environment): string => env["PULUMI_HOME"] || join(homedir(), ".pulumi");

interface Login {
  readonly path: string;
  readonly current?: string;
  readonly all: readonly string[];
}

/** The backends that `pulumi login` has stored on this machine. */
function readLogin(env: Environment): Login {
  const path = join(env["PULUMI_CREDENTIALS_PATH"] || pulumiHome(env), "credentials.json");
  const { current, accounts } = tryReadSettings(path);
  const all = Object.keys(accounts ?? {});
  return typeof current === "string" && current !== ""
    ? { path, current, all: [current, ...all] }
    : { path, all };
}

/** The organization that `pulumi org set-default` has stored for a backend. */
export function readDefaultOrganization(backend: string): string | undefined {
  const { backends } = tryReadSettings(join(pulumiHome(readEnvironment()), "config.json"));
  const settings = isObject(backends) ? backends[backend] : undefined;
  const name = isObject(settings) ? settings["defaultOrg"] : undefined;
  return typeof name === "string" && name !== "" ? name : undefined;
}

/** Refuses an address that shows the token of the backend to the network. */
function checkTransport(url: string, name: string): void {
  if (!/^http:/i.test(url) || (URL.canParse(url) && isSafe(new URL(url)))) return;
  throw new ConfigError(
    "PP2011",
    `${name} is ${JSON.stringify(printableAddress(url))}: plain http would show PULUMI_ACCESS_TOKEN to the network; use https`,
  );
}

/** A backend, and what names it. */
export interface NamedBackend {
  readonly url: string;
  readonly source: "environment" | "project" | "login" | "default";
  /** The file that names it. */
  readonly path?: string;
  /** What the project names, where another backend is used. */
  readonly overridden?: string;
}

/** The backend where nothing names one. */
export const PULUMI_CLOUD_BY_DEFAULT: NamedBackend = { url: PULUMI_CLOUD, source: "default" };

/**
 * The backend that the Pulumi CLI uses in a folder: that of the environment, that of the project if this machine is logged
 * in to it, or that of the login.
 *
 * @throws ConfigError where only the project names it: whoever can change that file would receive the token, and choose
 * the state.
 */
export function findBackend(folder: string, env: Environment): NamedBackend {
  const given = env["PULUMI_BACKEND_URL"];
  const project = projectBackend(folder);
  if (given) {
    checkTransport(given, "PULUMI_BACKEND_URL");
    const isOverridden = project !== undefined && project.url !== given;
    return { url: given, source: "environment", ...(isOverridden && { overridden: project.url }) };
  }
  const { path, current, all } = readLogin(env);
  if (project === undefined) {
    return current === undefined ? PULUMI_CLOUD_BY_DEFAULT : { url: current, source: "login", path };
  }
  checkTransport(project.url, `backend.url of ${project.path}`);
  if (all.includes(project.url)) return { ...project, source: "project" };
  const shown = JSON.stringify(printableAddress(project.url));
  throw new ConfigError(
    "PP2011",
    `backend.url of ${project.path} is ${shown}, and a project file alone may not say where the state comes from and PULUMI_ACCESS_TOKEN goes; ` +
      "to confirm that, set PULUMI_BACKEND_URL to the same value, or run pulumi login there",
  );
}

/**
 * The environment of the Pulumi CLI. It names the backend, so that no file of the project can choose another one.
 *
 * @param cwd the folder of the Pulumi project.
 * @throws ConfigError for a backend that is not confirmed, and for a file that sets environment variables.
 */
export function pulumiEnvironment(env: Environment, stack: string, cwd: string): NodeJS.ProcessEnv {
  checkProjectFiles(cwd, stack);
  return { ...env, PULUMI_BACKEND_URL: findBackend(resolve(cwd), env).url };
}
