import type { TermsDocument } from "./gateway/status";

/** What a setting is at the start, and which values it takes. */
interface Setting<T> {
  readonly initial: T;
  /** Completes "setting … must be …". */
  readonly requirement: string;
  readonly accepts: (value: unknown) => boolean;
}

const flag: Setting<boolean> = {
  initial: false,
  requirement: "a boolean",
  accepts: (value) => typeof value === "boolean",
};
const amount = (initial: number): Setting<number> => ({
  initial,
  requirement: "a number, not negative",
  accepts: (value) => typeof value === "number" && Number.isFinite(value) && value >= 0,
});
/** One of these words, the first at the start. */
const choice = <T extends string>(...words: readonly [T, ...T[]]): Setting<T> => ({
  initial: words[0],
  requirement: `one of ${words.join(", ")}`,
  accepts: (value) => words.includes(value as T),
});
const textSetting = (
  initial: string,
  requirement: string,
  fits: (value: string) => boolean,
): Setting<string> => ({
  initial,
  requirement,
  accepts: (value) => isString(value) && fits(value),
});
const listOf = <T>(rule: string, accepts: Setting<T>["accepts"]): Setting<readonly T[]> => ({
  initial: [],
  requirement: `a list of ${rule}`,
  accepts: (value) => Array.isArray(value) && value.every(accepts),
});
const isString = (value: unknown): value is string => typeof value === "string";

/** Behaviour that can be changed while the emulator runs. */
export const settingTable = {
  /** Creates below a group younger than this get 403, code 7: the API takes a while to grant access to a new group. 0 is off. */
  newGroupRefusalMs: amount(0),
  /**
   * What becomes of a multi-word camelCase name in an explicit mask. "snake": it gets code 3, as the Go field mask library does;
   * "drop": it is left out without an error, and the other names of the mask are written.
   */
  maskSpelling: choice("both", "snake", "drop"),
  /** Updates with a multi-word camelCase name in an explicit mask get 200 and change nothing. */
  maskSilent: flag,
  /** Responses leave out empty members: "", 0, false, null, [], {}, and zero names of enums. */
  omitEmpty: flag,
  /**
   * "partial": the response to a PATCH has only the uid and the fields that the mask names. "sparse": it has values only
   * for those, and all its other members are empty.
   */
  patchResponse: choice("full", "partial", "sparse"),
  /** Which form of identity and role a role binding has in responses. */
  bindingResponse: choice("both", "hydrated", "flat"),
  /** More requests than this in a second get 429, code 8. 0 is off. */
  requestsPerSecond: amount(0),
  /** Delay of every response, in milliseconds of real time. */
  latencyMs: amount(0),
  /**
   * A caller other than the emulator's own token may do only what the roles allow that bindings grant to it: other
   * requests get 403, and lists show what it may see. Without it, every token may do everything.
   */
  enforceCapabilities: flag,
  /** This many of the next checks of account associations report that they are not ready. */
  checksNotReady: amount(0),
  /** Creates below a root group fail with code 9 until these are accepted for it, or for a group between. */
  requiredTerms: listOf<TermsDocument>("{id, label, url}, all strings", (value) => {
    if (typeof value !== "object" || value === null) return false;
    const { id, label, url } = value as Partial<Record<keyof TermsDocument, unknown>>;
    return isString(id) && id !== "" && isString(label) && isString(url);
  }),
  /** Lifetime of the tokens that an exchange issues. */
  tokenLifetimeMs: amount(3_600_000),
  /** An exchange issues a refresh token too. */
  refreshTokens: flag,
  /** Accepted audiences of tokens besides this machine's loopback: hosts or addresses. */
  audiences: listOf<string>("strings", isString),
  /** E-mail address of the caller with the emulator's own token; "" for none. */
  callerEmail: textSetting("operator@example.com", "a string", () => true),
  /**
   * Where events are sent: "" nowhere, they are only listed; "sinks" to the subscriptions' own sinks; an http
   * address on this machine receives all of them, with the sink in `X-Emulator-Sink`.
   */
  deliverTo: textSetting(
    "",
    'empty, "sinks", or an http address on this machine',
    (value) => value === "" || value === "sinks" || isLocalHttp(value),
  ),
};

type Table = typeof settingTable;
export type EmulatorSettings = { -readonly [Name in keyof Table]: Table[Name]["initial"] };

export const defaultSettings = Object.fromEntries(
  Object.entries(settingTable).map(([name, { initial }]) => [name, initial]),
) as Readonly<EmulatorSettings>;

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
    if (!Object.hasOwn(settingTable, name)) throw new Error(`unknown setting "${name}"`);
    const { requirement, accepts } = settingTable[name as keyof Table];
    if (!accepts(value)) throw new Error(`setting "${name}" must be ${requirement}`);
  }
  return settings;
}

/** Whether a host name of a URL is this machine's loopback. The package has a list of its own: see `provider/text/address.ts`. */
export function isLoopbackHost(hostname: string): boolean {
  return /^(localhost|127(\.\d+){3}|\[::1\])$/.test(hostname);
}
