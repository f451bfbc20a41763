import { providerText } from "../../program/resource";
import { harmlessTypes } from "./harmlessTypes";
import { specs } from "./specs";

const OURS = "pulumi-nodejs:dynamic/platform:";

/** The registry key of a type token of this package. */
export function parseKind(type: string): string | undefined {
  return type.startsWith(OURS) ? type.slice(OURS.length) : undefined;
}

/** Dynamic resources of any language: what they do is code of the program. */
const DYNAMIC = /^pulumi-[a-z]+:dynamic[/:]/;

/** Packages and types that run commands, or build by running them. */
const RUNS_COMMANDS: readonly RegExp[] = [
  /^command:/,
  /^docker(?:-build)?:(?:index|index\/[a-z]+):(?:Container|Image)$/i,
  /^kubernetes:core\/v1:Pod$/,
  /^kubernetes:batch\/[a-z0-9]+:(?:Cron)?Job$/,
];

/** Stacks, references to other stacks and stored values: the engine handles them itself. */
const OF_THE_ENGINE = /^pulumi:pulumi:/;

const PROVIDER = /^pulumi:providers:(.+)$/;

const harmless = new Set(harmlessTypes.map(({ type }) => type));
/** Packages whose plugins may run: those of the harmless types, and the one of dynamic resources. */
const harmlessPackages = new Set([
  "pulumi-nodejs",
  "pulumi",
  ...harmlessTypes.map(({ type }) => type.slice(0, type.indexOf(":"))),
]);

/** The plugin that a resource of another package belongs to. */
export interface Plugin {
  /** Whether it is the published one, of the default address, as far as the document shows. */
  readonly isPublished: boolean;
  /** The version of its package. */
  readonly version?: string;
  /** The package of the provider that a resource refers to; empty where the reference names none. */
  readonly packageName?: string;
}

/**
 * The plugin of a default provider, whose name is made of the version and of the address, if it has one. A provider with
 * another name is a resource of the program: only its own inputs show the plugin. `type` is that of the provider with the
 * types of its parents: the engine gives a default provider none.
 */
export function pluginOfProvider(type: string, name: string): Plugin {
  const packageName = PROVIDER.exec(type)?.[1] ?? "";
  const [whole, version] = /^default(?:_(\d+_\d+_\d+))?$/.exec(name) ?? [];
  if (whole === undefined) return { isPublished: false, packageName };
  const known = version === undefined ? {} : { version: version.replaceAll("_", ".") };
  return { isPublished: true, packageName, ...known };
}

/** Whether a plugin of another package manages a resource than its type says: the engine asks the plugin, not the type. */
function isOfOtherPackage(type: string, plugin: Plugin | undefined): boolean {
  return plugin?.packageName !== undefined && plugin.packageName !== type.slice(0, type.indexOf(":"));
}

/** Why a resource cannot be reviewed; undefined if it is of this package, or known to be harmless. */
export function whyNotReviewed(
  type: string,
  texts: readonly unknown[],
  /** Absent for a component, which no plugin manages. */
  plugin?: Plugin,
): string | undefined {
  const kind = parseKind(type);
  if (kind !== undefined) {
    if (specs[kind] === undefined) return "this version does not know the kind";
    const isOurs =
      texts.length > 0 &&
      texts.every((text) => text === providerText(kind)) &&
      !isOfOtherPackage(type, plugin);
    return isOurs ? undefined : "it has a type of this package but another provider";
  }
  if (DYNAMIC.test(type) || texts.length > 0) return "its behaviour is code of the program";
  if (isOfOtherPackage(type, plugin)) return "the provider of another package manages it";
  if (RUNS_COMMANDS.some((pattern) => pattern.test(type))) return "it runs commands";
  if (plugin === undefined || OF_THE_ENGINE.test(type)) return undefined;
  const name = PROVIDER.exec(type)?.[1];
  if (name !== undefined) {
    if (!plugin.isPublished) return "it runs a plugin of another address or in another form";
    return harmlessPackages.has(name)
      ? undefined
      : "it runs a plugin of a package that this version does not know";
  }
  if (!harmless.has(type)) return "this version does not know what the type does";
  return plugin.isPublished ? undefined : "it has a provider of its own, whose plugin may be another one";
}
