import { ConfigError } from "../api/errors";

/** Where settings come from: stack configuration by key (without `platform:`), and the environment. */
export interface SettingSources {
  readonly stack: (key: string) => string | undefined;
  readonly env: Readonly<Record<string, string | undefined>>;
}

/** A setting that is there; an empty one counts as absent. */
export interface SettingValue {
  readonly value: string;
  readonly name: string;
}

export function inEnvironment({ env }: SettingSources, name: string): SettingValue | undefined {
  const value = env[name];
  return value === undefined || value === "" ? undefined : { value, name };
}

export function inStack({ stack }: SettingSources, key: string): SettingValue | undefined {
  const value = stack(key);
  return value === undefined || value === "" ? undefined : { value, name: `platform:${key}` };
}

function fromStackThenEnv(sources: SettingSources, key: string, variable: string): SettingValue | undefined {
  return inStack(sources, key) ?? inEnvironment(sources, variable);
}

export function readWholeNumber(
  sources: SettingSources,
  key: string,
  variable: string,
  bounds: { min: number; max: number; fallback: number },
): number {
  const found = fromStackThenEnv(sources, key, variable);
  if (!found) return bounds.fallback;
  const number = Number(found.value);
  if (!/^\d+$/.test(found.value.trim()) || number < bounds.min || number > bounds.max) {
    throw new ConfigError(
      `${found.name} must be a whole number from ${bounds.min} to ${bounds.max}, not ${JSON.stringify(found.value)}`,
    );
  }
  return number;
}

export function readFlag(sources: SettingSources, key: string, variable: string, fallback: boolean): boolean {
  const found = fromStackThenEnv(sources, key, variable);
  if (!found) return fallback;
  if (found.value !== "true" && found.value !== "false") {
    throw new ConfigError(`${found.name} must be "true" or "false", not ${JSON.stringify(found.value)}`);
  }
  return found.value === "true";
}

const TIMEOUT_UNITS: Record<string, number> = { ms: 1, s: 1000, m: 60_000 };

export function readTimeout(sources: SettingSources): number {
  const found = fromStackThenEnv(sources, "timeout", "PLATFORM_TIMEOUT");
  if (!found) return 60_000;
  const match = /^(\d+(?:\.\d+)?)(ms|s|m)$/.exec(found.value.trim());
  const ms = match ? Number(match[1]) * (TIMEOUT_UNITS[match[2] ?? ""] ?? 0) : 0;
  if (ms < 1 || ms > 3_600_000) {
    throw new ConfigError(
      `${found.name} must be a duration with a unit, as in "30s" or "2m" (at most 60m), not ${JSON.stringify(found.value)}`,
    );
  }
  return Math.round(ms);
}
