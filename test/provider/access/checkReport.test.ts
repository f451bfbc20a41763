import { readFileSync } from "node:fs";
import { join } from "node:path";
import Ajv from "ajv";
import fc from "../../support/properties";
import { reportProblem } from "../../../provider/access/checkReport";
import { ROOT } from "../../support/engine";
import { cleanReview, largeReview, nightDrift, riskyReview } from "./render/reports";

const schema = JSON.parse(readFileSync(join(ROOT, "schema/report.schema.json"), "utf8")) as object;
const isValid = new Ajv({ allErrors: false }).compile(schema);

test.each([riskyReview, nightDrift, cleanReview, largeReview(50)])(
  "a report of ours is one (%#)",
  (report) => {
    expect(reportProblem(JSON.parse(JSON.stringify(report)))).toBeUndefined();
  },
);

test("the problem is named in one line, with its place", () => {
  expect(reportProblem(null)).toBe("the report must be of type object");
  expect(reportProblem({ ...riskyReview, complete: "yes" })).toBe("complete must be of type boolean");
  expect(reportProblem({ ...riskyReview, "x\u001b[2J": 1 })).toContain("a member that no report has");
  const [first, ...rest] = riskyReview.findings;
  expect(reportProblem({ ...riskyReview, findings: [{ ...first, severity: "worst" }, ...rest] })).toBe(
    "findings[0].severity must be one of critical, high, medium, low",
  );
  expect(reportProblem({ ...riskyReview, schemaVersion: 2 })).toBe("schemaVersion must be 1");
  expect(reportProblem({ ...riskyReview, failing: -1 })).toBe("failing must be 0 or more");
});

/** Every place in a value: the containers and the key. */
function places(value: unknown, found: [object, string][] = []): [object, string][] {
  if (typeof value !== "object" || value === null) return found;
  for (const [key, inner] of Object.entries(value)) {
    found.push([value, key]);
    places(inner, found);
  }
  return found;
}

test("it judges as a validator of JSON Schema does, whatever is changed in a report", () => {
  const odd = fc.constantFrom<unknown>(
    null,
    true,
    0,
    -1,
    1.5,
    "",
    "x",
    "high",
    "gained",
    [],
    [1],
    {},
    { a: 1 },
    ["x"],
  );
  fc.assert(
    fc.property(
      fc.constantFrom(riskyReview, nightDrift),
      fc.nat(),
      odd,
      fc.constantFrom("set", "remove", "add"),
      (report, at, value, how) => {
        const copy = JSON.parse(JSON.stringify(report)) as object;
        const all = places(copy);
        const [container, key] = all[at % all.length]!;
        if (how === "set") Reflect.set(container, key, value);
        else if (how === "add") Reflect.set(container, `${key}x`, value);
        else Reflect.deleteProperty(container, key);
        const changed = JSON.parse(JSON.stringify(copy)) as unknown;
        expect(reportProblem(changed) === undefined).toBe(isValid(changed));
      },
    ),
    { numRuns: 2000 },
  );
});
