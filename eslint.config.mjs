import eslint from "@eslint/js";
import tseslint from "typescript-eslint";

export default tseslint.config(
  {
    ignores: [
      ".cache/",
      "**/dist/",
      "coverage/",
      "**/node_modules/",
      "test/fixtures/",
      "site/.*/",
      "!site/.vitepress/",
    ],
  },
  eslint.configs.recommended,
  {
    files: ["**/*.ts"],
    extends: [tseslint.configs.strictTypeChecked],
    languageOptions: {
      parserOptions: {
        // One program of all examples: each by its own configuration would load the SDK's types again.
        project: ["./tsconfig.json", "./tsconfig.examples.json"],
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
      "no-duplicate-imports": ["error", { allowSeparateTypeImports: true }],
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
  {
    files: ["provider/kinds/*.ts"],
    // The outputs of a kind are declared by an interface beside its class: the engine's library sets them.
    rules: { "@typescript-eslint/no-unsafe-declaration-merging": "off" },
  },
  {
    files: ["provider/**/*.ts", "emulator/**/*.ts"],
    ignores: [
      // Calendar times: of a server without a Date header, of documents, of rules about expiry dates.
      "provider/http/{client,tokens,transport}.ts",
      "provider/cli/**/*.ts",
      "provider/lifecycle/context.ts",
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
    files: ["provider/**/*.ts"],
    ignores: ["provider/errors/codedError.ts"],
    rules: {
      "no-restricted-syntax": [
        "error",
        {
          selector:
            "NewExpression[arguments.length>0]:not([arguments.0.callee.name='withCode']):matches([callee.name=/^(Error|TypeError|RangeError)$/], [callee.property.name='RunError'])",
          message: "Every error has a code: throw a CodedError, or write its message withCode(…).",
        },
        {
          selector: "ClassDeclaration[superClass.name='Error']",
          message: "Every error has a code: extend CodedError.",
        },
        {
          selector: "MemberExpression[object.object.name='process'][object.property.name='env']",
          message:
            "Declare the variable in provider/settings/environment.ts, and read it from readEnvironment().",
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
