const os = require("node:os");

/** @type {import("ts-jest").JestConfigWithTsJest} */
const common = {
  rootDir: __dirname,
  testEnvironment: "<rootDir>/scripts/lib/testEnvironment.cjs",
  // Writes a validator of each schema, as the build does.
  globalSetup: "<rootDir>/scripts/lib/validatorCode.mjs",
  setupFiles: ["<rootDir>/test/support/processFlags.ts"],
  moduleNameMapper: {
    "^(?:\\.\\./)+schema/([\\w-]+\\.validate\\.js)$": "<rootDir>/.cache/validators/$1",
    "^@npmcli/arborist$": "<rootDir>/test/support/unusedModule.cjs",
    "^(?:\\.\\./)+typescript-shim$": "<rootDir>/test/support/unusedModule.cjs",
    "^\\./automation$": "<rootDir>/test/support/unusedModule.cjs",
  },
  transform: {
    "^.+\\.ts$": ["ts-jest", { tsconfig: "tsconfig.json", diagnostics: false }],
    // ES modules; Node loads them by require, jest's own loader cannot.
    "^.+/node_modules/(jose|p-retry|p-limit|is-network-error|yocto-queue|https-proxy-agent|agent-base|proxy-agent-negotiate)/.+\\.js$":
      [
        "ts-jest",
        { tsconfig: { allowJs: true, module: "CommonJS", esModuleInterop: true }, diagnostics: false },
      ],
  },
  transformIgnorePatterns: [
    "/node_modules/(?!(jose|p-retry|p-limit|is-network-error|yocto-queue|https-proxy-agent|agent-base|proxy-agent-negotiate)/)",
  ],
  moduleFileExtensions: ["ts", "js", "json", "node"],
};

const inFolders = (/** @type {string[]} */ ...folders) =>
  folders.map((folder) => `<rootDir>/test/${folder}/**/*.test.ts`);

// `npm test` runs one life of all kinds and one program of the packed package; `npm run test:all` runs every file.
const isQuick = process.env.PULUMI_PLATFORM_TESTS === "quick";

// The mutants run few of many alike cases as well, but every file.
const isThorough = process.env.PROPERTY_SEED !== undefined;

// They start a browser, a compiler, and the jobs of pipelines.
const slowUnits = [
  "/report/render/(?:page|cards)\\.test\\.ts$",
  "/provider/surface\\.test\\.ts$",
  "/cli/ciParts\\.test\\.ts$",
];

// The guide to add a kind, followed in a copy, takes minutes: each night does it, with NEW_KIND=true.
const nightlyOnly = process.env.NEW_KIND === "true" ? [] : ["/test/scripts/newKind\\.test\\.ts$"];

// `npm run site -- --test` builds the site and runs its tests, and no others.
const isSite = process.env.PULUMI_PLATFORM_TESTS === "site";

module.exports = {
  // Jest's default would leave the last processor idle. Tests of the engine often wait for processes: one more fills these times.
  maxWorkers: os.availableParallelism() + (isQuick ? 0 : 1),
  // The only time limit of all tests. It ends a test that hangs; work is bounded by counts, since a machine may be busy.
  testTimeout: 1_200_000,
  testSequencer: "<rootDir>/scripts/lib/longestFirst.cjs",
  projects: isSite
    ? [{ ...common, displayName: "site", testMatch: inFolders("site") }]
    : [
        {
          ...common,
          displayName: "unit",
          testMatch: inFolders("provider", "emulator"),
          testPathIgnorePatterns: ["/node_modules/", ...(isQuick && !isThorough ? slowUnits : [])],
        },
        {
          ...common,
          displayName: "engine",
          testMatch: isQuick
            ? ["<rootDir>/test/engine/lifecycle.test.ts"]
            : inFolders("engine", "examples", "adversarial"),
        },
        {
          ...common,
          displayName: "package",
          testMatch: isQuick ? ["<rootDir>/test/package/firstProgram.test.ts"] : inFolders("package"),
        },
        ...(isQuick
          ? []
          : [
              {
                ...common,
                displayName: "scripts",
                testMatch: inFolders("scripts"),
                testPathIgnorePatterns: ["/node_modules/", ...nightlyOnly],
              },
            ]),
      ],
};
