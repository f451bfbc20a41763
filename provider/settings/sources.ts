import { ConfigError } from "../http/errors";
import { settingDefinitions } from "./definitions";
import type { EnvironmentVariable, StackKey } from "./definitions";
import type { Environment } from "./environment";

/** Where settings come from: stack configuration by key (without `platform:`), and the environment. */
export interface SettingSources {
  readonly stack: (key: string) => string | undefined;
  readonly env: Environment;
}

/** A setting that is there; an empty one counts as absent. */
export interface SettingValue {
  readonly value: string;
  readonly name: string;
}

export function inEnvironment({ env }: SettingSources, name: EnvironmentVariable): SettingValue | undefined {
  const value = env[name];
  return value === undefined || value === "" ? undefined : { value, name };
}

export function inStack({ stack }: SettingSources, key: StackKey): SettingValue | undefined {
  const value = stack(key);
  return value === undefined || value === "" ? undefined : { value, name: `platform:${key}` };
}

/** A setting that the stack configuration decides before the environment. */
interface ConfiguredFirst<T> {
  readonly key: StackKey;
  readonly variable: EnvironmentVariable;
  readonly fallback: T;
}

function fromStackThenEnv(
  sources: SettingSources,
  { key, variable }: Omit<ConfiguredFirst<unknown>, "fallback">,
): SettingValue | undefined {
  return inStack(sources, key) ?? inEnvironment(sources, variable);
}

export function readWholeNumber(
  sources: SettingSources,
  definition: ConfiguredFirst<number> & { readonly min: number; readonly max: number },
): number {
  const found = fromStackThenEnv(sources, definition);
  if (!found) return definition.fallback;
  const { min, max } = definition;
  const number = Number(found.value);
  if (!/^\d+$/.test(found.value.trim()) || number < min || number > max) {
    throw new ConfigError(
      "PP2002",
      `${found.name} must be a whole number from ${min} to ${max}, not ${JSON.stringify(found.value)}`,
    );
  }
  return number;
}

export function readFlag(sources: SettingSources, definition: ConfiguredFirst<boolean>): boolean {
  const found = fromStackThenEnv(sources, definition);
  if (!found) return definition.fallback;
  if (found.value !== "true" && found.value !== "false") {
    throw new ConfigError(
      "PP2002",
      `${found.name} must be "true" or "false", not ${JSON.stringify(found.value)}`,
    );
  }
  return found.value === "true";
}

const TIMEOUT_UNITS: Record<string, number> = { ms: 1, s: 1000, m: 60_000 };

export function readTimeout(sources: SettingSources): number {
  const { timeout } = settingDefinitions;
  const found = fromStackThenEnv(sources, timeout);
  const value = found?.value ?? timeout.fallback;
  const match = /^(\d+(?:\.\d+)?)(ms|s|m)$/.exec(value.trim());
  const ms = match ? Number(match[1]) * (TIMEOUT_UNITS[match[2] ?? ""] ?? 0) : 0;
  if (ms < 1 || ms > 3_600_000) {
    throw new ConfigError(
      "PP2002",
      `${found?.name ?? timeout.key} must be a duration with a unit, as in "30s" or "2m" (at most 60m), not ${JSON.stringify(value)}`,
    );
  }
  return Math.round(ms);
}
