import { decidesAccess } from "../../../../provider/access/graph/fieldAccess";
import { specOf } from "../../../../provider/access/graph/directory";
import type { FieldSpec } from "../../../../provider/fields/fieldSpec";
import { aggregatedKind } from "../../../../provider/fields/resourceSpec";
import { isObject } from "../../../../provider/fields/values";
import type { Json, Props } from "../../../../provider/fields/values";
import { kinds } from "../../../../provider/kinds";
import { driftBetween, inventoryOf, live, org, stateOf } from "../../../support/driftDocuments";
import type { Live } from "../../../support/driftDocuments";
import { samples } from "../../../support/samples";

const listed = kinds.map(({ spec }) => spec.kind);

/** A sample's arguments with uids in place of references. */
function argumentsOf(args: Record<string, unknown>): Props {
  const text = JSON.stringify(args).replace(/"\$\{[\w-]+\}"/g, JSON.stringify(`${org}/${"9".repeat(16)}`));
  return JSON.parse(text) as Props;
}

type Path = readonly string[];

/** The members of arguments, objects within objects too, with their descriptions. */
function* fieldsIn(
  fields: Readonly<Record<string, FieldSpec>>,
  inputs: Props,
  path: Path = [],
): Generator<readonly [Path, FieldSpec]> {
  for (const [key, value] of Object.entries(inputs)) {
    const field = fields[key];
    if (field === undefined || field.path) continue;
    yield [[...path, key], field];
    if (field.type === "object" && isObject(value)) yield* fieldsIn(field.fields, value, [...path, key]);
  }
}

function withMember(
  inputs: Props,
  [key = "", ...rest]: Path,
  change: (old: Json | undefined) => Json | undefined,
): Props {
  const old = inputs[key];
  const value = rest.length === 0 ? change(old) : withMember(isObject(old) ? old : {}, rest, change);
  const members = Object.entries({ ...inputs, [key]: value });
  return Object.fromEntries(members.filter(([, member]) => member !== undefined));
}

const cases = samples
  .filter(({ kind }) => {
    const spec = specOf(kind);
    return spec === undefined || aggregatedKind(spec) === undefined;
  })
  .flatMap(({ label, kind, args }) => {
    const inputs = argumentsOf(args);
    return [...fieldsIn(specOf(kind)?.fields ?? {}, inputs)].map(
      ([path, field]) => [`${label} ${path.join(".")}`, { kind, inputs, path, field }] as const,
    );
  });

const compare = async (recorded: { kind: string; uid: string; inputs: unknown }, now: Live) =>
  driftBetween([stateOf([recorded])], [], {
    inventories: [
      inventoryOf([{ kind: "Group", uid: org, inputs: { name: "acme" } }, now], { kinds: listed }),
    ],
  });

describe("what a program never set", () => {
  const optional = cases.filter(([, { field }]) => !field.required && !field.inputOnly);
  test.each(optional)(
    "is compared where it decides access: %s",
    async (_title, { kind, inputs, path, field }) => {
      const object = live(kind, inputs);
      const unset = withMember(object.inputs, path, () => undefined);
      const report = await compare({ ...object, inputs: unset }, object);
      const isFound = report.findings.some(({ id }) => id === "drift-changed");
      if (decidesAccess(field) && field.serverFilled === undefined) expect(isFound).toBe(true);
    },
  );
});
