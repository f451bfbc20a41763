import { ownEffect } from "../../../../provider/fields/fieldSpec";
import { specs } from "../../../../provider/access/documents/specs";
import { kinds } from "../../../../provider/kinds";
import { argumentsOf, driftBetween, inventoryOf, live, org, stateOf } from "../../../support/driftDocuments";
import { samples } from "../../../support/samples";
import { leavesOf } from "../../support/samples";

const listed = kinds.map(({ spec }) => spec.kind);

/** Ends that the server chooses: what shows that one was moved. */
const chosenEnds: Readonly<Record<string, string>> = {
  "ScimToken.expireTime": "tokenExpireTime",
  // The server's default is the latest that it takes.
  "Identity.staticKeys.expirationTime": "",
};

describe("what the server sets and no argument does", () => {
  const outputs = kinds.flatMap(({ spec }) =>
    Object.entries(spec.outputs ?? {}).map(([name, field]) => ({ kind: spec.kind, name, field })),
  );
  const [early, late] = ["2026-07-01T00:00:00Z", "2026-08-01T00:00:00Z"];
  const cases = outputs.flatMap(({ kind, name, field }) =>
    (
      [
        [early, late, true],
        [late, early, ownEffect(field) === "permission"],
        [early, "2026-07-01T00:00:00.000Z", false],
        [early, undefined, ownEffect(field) === "expiry"],
        [undefined, early, ownEffect(field) === "permission"],
      ] as const
    ).flatMap(([from, to, isDrift]) =>
      field.access === undefined ? [] : [{ kind, name, from, to, isDrift }],
    ),
  );

  test("is known by its description, where it is a time", () => {
    for (const { kind, name, field } of outputs) {
      const isTime = field.type === "string" && field.format === "timestamp";
      expect([kind, name, field.access !== undefined]).toEqual([kind, name, isTime]);
    }
    const chosen = kinds.flatMap(({ spec }) =>
      leavesOf(spec.fields).flatMap(({ path, field }) =>
        field.serverFilled === true && ownEffect(field) === "expiry" ? [[spec.kind, ...path].join(".")] : [],
      ),
    );
    expect(chosen.sort()).toEqual(Object.keys(chosenEnds).sort());
    for (const name of Object.values(chosenEnds).filter((each) => each !== "")) {
      expect(outputs.map((output) => output.name)).toContain(name);
    }
  });

  test.each(cases)("is drift where it gives more: $kind $name from $from to $to", async (each) => {
    const { kind, name, from, to, isDrift } = each;
    const sample = samples.find((one) => one.kind === kind);
    const object = live(kind, argumentsOf(sample?.args ?? {}));
    const uid = specs[kind]?.sharesParentUid === true ? org : object.uid;
    const states = [stateOf([{ ...object, uid, outputs: { ...object.inputs, [name]: from } }])];
    const report = await driftBetween(states, [], {
      inventories: [inventoryOf([{ ...object, uid, details: { [name]: to } }], { kinds: listed })],
    });
    const found = report.findings.filter(({ id }) => id === "drift-changed");
    const expected = {
      severity: "high",
      advice: "make it anew, accept it by a refresh of the state, or suppress it",
      drift: { kind: "changed", direction: "widened", paths: [name] },
    };
    expect(found).toMatchObject(isDrift ? [expected] : []);
    const [difference] = report.differences.filter(({ kind: what }) => what === "changed");
    expect(difference?.answers.revert ?? "").toMatch(isDrift ? /^pulumi up --target-replace urn:/ : /^$/);
    expect(difference?.answers.adopt ?? "").toMatch(isDrift ? /^pulumi refresh --target urn:/ : /^$/);
  });
});
