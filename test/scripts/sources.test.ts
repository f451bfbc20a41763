import { readFileSync } from "node:fs";
import path from "node:path";
import { listFiles, projectRoot } from "./support";

/* What no linter has a rule for: how the package throws errors, and where it reads variables. */

const files = listFiles().filter((file) => /^provider\/.*\.ts$/.test(file));

interface SourceRule {
  readonly instead: string;
  readonly forbidden: RegExp;
  /** The places that may, with the reason. */
  readonly except: readonly string[];
}

const rules: readonly SourceRule[] = [
  {
    instead: "every error has a code: throw a CodedError, or write its message withCode(…)",
    forbidden: /new (?:pulumi\.)?(?:Error|TypeError|RangeError|RunError)\((?!\s*withCode\(|\))/g,
    // Its lines have their codes already.
    except: ["provider/program/argumentErrors.ts: new pulumi.RunError("],
  },
  {
    instead: "every error has a code: extend CodedError",
    forbidden: /class \w+ extends Error\b/g,
    except: [
      "provider/errors/codedError.ts: class CodedError extends Error",
      // Caught where it is thrown: nobody sees it.
      "provider/access/trust/budget.ts: class BudgetExceeded extends Error",
    ],
  },
  {
    instead: "declare the variable in provider/settings/environment.ts, and read it from readEnvironment()",
    forbidden: /process\.env[.[]/g,
    except: [],
  },
];

const places = (text: string, file: string, forbidden: RegExp): string[] =>
  [...text.matchAll(forbidden)].map(([found]) => `${file}: ${found}`);

test.each(rules)("$instead", ({ forbidden, except }) => {
  const found = files.flatMap((file) =>
    places(readFileSync(path.join(projectRoot, file), "utf8"), file, forbidden),
  );
  expect(found.sort()).toEqual([...except].sort());
});

test.each([
  "throw new Error('no');",
  "throw new pulumi.RunError(\n  text,\n);",
  "class Refused extends Error {}",
  "const home = process.env['HOME'];",
])("finds %j", (text) => {
  expect(rules.flatMap(({ forbidden }) => places(text, "a.ts", forbidden))).toHaveLength(1);
});
