import { parseType, providerText } from "../../program/resource";
import { ownVersion } from "../../text/packageVersion";
import { specs } from "./specs";

/**
 * The resources of other packages that compute a value and keep it in the state: they read no network, file or credential.
 * Their pages in Pulumi's registry say so. A policy file can add others, by exact type and version. `time` is not here: its plugin comes from an address of its own.
 */
const harmless: ReadonlySet<string> = new Set([
  "random:index/randomBytes:RandomBytes",
  "random:index/randomId:RandomId",
  "random:index/randomInteger:RandomInteger",
  "random:index/randomPassword:RandomPassword",
  "random:index/randomPet:RandomPet",
  "random:index/randomShuffle:RandomShuffle",
  "random:index/randomString:RandomString",
  "random:index/randomUuid:RandomUuid",
  // Keys and certificates that the plugin computes; only its functions read an address.
  "tls:index/certRequest:CertRequest",
  "tls:index/locallySignedCert:LocallySignedCert",
  "tls:index/privateKey:PrivateKey",
  "tls:index/selfSignedCert:SelfSignedCert",
]);

/** The registry key of a type token of this package. */
export function parseKind(type: string): string | undefined {
  return parseType(type)?.kind;
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
const OF_THE_ENGINE = /^pulumi:(?:pulumi:|index:Stash$)/;

const PROVIDER = /^pulumi:providers:(.+)$/;

/** Packages whose plugins may run: those of the harmless types, the one of dynamic resources, and that of this package. */
const harmlessPackages = new Set(["pulumi-nodejs", "platform", "pulumi", "random", "tls"]);

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

/** Why a resource with a type of this package cannot be reviewed. */
function whyNotOurs(
  type: string,
  { form, kind }: NonNullable<ReturnType<typeof parseType>>,
  texts: readonly unknown[],
  plugin: Plugin | undefined,
): string | undefined {
  if (specs[kind] === undefined) return "this version does not know the kind";
  // The outputs of a resource that was dynamic before keep its text until the next update.
  const hasOwnTexts = texts.every((text) => text === providerText(kind));
  const hasPlugin = form === "native" ? plugin !== undefined : texts.length > 0;
  if (!hasOwnTexts || !hasPlugin || isOfOtherPackage(type, plugin))
    return "it has a type of this package but another provider";
  if (form === "dynamic" || plugin === undefined) return undefined;
  if (!plugin.isPublished)
    return "it has a provider of its own, which may be another plugin, or talk to another address";
  return plugin.version === undefined || plugin.version === ownVersion()
    ? undefined
    : "another version of the plugin manages it: review it with the version of the package that it names";
}

/** Why a resource cannot be reviewed; undefined if it is of this package, or known to be harmless. */
export function whyNotReviewed(
  type: string,
  texts: readonly unknown[],
  /** Absent for a component, which no plugin manages. */
  plugin?: Plugin,
): string | undefined {
  const parsed = parseType(type);
  if (parsed !== undefined) return whyNotOurs(type, parsed, texts, plugin);
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
