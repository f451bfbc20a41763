/**
 * Which folder may import which, types included: one row a folder. A file that no row covers is an error, so a new folder
 * cannot be forgotten. What a row names stands below it: the rows are in the order of the layers, the ground first.
 */
const layers = {
  "provider/errorCodes": [],
  "provider/api": [],
  "provider/settings": ["provider/api"],
  "provider/engine": ["provider/api"],
  "provider/schema": ["provider/api/uid.ts", "provider/engine/description"],
  "provider/resources": ["provider/api/uid.ts", "provider/engine", "provider/schema"],
  "provider/functions": [
    "provider/api",
    "provider/settings",
    "provider/engine",
    "provider/resources",
    "provider/schema",
  ],
  "provider/index.ts": ["provider/engine", "provider/functions", "provider/resources"],
  "provider/events": [
    "provider/api/address.ts",
    "provider/api/logText.ts",
    "provider/api/loopback.ts",
    "provider/api/withoutTrailing.ts",
  ],
  "provider/access/trust": ["provider/api/errors.ts", "provider/api/withoutTrailing.ts"],
  "provider/access/documents": ["provider/api", "provider/engine", "provider/resources"],
  "provider/access/graph": [
    "provider/access/documents",
    "provider/access/trust",
    "provider/api",
    "provider/engine",
    "provider/resources",
  ],
  "provider/access/effects": [
    "provider/access/graph",
    "provider/access/trust",
    "provider/api",
    "provider/engine",
  ],
  "provider/access/review": [
    "provider/access/documents",
    "provider/access/effects",
    "provider/access/graph",
    "provider/access/trust",
    "provider/engine",
  ],
  "provider/access/rules": [
    "provider/access/documents",
    "provider/access/effects",
    "provider/access/graph",
    "provider/access/review",
    "provider/access/trust",
    "provider/api",
    "provider/engine",
  ],
  "provider/access/suppressions": [
    "provider/access/documents",
    "provider/access/graph",
    "provider/access/review",
    "provider/access/rules",
    "provider/access/trust",
    "provider/api",
    "provider/engine",
  ],
  "provider/access/report": [
    "provider/access/documents",
    "provider/access/effects",
    "provider/access/graph",
    "provider/access/review",
    "provider/access/rules",
    "provider/access/suppressions",
    "provider/api",
    "provider/engine",
  ],
  "provider/access/adopt": [
    "provider/access/documents",
    "provider/access/graph",
    "provider/api",
    "provider/engine",
    "provider/resources",
  ],
  "provider/access/drift": ["provider/access", "provider/api", "provider/engine", "provider/resources"],
  "provider/access/verify": [
    "provider/access/documents",
    "provider/access/effects",
    "provider/access/graph",
    "provider/access/report",
    "provider/access/review",
    "provider/access/trust",
    "provider/api",
    "provider/engine",
  ],
  "provider/access/index.ts": ["provider/access"],
  "provider/policy.ts": ["provider/access", "provider/engine"],
  "provider/inventory": [
    "provider/access/documents",
    "provider/api",
    "provider/engine",
    "provider/functions",
    "provider/resources",
  ],
  "provider/cli": [
    "provider/access",
    "provider/api",
    "provider/settings",
    "provider/engine",
    "provider/events",
    "provider/inventory",
    // The command `emulator` starts it.
    "emulator/main.ts",
  ],
  // The provider's mistakes must not pass on both sides: the emulator shares nothing with it.
  emulator: [],
};

/** Modules that may import more than their layer: the entry of the provider's process joins all of them. */
const exceptions = {
  "provider/engine/dynamic.ts": [
    "provider/api",
    "provider/settings",
    "provider/engine",
    "provider/resources",
  ],
};

const escape = (path) => path.replace(/[.]/g, "\\.");
/** A file, or all below a folder. */
const below = (path) => (path.endsWith(".ts") ? `^${escape(path)}$` : `^${escape(path)}/`);

/** What every layer of the provider may import. */
const errorCodes = "provider/errorCodes";

const engine = (...names) => `^provider/engine/(${names.join("|")})`;
const pure = engine("checks/", "wire/", "values/");
const processSide = engine(
  "dynamic\\.",
  "operations/(handlers|context|create|lostCreate|read|update|delete|verifyWrite|owners)\\.",
);
const programSide = engine("program/(resource|ownership|adopt)\\.");
const library = engine("program/sdk\\.");

/** What may not import what within the layers. */
const boundaries = [
  {
    name: "ground",
    comment: "Every layer may import these: they import nothing else.",
    from: "^provider/(engine/description/|api/(uid|loopback|address|credentials|withoutTrailing)\\.ts$)",
    to: "^(provider|emulator)/",
    toNot: ["^provider/engine/description/", below(errorCodes)],
  },
  {
    name: "pure-parts",
    comment: "Checks, masks and encoding are functions of a description and values.",
    from: pure,
    to: "^provider/",
    toNot: [pure, engine("description/"), "^provider/api/(uid|withoutTrailing)\\.ts$", below(errorCodes)],
  },
  {
    name: "program-side",
    comment: "A program never loads what runs in the provider's process.",
    from: [programSide, "^provider/resources/"],
    to: [processSide, "^provider/api/(?!uid\\.)"],
  },
  {
    name: "core-without-pulumi",
    comment: "Only the program's side and the lookups load Pulumi's library; the core is plain functions.",
    from: "^(provider|emulator)/",
    fromNot: [programSide, library, "^provider/functions/"],
    to: library,
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
    comment: "engine/program/sdk.ts says which parts of Pulumi's library are loaded. Types cost nothing.",
    from: "^(provider|emulator)/",
    fromNot: [library],
    to: "(^|/)node_modules/@pulumi/pulumi/",
    dependencyTypesNot: ["type-only"],
  },
];

/** Packages that only some folders may load. */
const packages = {
  "axios|p-retry|p-limit|proxy-from-env|https-proxy-agent": ["provider/api"],
  "@pulumi/policy": ["provider/policy.ts"],
  commander: ["provider/cli"],
  jose: ["provider/events"],
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
        // The list of commands loads each when it is called.
        viaOnly: { dependencyTypesNot: ["type-only"], pathNot: "^provider/cli/commands/list\\.ts$" },
      },
    },
    {
      name: "no-layer",
      comment: "The folder has no row in .dependency-cruiser.cjs.",
      severity: "error",
      from: { path: "^(provider|emulator)/", pathNot: Object.keys(layers).map(below) },
      to: {},
    },
    ...Object.entries({ ...layers, ...exceptions }).map(([layer, allowed]) => ({
      name: `imports-of-${layer}`,
      severity: "error",
      from: {
        path: below(layer),
        ...(layer in exceptions ? {} : { pathNot: Object.keys(exceptions).map(below) }),
      },
      to: {
        path: "^(provider|emulator)/",
        pathNot: [layer, ...allowed, ...(layer === "emulator" ? [] : [errorCodes])].map(below),
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
