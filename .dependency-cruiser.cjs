/**
 * Which folder may import which, types included: one row a folder. A file that no row covers is an error, so a new folder
 * cannot be forgotten. What a row names stands below it: the rows are in the order of the layers, the ground first.
 */
const layers = {
  "provider/errors": [],
  "provider/text": [],
  "provider/fields": ["provider/text"],
  "provider/http": ["provider/text"],
  "provider/settings": ["provider/http", "provider/text"],
  "provider/lifecycle": ["provider/fields", "provider/http", "provider/text"],
  // Of what runs in the provider's process, a program loads only the kinds and what they import.
  "provider/program": ["provider/fields", "provider/settings/environment.ts", "provider/text"],
  "provider/kinds": [
    "provider/fields",
    "provider/lifecycle/messages.ts",
    "provider/program/resource.ts",
    "provider/text",
  ],
  "provider/dynamic.ts": [
    "provider/fields",
    "provider/http",
    "provider/kinds",
    "provider/lifecycle",
    "provider/settings",
    "provider/text",
  ],
  "provider/lookups": [
    "provider/fields",
    "provider/http",
    "provider/kinds",
    "provider/program/argumentErrors.ts",
    "provider/program/uidSources.ts",
    "provider/program/sdk.ts",
    "provider/settings",
    "provider/text",
  ],
  "provider/index.ts": ["provider/kinds", "provider/lookups", "provider/program"],
  // The plugin's process, and the classes of programs that use it.
  "provider/native": [
    "provider/fields",
    "provider/http",
    "provider/index.ts",
    "provider/kinds",
    "provider/lifecycle",
    "provider/lookups",
    "provider/program",
    "provider/settings",
    "provider/text",
  ],
  "provider/events": ["provider/text"],
  "provider/access/trust": ["provider/fields", "provider/text"],
  "provider/access/documents": [
    "provider/program/resource.ts",
    "provider/fields",
    "provider/kinds",
    "provider/text",
  ],
  "provider/access/graph": [
    "provider/access/documents",
    "provider/access/trust",
    "provider/fields",
    "provider/kinds",
    "provider/text",
  ],
  "provider/access/effects.ts": [
    "provider/access/documents",
    "provider/access/graph",
    "provider/access/trust",
    "provider/fields",
    "provider/text",
  ],
  "provider/access/review": [
    "provider/access/documents",
    "provider/access/effects.ts",
    "provider/access/graph",
    "provider/access/trust",
    "provider/fields",
    "provider/text",
  ],
  "provider/access/assertions": [
    "provider/access/effects.ts",
    "provider/access/graph",
    "provider/access/review",
    "provider/access/trust",
    "provider/fields",
    "provider/text",
  ],
  "provider/access/rules": [
    "provider/access/assertions",
    "provider/access/documents",
    "provider/access/effects.ts",
    "provider/access/graph",
    "provider/access/review",
    "provider/access/trust",
    "provider/fields",
    "provider/text",
  ],
  "provider/access/suppressions": [
    "provider/access/assertions",
    "provider/access/documents",
    "provider/access/graph",
    "provider/access/review",
    "provider/access/rules",
    "provider/access/trust",
    "provider/fields",
    "provider/text",
  ],
  "provider/access/report": [
    "provider/access/documents",
    "provider/access/effects.ts",
    "provider/access/graph",
    "provider/access/review",
    "provider/access/rules",
    "provider/access/suppressions",
    "provider/fields",
    "provider/text",
  ],
  "provider/access/adopt": [
    "provider/access/documents",
    "provider/access/graph",
    "provider/fields",
    "provider/kinds",
    "provider/text",
  ],
  "provider/access/drift": ["provider/access", "provider/fields", "provider/kinds", "provider/text"],
  "provider/access/verify": [
    "provider/access/documents",
    "provider/access/effects.ts",
    "provider/access/graph",
    "provider/access/report",
    "provider/access/review",
    "provider/access/trust",
    "provider/fields",
    "provider/text",
  ],
  "provider/access/index.ts": ["provider/access"],
  "provider/policy.ts": [
    "provider/access",
    "provider/fields",
    "provider/inventory",
    "provider/program/resource.ts",
    "provider/settings",
    "provider/text",
  ],
  "provider/inventory": [
    "provider/access/documents",
    "provider/fields",
    "provider/http",
    "provider/kinds",
    "provider/lifecycle",
    "provider/text",
  ],
  "provider/cli": [
    "provider/access",
    "provider/http",
    "provider/text",
    "provider/settings",
    "provider/fields",
    "provider/events",
    "provider/inventory",
    // The command `emulator` starts it.
    "emulator/main.ts",
  ],
  // The provider's mistakes must not pass on both sides: the emulator shares nothing with it.
  emulator: [],
};

const escape = (path) => path.replace(/[.]/g, "\\.");
/** A file, or all below a folder. */
const below = (path) => (path.endsWith(".ts") ? `^${escape(path)}$` : `^${escape(path)}/`);

/** What every layer of the provider may import. */
const errors = "provider/errors";

/** What may not import what within the layers. */
const boundaries = [
  {
    name: "ground",
    comment: "Every layer may import these: they import nothing else.",
    from: "^provider/(text/|fields/(fieldSpec|resourceSpec|values|formats)\\.ts$)",
    to: "^(provider|emulator)/",
    toNot: ["^provider/text/", "^provider/fields/(fieldSpec|values|formats)\\.ts$", below(errors)],
  },
  {
    name: "core-without-pulumi",
    comment: "Only the program's side and the lookups load Pulumi's library; the core is plain functions.",
    from: "^(provider|emulator)/",
    fromNot: ["^provider/(program|lookups)/"],
    to: "^provider/program/sdk\\.",
  },
  {
    name: "child-processes",
    comment: "programs.ts finds the program: a dependency can put one of the same name on PATH.",
    from: "^(provider|emulator)/",
    fromNot: ["^provider/cli/input/programs\\.ts$"],
    to: "^(node:)?child_process$",
  },
  {
    name: "parts-of-pulumi",
    comment: "program/sdk.ts says which parts of Pulumi's library are loaded. Types cost nothing.",
    from: "^(provider|emulator)/",
    // The plugin is a bundle of its own.
    fromNot: ["^provider/program/sdk\\.", "^provider/native/main\\.ts$"],
    to: "(^|/)node_modules/@pulumi/pulumi/",
    dependencyTypesNot: ["type-only"],
  },
];

/** Packages that only some folders may load. */
const packages = {
  "axios|p-retry|proxy-from-env|https-proxy-agent": ["provider/http"],
  // Not what programs load.
  "p-limit": ["provider/http", "provider/inventory", "provider/lifecycle"],
  "@pulumi/policy": ["provider/policy.ts"],
  commander: ["provider/cli"],
  jose: ["provider/events"],
  "@grpc/grpc-js|google-protobuf": ["provider/native"],
};

module.exports = {
  forbidden: [
    {
      name: "no-circular",
      comment: "Two modules that load each other work only in one order.",
      severity: "error",
      from: {},
      to: {
        circular: true,
        viaOnly: { dependencyTypesNot: ["type-only"] },
      },
    },
    {
      name: "no-layer",
      comment: "The folder has no row in .dependency-cruiser.cjs.",
      severity: "error",
      from: { path: "^(provider|emulator)/", pathNot: Object.keys(layers).map(below) },
      to: {},
    },
    ...Object.entries(layers).map(([layer, allowed]) => ({
      name: `imports-of-${layer}`,
      severity: "error",
      from: { path: below(layer) },
      to: {
        path: "^(provider|emulator)/",
        pathNot: [layer, ...allowed, ...(layer === "emulator" ? [] : [errors])].map(below),
      },
    })),
    ...boundaries.map(({ name, comment, from, fromNot = [], to, toNot = [], ...more }) => ({
      name,
      comment,
      severity: "error",
      from: { path: from, pathNot: fromNot },
      to: { path: to, pathNot: toNot, ...more },
    })),
    ...Object.entries(packages).map(([name, folders]) => ({
      name: `users-of-${name}`,
      severity: "error",
      from: { path: "^(provider|emulator)/", pathNot: folders.map(below) },
      to: { path: `(^|/)node_modules/(${name})/` },
    })),
  ],
  options: {
    tsConfig: { fileName: "tsconfig.json" },
    tsPreCompilationDeps: "specify",
    doNotFollow: { path: "node_modules" },
  },
};
