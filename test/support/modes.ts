import type { EmulatorSettings } from "../../emulator";

/** Servers that say less than the specification's samples: what a response leaves out, or leaves empty, is no change. */
export const terseModes: readonly (readonly [name: string, settings: Partial<EmulatorSettings>])[] = [
  ["leaves empty members out", { omitEmpty: true }],
  ["answers a PATCH with the changed fields only", { patchResponse: "partial" }],
  ["answers a PATCH with the changed values, all else empty", { patchResponse: "sparse" }],
  ["leaves out all that is empty or did not change", { omitEmpty: true, patchResponse: "sparse" }],
];
