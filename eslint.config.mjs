import eslint from "@eslint/js";
import tseslint from "typescript-eslint";

/**
 * One rule per layer: what a folder must not import. The flow is
 * program -> resources -> engine -> api; access and cli stand beside it, the emulator apart.
 */
const layer = (files, patterns, ignores = []) => ({
  files,
  ignores,
  rules: {
    "no-restricted-imports": [
      "error",
      {
        patterns: patterns.map(([regex, message]) => ({ regex, message })),
      },
    ],
  },
});

const noEmulator = ["(^|/)emulator(/|$)", "The provider and the emulator share nothing."];
const noPulumi = ["^@pulumi/|/sdk$", "The core knows no Pulumi types; only the adapters do."];
const sdkOnly = ["^@pulumi/", "Only engine/sdk.ts says which parts of Pulumi's library are loaded."];
const noCli = ["/cli(/|$)|/index$|^\\.\\.$", "Nobody imports the command line or the public surface."];
const noUpper = ["/(resources|functions|access)(/|$)", "A lower layer does not know the kinds."];
const noAxios = ["^(axios|p-retry|p-limit)$", "Only api/ speaks HTTP."];

export default tseslint.config(
  { ignores: [".cache/", "dist/", "coverage/", "node_modules/", "**/node_modules/", "test/fixtures/"] },
  eslint.configs.recommended,
  {
    files: ["**/*.ts"],
    extends: [tseslint.configs.strictTypeChecked],
    languageOptions: {
      parserOptions: {
        project: ["./tsconfig.json", "./examples/*/tsconfig.json"],
        tsconfigRootDir: import.meta.dirname,
      },
    },
    rules: {
      "@typescript-eslint/restrict-template-expressions": [
        "error",
        { allowNumber: true, allowBoolean: true },
      ],
      "@typescript-eslint/no-confusing-void-expression": ["error", { ignoreArrowShorthand: true }],
      "@typescript-eslint/consistent-type-imports": "error",
      // The interfaces of arguments and results give a short name to a type that is inferred from a description.
      "@typescript-eslint/no-empty-object-type": ["error", { allowInterfaces: "with-single-extends" }],
      "@typescript-eslint/switch-exhaustiveness-check": [
        "error",
        { considerDefaultExhaustiveForUnions: true },
      ],
      "@typescript-eslint/no-unused-vars": ["error", { argsIgnorePattern: "^_" }],
      "no-console": "error",
      eqeqeq: "error",
    },
  },
  {
    files: ["**/*.mjs", "**/*.js", "**/*.cjs"],
    languageOptions: {
      globals: {
        process: "readonly",
        console: "readonly",
        require: "readonly",
        module: "readonly",
        exports: "writable",
        fetch: "readonly",
        performance: "readonly",
        URL: "readonly",
        Buffer: "readonly",
        __dirname: "readonly",
        setTimeout: "readonly",
        clearTimeout: "readonly",
        AbortSignal: "readonly",
      },
    },
  },
  layer(
    ["provider/engine/spec.ts"],
    [["^\\.", "spec imports nothing of ours."], noPulumi, noAxios, noEmulator],
  ),
  layer(
    ["provider/engine/{check,fieldMask,wire,schemaMismatch,values,formats,times}.ts"],
    [
      ["^\\.\\./(?!api/uid$)", "The pure modules import only the spec."],
      ["^\\./(handlers|dynamic|resource)", "The pure modules import only the spec."],
      noPulumi,
      noAxios,
      noEmulator,
    ],
  ),
  layer(
    [
      "provider/engine/{handlers,messages,creator,adoption,lostCreates,createRegistry,createAndVerify}.ts",
      "provider/engine/operations/**/*.ts",
    ],
    [noPulumi, noUpper, noCli, noAxios, noEmulator],
  ),
  layer(["provider/engine/dynamic.ts"], [noPulumi, noCli, noAxios, noEmulator]),
  layer(
    ["provider/engine/{resource,ownership}.ts"],
    [
      sdkOnly,
      noCli,
      noUpper,
      noAxios,
      noEmulator,
      [
        "/(handlers|dynamic)$|/operations/|/api/",
        "The program's side never loads the provider process's side.",
      ],
    ],
  ),
  layer(
    ["provider/api/**/*.ts"],
    [["/(engine|resources|functions|access)(/|$)", "api/ never sees a spec."], noPulumi, noCli, noEmulator],
  ),
  layer(
    ["provider/api/{uid,loopback,address,credentials}.ts"],
    [["", "Every layer may import these: they import nothing."]],
  ),
  layer(
    ["provider/resources/**/*.ts"],
    [
      noCli,
      noAxios,
      noEmulator,
      ["/(handlers|dynamic)$|/operations/|/api/(?!uid$)", "A kind describes; the engine side acts."],
    ],
    ["provider/resources/index.ts"],
  ),
  {
    files: ["provider/resources/*.ts"],
    // The outputs of a kind are declared by an interface beside its class: the engine's library sets them.
    rules: { "@typescript-eslint/no-unsafe-declaration-merging": "off" },
  },
  layer(
    ["provider/schema/**/*.ts"],
    [
      ["^\\.\\./(?!api/uid$|engine/spec$)", "The field language imports types and uids."],
      noUpper,
      noCli,
      noAxios,
      noEmulator,
    ],
  ),
  layer(["provider/functions/**/*.ts"], [sdkOnly, noCli, noAxios, noEmulator]),
  layer(["provider/access/**/*.ts"], [noPulumi, noCli, noAxios, noEmulator]),
  layer(["provider/inventory/**/*.ts"], [noPulumi, noCli, noAxios, noEmulator]),
  layer(["provider/policy.ts"], [noCli, noAxios, noEmulator]),
  layer(
    ["provider/events/**/*.ts"],
    [
      noPulumi,
      noCli,
      noAxios,
      noEmulator,
      ["^\\.\\./(?!api/(loopback|address|logText)$)", "A receiver of events loads nothing else of ours."],
    ],
  ),
  layer(["provider/{config,connect}.ts"], [noPulumi, noCli, noUpper, noAxios, noEmulator]),
  layer(["provider/index.ts"], [["/cli(/|$)", "Programs never load the command line."], noAxios, noEmulator]),
  layer(
    ["emulator/**/*.ts"],
    [["(^|/)provider(/|$)", "The emulator and the provider share nothing."], noPulumi],
  ),
  {
    files: ["provider/**/*.ts", "emulator/**/*.ts"],
    ignores: [
      // Calendar times: of a server without a Date header, of documents, of rules about expiry dates.
      "provider/api/{client,exchange,transport}.ts",
      "provider/engine/readOnly.ts",
      "provider/cli/**/*.ts",
      "provider/engine/{dynamic,handlers}.ts",
      "provider/policy.ts",
      // What an emulated server takes for the time.
      "emulator/index.ts",
    ],
    rules: {
      "no-restricted-properties": [
        "error",
        {
          object: "Date",
          property: "now",
          message:
            "Clocks are set back: measure durations by performance.now(). Allow a file that means a calendar time.",
        },
      ],
    },
  },
  {
    files: ["provider/cli/**/*.ts", "emulator/main.ts", "scripts/**/*", "test/**/*"],
    rules: { "no-console": "off" },
  },
  {
    files: ["test/**/*.ts"],
    rules: {
      "@typescript-eslint/no-non-null-assertion": "off",
      "@typescript-eslint/no-unsafe-assignment": "off",
    },
  },
  {
    files: ["examples/**/*.ts"],
    rules: { "no-console": "off" },
  },
);
