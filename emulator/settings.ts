/** What can be switched while the emulator runs. */
export interface EmulatorSettings {
  /** Creates below a group younger than this answer 403, code 7: contract, section 9. 0 is off. */
  newGroupRefusalMs: number;
  /** "snake": explicit masks with a multi-word camelCase name get code 3, as the usual library does. */
  maskSpelling: "both" | "snake";
  /** Explicit masks with a multi-word camelCase name answer 200 and change nothing. */
  maskSilent: boolean;
  /** "partial": the answer to a PATCH holds only the uid and the fields that the mask names. */
  patchAnswer: "full" | "partial";
  /** Which form of identity and role a role binding is answered with. */
  bindingAnswer: "both" | "hydrated" | "flat";
  /** More requests than this in a second get 429, code 8. 0 is off. */
  requestsPerSecond: number;
  /** Every answer waits this long, in milliseconds of real time. */
  latencyMs: number;
}

export const defaultSettings: Readonly<EmulatorSettings> = {
  newGroupRefusalMs: 0,
  maskSpelling: "both",
  maskSilent: false,
  patchAnswer: "full",
  bindingAnswer: "both",
  requestsPerSecond: 0,
  latencyMs: 0,
};

const choices: Partial<Record<keyof EmulatorSettings, readonly string[]>> = {
  maskSpelling: ["both", "snake"],
  patchAnswer: ["full", "partial"],
  bindingAnswer: ["both", "hydrated", "flat"],
};

/** Checks settings that came from outside. @throws Error naming the first wrong one. */
export function parseSettings(given: unknown): Partial<EmulatorSettings> {
  if (typeof given !== "object" || given === null || Array.isArray(given)) {
    throw new Error("settings must be an object");
  }
  for (const [name, value] of Object.entries(given)) {
    if (!Object.hasOwn(defaultSettings, name)) throw new Error(`unknown setting "${name}"`);
    const key = name as keyof EmulatorSettings;
    const allowed = choices[key];
    if (allowed && !allowed.includes(String(value))) {
      throw new Error(`setting "${name}" must be one of ${allowed.join(", ")}`);
    }
    const ok =
      typeof value === typeof defaultSettings[key] &&
      (typeof value !== "number" || (Number.isFinite(value) && value >= 0));
    if (!ok) throw new Error(`setting "${name}" must be a ${typeof defaultSettings[key]}, not negative`);
  }
  return given;
}
