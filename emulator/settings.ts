import type { TermsDocument } from "./gateway/status";

/** Behaviour that can be changed while the emulator runs. */
export interface EmulatorSettings {
  /** Creates below a group younger than this get 403, code 7: the API takes a while to grant access to a new group. 0 is off. */
  newGroupRefusalMs: number;
  /** "snake": explicit masks with a multi-word camelCase name get code 3, as the Go field mask library does. */
  maskSpelling: "both" | "snake";
  /** Updates with a multi-word camelCase name in an explicit mask get 200 and change nothing. */
  maskSilent: boolean;
  /** Responses leave out empty members: "", 0, false, null, [], {}, and zero names of enums. */
  omitEmpty: boolean;
  /**
   * "partial": the response to a PATCH has only the uid and the fields that the mask names. "sparse": it has values only
   * for those, and all its other members are empty.
   */
  patchResponse: "full" | "partial" | "sparse";
  /** Which form of identity and role a role binding has in responses. */
  bindingResponse: "both" | "hydrated" | "flat";
  /** More requests than this in a second get 429, code 8. 0 is off. */
  requestsPerSecond: number;
  /** Delay of every response, in milliseconds of real time. */
  latencyMs: number;
  /**
   * A caller other than the emulator's own token may do only what the roles allow that bindings grant to it: other
   * requests get 403, and lists show what it may see. Without it, every token may do everything.
   */
  enforceCapabilities: boolean;
  /** A PATCH of a readme gets 403, as customers do: it needs a capability that they cannot have. */
  readmeForbidden: boolean;
  /** This many of the next checks of account associations report that they are not ready. */
  checksNotReady: number;
  /** Creates below a root group fail with code 9 until these are accepted for it, or for a group between. */
  requiredTerms: readonly TermsDocument[];
  /** Lifetime of the tokens that an exchange issues. */
  tokenLifetimeMs: number;
  /** An exchange issues a refresh token too. */
  refreshTokens: boolean;
  /** Accepted audiences of tokens besides this machine's loopback: hosts or addresses. */
  audiences: readonly string[];
  /** E-mail address of the caller with the emulator's own token; "" for none. */
  callerEmail: string;
  /**
   * Where events are sent: "" nowhere, they are only listed; "sinks" to the subscriptions' own sinks; an http
   * address on this machine receives all of them, with the sink in `X-Emulator-Sink`.
   */
  deliverTo: string;
}

export const defaultSettings: Readonly<EmulatorSettings> = {
  newGroupRefusalMs: 0,
  maskSpelling: "both",
  maskSilent: false,
  omitEmpty: false,
  patchResponse: "full",
  bindingResponse: "both",
  requestsPerSecond: 0,
  latencyMs: 0,
  enforceCapabilities: false,
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
  readonly requirement: string;
  readonly accepts: (value: unknown) => boolean;
}

const enumCheck = (...allowed: string[]): Check => ({
  requirement: `one of ${allowed.join(", ")}`,
  accepts: (value) => allowed.includes(value as string),
});
const booleanCheck: Check = { requirement: "a boolean", accepts: (value) => typeof value === "boolean" };
const amountCheck: Check = {
  requirement: "a number, not negative",
  accepts: (value) => typeof value === "number" && Number.isFinite(value) && value >= 0,
};
const listCheck = (rule: string, accepts: Check["accepts"]): Check => ({
  requirement: `a list of ${rule}`,
  accepts: (value) => Array.isArray(value) && value.every(accepts),
});
const isString = (value: unknown): value is string => typeof value === "string";

export const settingChecks: Readonly<Record<keyof EmulatorSettings, Check>> = {
  newGroupRefusalMs: amountCheck,
  maskSpelling: enumCheck("both", "snake"),
  maskSilent: booleanCheck,
  omitEmpty: booleanCheck,
  patchResponse: enumCheck("full", "partial", "sparse"),
  bindingResponse: enumCheck("both", "hydrated", "flat"),
  requestsPerSecond: amountCheck,
  latencyMs: amountCheck,
  enforceCapabilities: booleanCheck,
  readmeForbidden: booleanCheck,
  checksNotReady: amountCheck,
  requiredTerms: listCheck("{id, label, url}, all strings", (value) => {
    if (typeof value !== "object" || value === null) return false;
    const { id, label, url } = value as Partial<Record<keyof TermsDocument, unknown>>;
    return isString(id) && id !== "" && isString(label) && isString(url);
  }),
  tokenLifetimeMs: amountCheck,
  refreshTokens: booleanCheck,
  audiences: listCheck("strings", isString),
  callerEmail: { requirement: "a string", accepts: isString },
  deliverTo: {
    requirement: 'empty, "sinks", or an http address on this machine',
    accepts: (value) => isString(value) && (value === "" || value === "sinks" || isLocalHttp(value)),
  },
};

/** Events are sent without encryption, so they must not leave the machine. */
function isLocalHttp(address: string): boolean {
  if (!URL.canParse(address)) return false;
  const { protocol, hostname } = new URL(address);
  return protocol === "http:" && isLoopbackHost(hostname);
}

/** Checks settings from an untrusted source. @throws Error that names the first invalid one. */
export function parseSettings(settings: unknown): Partial<EmulatorSettings> {
  if (typeof settings !== "object" || settings === null || Array.isArray(settings)) {
    throw new Error("settings must be an object");
  }
  for (const [name, value] of Object.entries(settings)) {
    if (!Object.hasOwn(settingChecks, name)) throw new Error(`unknown setting "${name}"`);
    const { requirement: rule, accepts } = settingChecks[name as keyof EmulatorSettings];
    if (!accepts(value)) throw new Error(`setting "${name}" must be ${rule}`);
  }
  return settings;
}

/** Whether a host name of a URL is this machine's loopback. The package has a list of its own: see `provider/text/address.ts`. */
export function isLoopbackHost(hostname: string): boolean {
  return /^(localhost|127(\.\d+){3}|\[::1\])$/.test(hostname);
}
