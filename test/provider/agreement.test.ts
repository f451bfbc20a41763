import { isQuick, oneIn, spreadOf } from "../support/properties";
import { startEmulator } from "../../emulator";
import type { Emulator } from "../../emulator";
import { ApiError } from "../../provider/http/errors";
import { HandlerError, propertyOf } from "../../provider/lifecycle/messages";
import { isSet } from "../../provider/fields/equal";
import type { FieldSpec } from "../../provider/fields/fieldSpec";
import type { Json, Props } from "../../provider/fields/values";
import { lowerFirst } from "../../scripts/lib/letterCase.cjs";
import { addresses } from "../support/byHand";
import { declared, memberAt, ownOf, samples, surroundings, withMember } from "../support/samples";
import type { Sample } from "../support/samples";
import { valuesOf } from "../support/fieldValues";
import { call } from "../support/wire";
import { HandlerStack } from "./support/handlerStack";
import { CERTIFICATE, GROUP_UID, JWKS, PUBLIC_KEY, specOf, specs } from "./support/samples";

/* The package and the emulator, written apart, agree on what is valid and on what a program leaves out. */

let emulator: Emulator;
let stack: HandlerStack;

beforeAll(async () => {
  const now = Date.now();
  emulator = await startEmulator({ now: () => now });
  const all = samples.flatMap((sample) => Object.entries(declared(sample.label, sample, sample.args)));
  stack = new HandlerStack(emulator, { ...surroundings, ...Object.fromEntries(all) });
});
afterAll(() => emulator.close());

/** The arguments of a sample, with what they refer to. */
const baseOf = ({ label, args }: Sample): Promise<Props> =>
  stack.resolved(JSON.parse(JSON.stringify(args).replaceAll("${own}", `\${${ownOf(label)}}`)) as Props);

/** What is written by requests of its own has tests of its own. */
const posted = samples.filter(({ kind }) => kind in addresses);

const hex = (digits: string, length: number): string => digits.repeat(length).slice(0, length);
const texts: readonly string[] = [
  ...["", " ", "a", "A B", "ünï", "x\ny", "x\ty", "y".repeat(513), "constructor", "<script>x</script>"],
  ...["https://e.com", "http://e.com", "https://", "not a url", "^a$", "(", "(?=a)"],
  ...["24h", "86400s", "1.5s", "-1s", "P1D", "0s"],
  ...["2030-01-01T00:00:00Z", "2030-01-01", "2030-02-30T00:00:00Z", "2020-01-01T00:00:00Z"],
  ...[GROUP_UID, "abc", `${hex("ab", 40)}/`, `sha256:${hex("a", 64)}`, "sha256:x"],
  ...[".hidden", "../x", "a b.pub", "123456789012", "12345", "base", "Base", "repo:tag", "a/b:c"],
  ...[JWKS, "{}", '{"keys":[]}', PUBLIC_KEY, CERTIFICATE, "-----BEGIN"],
  ...["CATALOG_TIER_BASE", "BASE", "CAP_REPO_LIST", "cap", "SERVICE_PRINCIPAL_COSIGNED"],
];
const keys = ["", "a b", "CHAINGUARD_X", "dev.chainguard.x", "org.opencontainers.a", "__proto__", "INGESTER"];
const wrongTypes: readonly Json[] = [5, 1.5, true, [], {}, null, ["a"], { a: "b" }];

/** Texts for a field: those of any, and the first that its description knows. */
function textsFor(field: FieldSpec): readonly string[] {
  if (field.type === "enum")
    return [...texts, ...field.known.slice(0, 2).map((name) => `${field.prefix}${name}`)];
  return [...texts, ...valuesOf(field, 2).filter((value) => typeof value === "string")];
}

function candidatesFor(field: FieldSpec): readonly Json[] {
  switch (field.type) {
    case "string":
    case "enum":
      return [...textsFor(field), ...wrongTypes];
    case "boolean":
      return [false, "true", 1, ...wrongTypes];
    case "integer":
      return [0, 1, -1, 2 ** 31, 2 ** 31 - 1, "1", ...wrongTypes];
    case "list":
      return [...textsFor(field.items).map((text) => [text]), [5], [null], ["a", "a"], ...wrongTypes];
    case "map":
      return [
        ...textsFor(field.values).map((text) => ({ k: text })),
        ...keys.map((key) => ({ [key]: "v" })),
        { k: null },
        { k: 5 },
        ...wrongTypes,
      ];
    case "object":
      return [null, {}, "x", [], 5];
  }
}

function leavesOf(fields: Readonly<Record<string, FieldSpec>>, prefix = ""): [string, FieldSpec][] {
  return Object.entries(fields).flatMap(([key, field]): [string, FieldSpec][] => [
    [`${prefix}${key}`, field],
    ...(field.type === "object" ? leavesOf(field.fields, `${prefix}${key}.`) : []),
  ]);
}

/** How often the candidates of fields with the same valid values were asked for. */
const uses = new Map<string, number>();

/** Members of a description that say nothing of which values are valid. */
const UNRELATED = [
  ...["access", "security", "secret", "immutable", "inputOnly", "serverFilled", "unordered", "refersTo"],
  ...["hydratedIn", "wire", "capabilities", "ignoreDrift", "images"],
];

/**
 * All candidates for the first field whose values must be the same, and a quarter of them for each further one, in turn. A
 * thorough run tries all for each.
 */
function shareFor(field: FieldSpec): readonly Json[] {
  const description = JSON.stringify(field, (key, value: unknown) => {
    if (UNRELATED.includes(key)) return undefined;
    return value instanceof RegExp || typeof value === "function" ? String(value) : value;
  });
  const use = uses.get(description) ?? 0;
  uses.set(description, use + 1);
  return use === 0 ? candidatesFor(field) : oneIn(4, candidatesFor(field), use);
}

/** Where one of the two refuses what the other takes, on purpose. */
interface Difference {
  readonly stricter: "package" | "emulator";
  readonly path: RegExp;
  readonly when?: (value: Json) => boolean;
}
const isBlank = (value: unknown): boolean => typeof value === "string" && value.trim() === "";
const holdsBlank = (value: Json): boolean =>
  isBlank(value) ||
  (value !== null && typeof value === "object" && Object.entries(value).flat().some(isBlank));
const isEnum = (field: FieldSpec): boolean =>
  field.type === "enum" || (field.type === "list" && isEnum(field.items));
const enumPaths = specs.flatMap(({ fields }) =>
  leavesOf(fields).flatMap(([path, field]) => (isEnum(field) ? [path] : [])),
);
const numbers = (value: Json): boolean => [value].flat().includes(5);
/** What the server alone refuses, and what the package does. */
const differences: readonly Difference[] = [
  // Which names the server checks is not documented: the package checks identities' only.
  { stricter: "emulator", path: /^name$/ },
  // The list of bundles is the server's, and grows.
  { stricter: "emulator", path: /^bundles$/ },
  // What exists, and where, is the server's to say.
  { stricter: "emulator", path: /^(roleUid|identityUid|defaultRole|scope)$/ },
  // Blanks, and keys and items without a text, say nothing.
  { stricter: "package", path: /./, when: holdsBlank },
  // An issuer that is no address can neither sign a token nor be asked.
  { stricter: "package", path: /^(claimMatch|staticKeys|oidc)\.issuer$/ },
  // Keys that have expired, and an empty set of them, let nobody in.
  { stricter: "package", path: /^staticKeys\.(expirationTime|issuerKeys)$/ },
  // Its values are uids of identities.
  { stricter: "package", path: /^chainguard\.serviceBindings$/ },
  // No tag of such a name can exist.
  { stricter: "package", path: /^activeTags$/ },
  // A number says nothing to a reader; the gateway takes any.
  {
    stricter: "package",
    path: new RegExp(`^(${enumPaths.join("|").replaceAll(".", "\\.")})$`),
    when: numbers,
  },
];

const isEmpty = (value: Json | undefined): boolean =>
  value === null || value === "" || (typeof value === "object" && Object.keys(value).length === 0);

interface Verdict {
  readonly accepts: boolean;
  readonly properties: readonly string[];
}

async function serverSays({ kind }: Sample, inputs: Props): Promise<Verdict> {
  const handlers = stack.handlersOf(kind);
  try {
    const { id, outs } = await handlers.create(inputs);
    await handlers.delete(id, outs);
    return { accepts: true, properties: [] };
  } catch (error) {
    if (!(error instanceof HandlerError)) throw error;
    // Made, but not as asked: names that it does not know are dropped.
    if ("id" in error) await handlers.delete(String(error.id), inputs);
    const violations = error.cause instanceof ApiError ? error.cause.details.fieldViolations : [];
    return { accepts: false, properties: violations.map(({ field }) => propertyOf(specOf(kind), field)) };
  }
}

const within = (inner: string, outer: string): boolean =>
  inner === outer || inner.startsWith(`${outer}.`) || inner.startsWith(`${outer}[`);

describe("what is valid", () => {
  const met = new Set<Difference>();

  test.each(posted)("of $label ($kind) is the same to check and to the emulator", async (sample) => {
    const base = await baseOf(sample);
    const disagreements: string[] = [];
    for (const [path, field] of leavesOf(specOf(sample.kind).fields)) {
      const around = path.slice(0, Math.max(path.lastIndexOf("."), 0));
      if (field.path || field.subresource || (around !== "" && memberAt(base, around) === undefined))
        continue;
      for (const value of spreadOf(shareFor(field), 4, path.length)) {
        const inputs = withMember(base, path, value) as Props;
        const failures = stack.handlersOf(sample.kind).check({}, inputs);
        const server = await serverSays(sample, inputs);
        const shown = `${path} = ${JSON.stringify(value).slice(0, 60)}`;
        if (server.accepts !== (failures.length === 0)) {
          const stricter = server.accepts ? "package" : "emulator";
          // What is empty is never sent, so the server cannot see that it has the wrong type.
          if (stricter === "package" && isEmpty(value)) continue;
          const known = differences.filter(
            (each) => each.stricter === stricter && each.path.test(path) && (each.when?.(value) ?? true),
          );
          for (const difference of known) met.add(difference);
          if (known.length === 0) disagreements.push(`${shown}: only the ${stricter} refuses it`);
        } else if (server.properties.length > 0 && field.type !== "enum" && !isEmpty(value)) {
          // Both refuse it: at the same property. (Names of enums that it does not know a server drops unseen.)
          const same = server.properties.some((property) =>
            failures.some(
              (failure) => within(failure.property, property) || within(property, failure.property),
            ),
          );
          const ours = failures.map(({ property }) => property).join(", ");
          if (!same) disagreements.push(`${shown}: ${ours} here, ${server.properties.join(", ")} there`);
        }
      }
    }
    expect(disagreements).toEqual([]);
  });

  test("differs only where the documentation says so", () => {
    // A few of the values do not meet each difference.
    const unmet = differences.filter((difference) => !met.has(difference)).map(({ path }) => path.source);
    expect(isQuick ? [] : unmet).toEqual([]);
  });
});

/** What an object holds at a path of properties. */
const heldAt = (held: unknown, path: string): Json | undefined =>
  memberAt(held, path.replace("syncConfig", "sync_config")) as Json | undefined;

/** What the description says that the server takes where a field is left out; undefined where it names nothing. */
function defaultOf(field: FieldSpec): Json | undefined {
  return field.type === "enum" && field.default !== undefined ? `${field.prefix}${field.default}` : undefined;
}

/** Where description and server differ on what is left out, and what to write. */
function disagreement(
  kind: string,
  path: string,
  field: FieldSpec,
  held: Json | undefined,
): string | undefined {
  const taken = defaultOf(field);
  const answered = held === undefined ? "nothing" : JSON.stringify(held);
  if (taken !== undefined && held !== taken) {
    return `emulator/tables/${lowerFirst(kind)}.ts: fill in ${path} by \`complete\`: the description says that the server takes ${JSON.stringify(taken)} where it is left out, and the emulator answers ${answered}`;
  }
  if (taken !== undefined || field.serverFilled !== undefined || !isSet(field, held)) return undefined;
  return `provider/kinds/${lowerFirst(kind)}.ts: write \`default\` or \`serverFilled\` for ${path}: the emulator answers ${answered} where it is left out`;
}

describe("what a program leaves out", () => {
  test.each(posted)("of $label ($kind) is what its description says", async (sample) => {
    const base = await baseOf(sample);
    const { collection, fields } = specOf(sample.kind);
    const handlers = stack.handlersOf(sample.kind);
    const disagreements: (string | undefined)[] = [];
    for (const [path, field] of leavesOf(fields)) {
      if (field.path || field.required || field.subresource || field.inputOnly) continue;
      if (memberAt(base, path) === undefined && defaultOf(field) === undefined) continue;
      const around = path.slice(0, Math.max(path.lastIndexOf("."), 0));
      if (around !== "" && memberAt(base, around) === undefined) continue;
      const inputs = withMember(base, path, undefined) as Props;
      if (handlers.check({}, inputs).length > 0) continue;
      const { id, outs } = await handlers.create(inputs);
      const held = await call(emulator, "GET", `${collection}/${id}`);
      await handlers.delete(id, outs);
      disagreements.push(disagreement(sample.kind, path, field, heldAt(held, path)));
    }
    expect(disagreements.filter((each) => each !== undefined)).toEqual([]);
  });
});
