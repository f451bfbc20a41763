/** @type {import("ts-jest").JestConfigWithTsJest} */
const common = {
  rootDir: __dirname,
  testEnvironment: "node",
  transform: {
    "^.+\\.ts$": ["ts-jest", { tsconfig: "tsconfig.json", diagnostics: false }],
    // ES modules; Node loads them by require, jest's own loader cannot.
    "^.+/node_modules/(jose|p-retry|p-limit|is-network-error|yocto-queue)/.+\\.js$": [
      "ts-jest",
      { tsconfig: { allowJs: true, module: "CommonJS", esModuleInterop: true }, diagnostics: false },
    ],
  },
  transformIgnorePatterns: ["/node_modules/(?!(jose|p-retry|p-limit|is-network-error|yocto-queue)/)"],
  moduleFileExtensions: ["ts", "js", "json", "node"],
};

module.exports = {
  // Tests of the engine mostly wait for processes: jest's default would leave the last processor idle.
  maxWorkers: "100%",
  // Ends a test that hangs. A busy machine must not fail one that is slow.
  testTimeout: 300_000,
  projects: [
    {
      ...common,
      displayName: "unit",
      testMatch: ["<rootDir>/test/{provider,emulator,scripts}/**/*.test.ts"],
    },
    {
      ...common,
      displayName: "engine",
      testMatch: ["<rootDir>/test/{engine,package,examples,adversarial}/**/*.test.ts"],
    },
  ],
};
