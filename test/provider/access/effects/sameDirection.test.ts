import fc, { casesOf } from "../../../support/properties";
import { uid } from "../../../support/access";
import { inventoryOf, recordedResource } from "../../../support/documents";
import { compare } from "../../../../provider/access/review/compare";
import { findDrift } from "../../../../provider/access/drift/drift";
import { combineDirections, mayWiden } from "../../../../provider/access/effects";
import type { Direction } from "../../../../provider/access/effects";
import type { RecordedResource } from "../../../../provider/access/documents/engineState";
import type { Props } from "../../../../provider/fields/values";

const root = uid("acme");
const own = `${root}/${"7".repeat(16)}`;
const urnOf = (kind: string): string => `urn:pulumi:prod::acme::pulumi-nodejs:dynamic/platform:${kind}::one`;

function recorded(kind: string, inputs: Props): RecordedResource {
  return recordedResource({
    urn: urnOf(kind),
    type: `pulumi-nodejs:dynamic/platform:${kind}`,
    kind,
    id: own,
    inputs,
    outputs: { ...inputs, uid: own },
  });
}

/** What a review says of the change. */
function reviewed(kind: string, before: Props, after: Props): Direction {
  const step = {
    op: "update",
    urn: urnOf(kind),
    before: recorded(kind, before),
    after: recorded(kind, after),
  };
  const { changes } = compare({ preview: { steps: [step], omittedUnchanged: 0, problems: [] } });
  return combineDirections(changes.flatMap(({ fields }) => fields.map(({ direction }) => direction)));
}

/** What drift says of the same change, made by hand. */
async function drifted(kind: string, before: Props, after: Props): Promise<Direction> {
  const resources = [recorded(kind, before)];
  const objects = [{ kind, uid: own, inputs: after }];
  const report = await findDrift({
    states: [{ stack: "acme/prod", version: 3, resources, pendingDeletes: [], pendingOperations: 0 }],
    inventories: [{ ...inventoryOf(root, ...objects), kinds: [kind] }],
    failOn: "widened",
    now: 0,
    version: "0",
  });
  const { findings, failing } = report;
  const found = combineDirections(findings.flatMap(({ drift }) => drift?.direction ?? []));
  expect(failing).toBe(mayWiden(found) ? 1 : 0);
  for (const { severity } of findings) {
    expect(severity).toBe({ widened: "high", unknown: "high", narrowed: "medium", neutral: "low" }[found]);
  }
  return found;
}

const parentUid = root;
const issuer = "https://token.actions.githubusercontent.com";
const match = (of: Props): Props => ({ parentUid, name: "one", claimMatch: { issuer, ...of } });
test("review and drift report the same direction for any two matches", async () => {
  const words = fc.constantFrom("repo:acme/pay", "repo:acme/web", "repo:globex/pay");
  const patterns = fc.constantFrom(
    "^repo:acme/.*$",
    "^repo:acme/pay$",
    "pay$",
    "^repo:(?:acme|globex)/pay$",
    "(",
  );
  const claims = fc.dictionary(fc.constantFrom("ref", "env"), fc.constantFrom("x", "y"), { maxKeys: 2 });
  const any = fc
    .record({
      subject: fc.oneof(
        words.map((subject) => ({ subject })),
        patterns.map((subjectPattern) => ({ subjectPattern })),
      ),
      claims,
    })
    .map(({ subject, ...conditions }) => match({ ...subject, ...conditions }));
  await fc.assert(
    fc.asyncProperty(any, any, async (before, after) => {
      const direction = reviewed("Identity", before, after);
      expect(await drifted("Identity", before, after)).toBe(direction);
    }),
    { numRuns: casesOf(100) },
  );
});
