import { providerText } from "../../engine/program/resource";
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

/** Why a resource cannot be reviewed; undefined if it is of this package, or a plain declaration of another one. */
export function whyNotReviewed(type: string, texts: readonly unknown[]): string | undefined {
  const kind = parseKind(type);
  if (kind !== undefined) {
    if (specs[kind] === undefined) return "this version does not know the kind";
    const isOurs = texts.length > 0 && texts.every((text) => text === providerText(kind));
    return isOurs ? undefined : "it has a type of this package but another provider";
  }
  if (DYNAMIC.test(type)) return "its behaviour is code of the program";
  return RUNS_COMMANDS.some((pattern) => pattern.test(type)) ? "it runs commands" : undefined;
}
