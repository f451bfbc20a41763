import type { TermsDocument } from "./gateway/status";

/** What can be switched while the emulator runs. */
export interface EmulatorSettings {
  /** Creates below a group younger than this answer 403, code 7: contract, section 9. 0 is off. */
  newGroupRefusalMs: number;
  /** "snake": explicit masks with a multi-word camelCase name get code 3, as the usual library does. */
  maskSpelling: "both" | "snake";
  /** Explicit masks with a multi-word camelCase name answer 200 and change nothing. */
  maskSilent: boolean;
  /** Answers leave out empty members: "", 0, false, null, [], {}, and zero names of enums. */
  omitEmpty: boolean;
  /**
   * "partial": the answer to a PATCH holds only the uid and the fields that the mask names. "sparse": the answer holds
   * values only for the uid and what the mask names, and all its other members are empty.
   */
  patchAnswer: "full" | "partial" | "sparse";
  /** Which form of identity and role a role binding is answered with. */
  bindingAnswer: "both" | "hydrated" | "flat";
  /** More requests than this in a second get 429, code 8. 0 is off. */
  requestsPerSecond: number;
  /** Every answer waits this long, in milliseconds of real time. */
  latencyMs: number;
  /** A PATCH of a readme answers 403, as for customers it does: contract, section 12. */
  readmeForbidden: boolean;
  /** The next so many checks of account associations answer that they are not ready. */
  checksNotReady: number;
  /** Creates below a root group fail with code 9 until these are accepted for it, or for a group between. */
  requiredTerms: readonly TermsDocument[];
  /** Life of the tokens that an exchange answers. */
  tokenLifetimeMs: number;
  /** An exchange answers a refresh token too. */
  refreshTokens: boolean;
  /** What tokens may be for besides this machine's loopback: hosts or addresses. */
  audiences: readonly string[];
  /** E-mail address of the caller with the emulator's own token; "" for none. */
  callerEmail: string;
  /**
   * Where events are sent: "" nowhere, they are only listed; "sinks" to the subscriptions' own sinks; an http
   * address on this machine takes all of them, and is told the sink in `X-Emulator-Sink`.
   */
  deliverTo: string;
}

export const defaultSettings: Readonly<EmulatorSettings> = {
  newGroupRefusalMs: 0,
  maskSpelling: "both",
  maskSilent: false,
  omitEmpty: false,
  patchAnswer: "full",
  bindingAnswer: "both",
  requestsPerSecond: 0,
  latencyMs: 0,
  readmeForbidden: false,
  checksNotReady: 0,
  requiredTerms: [],
  tokenLifetimeMs: 3_600_000,
  refreshTokens: false,
  audiences: [],
  callerEmail: "operator@example.com",
  deliverTo: "",
};

interface Check {
  /** Completes "setting … must be …". */
  readonly rule: string;
  readonly accepts: (value: unknown) => boolean;
}

const oneOf = (...allowed: string[]): Check => ({
  rule: `one of ${allowed.join(", ")}`,
  accepts: (value) => allowed.includes(value as string),
});
const flag: Check = { rule: "a boolean", accepts: (value) => typeof value === "boolean" };
const amount: Check = {
  rule: "a number, not negative",
  accepts: (value) => typeof value === "number" && Number.isFinite(value) && value >= 0,
};
const listOf = (rule: string, accepts: Check["accepts"]): Check => ({
  rule: `a list of ${rule}`,
  accepts: (value) => Array.isArray(value) && value.every(accepts),
});
const isText = (value: unknown): value is string => typeof value === "string";

export const settingChecks: Readonly<Record<keyof EmulatorSettings, Check>> = {
  newGroupRefusalMs: amount,
  maskSpelling: oneOf("both", "snake"),
  maskSilent: flag,
  omitEmpty: flag,
  patchAnswer: oneOf("full", "partial", "sparse"),
  bindingAnswer: oneOf("both", "hydrated", "flat"),
  requestsPerSecond: amount,
  latencyMs: amount,
  readmeForbidden: flag,
  checksNotReady: amount,
  requiredTerms: listOf("{id, label, url}, all texts", (value) => {
    if (typeof value !== "object" || value === null) return false;
    const { id, label, url } = value as Partial<Record<keyof TermsDocument, unknown>>;
    return isText(id) && id !== "" && isText(label) && isText(url);
  }),
  tokenLifetimeMs: amount,
  refreshTokens: flag,
  audiences: listOf("texts", isText),
  callerEmail: { rule: "a text", accepts: isText },
  deliverTo: {
    rule: 'empty, "sinks", or an http address on this machine',
    accepts: (value) => isText(value) && (value === "" || value === "sinks" || isLoopback(value)),
  },
};

function isLoopback(address: string): boolean {
  if (!URL.canParse(address)) return false;
  const { protocol, hostname } = new URL(address);
  return protocol === "http:" && ["127.0.0.1", "localhost", "[::1]"].includes(hostname);
}

/** Checks settings that came from outside. @throws Error naming the first wrong one. */
export function parseSettings(given: unknown): Partial<EmulatorSettings> {
  if (typeof given !== "object" || given === null || Array.isArray(given)) {
    throw new Error("settings must be an object");
  }
  for (const [name, value] of Object.entries(given)) {
    if (!Object.hasOwn(settingChecks, name)) throw new Error(`unknown setting "${name}"`);
    const { rule, accepts } = settingChecks[name as keyof EmulatorSettings];
    if (!accepts(value)) throw new Error(`setting "${name}" must be ${rule}`);
  }
  return given;
}
