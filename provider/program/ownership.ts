import * as pulumi from "./sdk";
import { equal } from "../fields/equal";
import {
  conflictOfOwners,
  distinguishingInputs,
  identifyingInputs,
  listLeftOut,
} from "../fields/resourceSpec";
import type { Failure, ResourceSpec } from "../fields/resourceSpec";
import { ADOPT, isObject } from "../fields/values";
import type { Props } from "../fields/values";
import { withCode } from "../errors/codedError";
import { describeWrongArgument } from "../fields/check";
import { lineOf } from "./argumentErrors";
import { ALIAS_OPTION } from "../text/aliasOption";
import { parentOf } from "../text/uid";
import { findBoundElsewhere, idOrValue, listLive, valueOf, valueOrUidOf } from "./uidSources";

/*
 * Refuses two resources of one program that would be the same object, and two owners of the same children, where both
 * arguments are the same text or the same output: then a preview shows it. The provider's process finds every other such
 * pair before it sends a request: see lifecycle/programRecord.ts.
 */

/** The owners of one run, as messages name them, by the key of what they own. */
type Owners = Map<string, string>;

const getOwnersOfRun = pulumi.createPerRun((): Owners => new Map<string, string>());

const outputs = new WeakMap<object, number>();
let countedOutputs = 0;

/** The same text for the same uid, and for the same output; undefined where nothing is given. */
function argumentKey(given: unknown): string | undefined {
  const value = idOrValue(given);
  if (typeof value === "string" && value !== "") return `text ${value}`;
  if (value === null || typeof value !== "object") return undefined;
  const number = outputs.get(value) ?? (countedOutputs += 1);
  outputs.set(value, number);
  return `output ${number}`;
}

/** As `argumentKey`, of what a promise or an output is, where a preview knows it. */
const resolvedArgumentKey = async (value: unknown): Promise<string | undefined> =>
  argumentKey((await valueOf(value)) ?? value);

const joinWords = (words: readonly string[]): string => words.join(", ").replace(/, (?=[^,]*$)/, " and ");

/** A resource of the program, as messages name it, and its line: `index.ts:12: `, or nothing. */
interface Declared {
  readonly owner: string;
  readonly line: string;
}

/** The resources of one run, by what others may have in common with them. */
const getDeclaredOfRun = pulumi.createPerRun((): Map<string, Declared> => new Map());

const withPlace = ({ owner, line }: Declared): string =>
  line === "" ? owner : `${owner} (${line.slice(0, -": ".length)})`;

/** The text by which equal objects are found: what their arguments are, where all of that is given. */
async function equalityKeyOf(
  spec: ResourceSpec,
  args: Readonly<Record<string, unknown>>,
): Promise<string | undefined> {
  const own = distinguishingInputs(spec);
  if (own.length === 0) return undefined;
  const tokens = await Promise.all(["parentUid", ...own].map((key) => resolvedArgumentKey(args[key])));
  return tokens.slice(1).includes(undefined) ? undefined : `equal ${spec.kind} ${tokens.join()}`;
}

/** Takes note of a resource by its arguments. @returns another one with equal arguments */
async function findEqualResource(
  spec: ResourceSpec,
  args: Readonly<Record<string, unknown>>,
  resource: Declared,
): Promise<Declared | undefined> {
  const key = await equalityKeyOf(spec, args);
  if (key === undefined) return undefined;
  const declared = getDeclaredOfRun();
  const known = declared.get(key) ?? resource;
  declared.set(key, known);
  return known.owner === resource.owner ? undefined : known;
}

/** Of a new object that the server has equals of already, as somebody made them who does not use Pulumi: a warning. */
async function describeEqualObjects(
  spec: ResourceSpec,
  args: Readonly<Record<string, unknown>>,
): Promise<string | undefined> {
  const own = distinguishingInputs(spec);
  if (own.length === 0) return undefined;
  const [parent, ...values] = await Promise.all(["parentUid", ...own].map((key) => valueOrUidOf(args[key])));
  const hasParent = args["parentUid"] !== undefined;
  if (values.includes(undefined) || (hasParent && typeof parent !== "string")) return undefined;
  const live = (await listLive(spec.kind, hasParent ? (parent as string) : undefined)) as Props[];
  const equalObjects = live.filter((one) => own.every((key, i) => one[key] === values[i]));
  const [uid, ...more] = equalObjects.map(({ uid }) => JSON.stringify(uid));
  if (uid === undefined) return undefined;
  const same = joinWords([...(hasParent ? ["parentUid"] : []), ...own]);
  const [replaced, there, advice] =
    more.length === 0
      ? ["it", "two", `to take over what no stack has, wrap the arguments in adopt(${uid}, { … })`]
      : [
          "one of them",
          "one more",
          "to take over one that no stack has, wrap the arguments in adopt(uid, { … })",
        ];
  const them = [uid, ...more].slice(0, 3).join(" and ");
  return `${them}, which ${more.length === 0 ? "is" : "are"} there already, ${more.length === 0 ? "has" : "have"} the same ${same}. Unless this one replaces ${replaced}, there will be ${there}. If this program had ${replaced} under another name or parent, add the option ${ALIAS_OPTION}; ${advice}`;
}

/** Which texts of an object to adopt differ from those of the program: the update refuses such an object. */
async function describeAdopted(
  spec: ResourceSpec,
  args: Readonly<Record<string, unknown>>,
  uid: string,
): Promise<string | undefined> {
  const live = ((await listLive(spec.kind, parentOf(uid))) as Props[]).find((one) => one["uid"] === uid);
  if (live === undefined) return undefined;
  const differing: string[] = [];
  for (const [key, field] of Object.entries(spec.fields)) {
    const [own, there] = [await valueOf(args[key]), live[key]];
    if (typeof own === "string" && typeof there === "string" && !equal(field, own, there))
      differing.push(`${key} ${JSON.stringify(there)}`);
  }
  return differing.length === 0
    ? undefined
    : `takes over ${JSON.stringify(uid)}, which has ${joinWords(differing)}: declare that, or the update refuses it`;
}

/**
 * Says in a preview what is likely a mistake in a new object: an argument that is left out, an identity that is bound outside
 * of its group, and an equal, in the program or at the server. Two of one name and two equal grants are legal, and hardly ever
 * meant. A preview knows no id of what it makes; that of a replacement is not known either.
 */
export function warnOfNew(
  spec: ResourceSpec,
  name: string,
  args: Readonly<Record<string, unknown>>,
  id: pulumi.Output<pulumi.ID>,
  tellsLeftOut: boolean,
): void {
  if (!pulumi.isDryRun() || pulumi.isMocked()) return;
  const line = lineOf(new Error());
  const owner = `${spec.kind} ${JSON.stringify(name)}`;
  const adopts = args[ADOPT] !== undefined;
  const warn = async (): Promise<void> => {
    const equalOne = await findEqualResource(spec, args, { owner, line });
    if ((await valueOf(id)) !== undefined) return;
    const uid = await valueOf(args[ADOPT]);
    const adopted = typeof uid === "string" ? await describeAdopted(spec, args, uid) : undefined;
    if (adopted !== undefined) void pulumi.log.warn(withCode(`${line}${owner} ${adopted}`, "PP4006"));
    if (tellsLeftOut)
      for (const leftOut of listLeftOut(spec, args)) void pulumi.log.warn(`${line}${owner} ${leftOut}`);
    for (const failure of await findBoundElsewhere(spec, args))
      void pulumi.log.warn(withCode(`${line}${owner}: ${describeWrongArgument(failure)}`, failure.code));
    const inProgram =
      equalOne &&
      `${owner} and ${withPlace(equalOne)} have the same ${joinWords(["parentUid", ...distinguishingInputs(spec)])}: they are two objects; remove one if you mean one`;
    // What the program has already is at the server too.
    const atServer = inProgram === undefined && !adopts ? await describeEqualObjects(spec, args) : undefined;
    const warning = inProgram ?? (atServer && `${owner}: ${atServer}`);
    if (warning) await pulumi.log.warn(withCode(`${line}${warning}`, "PP1108"));
  };
  // The program ends no sooner than this. Whatever else fails there fails the resource itself.
  const end = pulumi.rpcKeepAlive();
  void warn()
    .catch(() => undefined)
    .finally(end);
}

/** Bindings of one resource that grant the same, by the same output: of equal texts the check of the arguments tells. */
function findEqualBindings(spec: ResourceSpec, args: Readonly<Record<string, unknown>>): Failure[] {
  const bindings = args["bindings"];
  if (spec.owns?.all !== true || !isObject(bindings)) return [];
  const ofOutputs = Object.entries(bindings).flatMap(([label, binding]) => {
    const { identityUid, roleUid }: Props = isObject(binding) ? binding : {};
    const [holder, role] = [argumentKey(identityUid), argumentKey(roleUid)];
    const isOfOutput = isObject(identityUid) || isObject(roleUid);
    return isOfOutput && holder !== undefined && role !== undefined
      ? [[label, { identityUid: holder, roleUid: role }] as const]
      : [];
  });
  const context = { olds: {}, now: 0 };
  return spec.validate?.({ bindings: Object.fromEntries(ofOutputs) }, new Set(), context) ?? [];
}

/**
 * Takes note of the object that a resource's arguments name, and of the children that it owns. Two of the same kind and name
 * count as one: a program under test is made many times over.
 *
 * @returns what is wrong: another resource of the program is, or owns, the same
 */
export function recordResource(
  spec: ResourceSpec,
  name: string,
  args: Readonly<Record<string, unknown>>,
): Failure[] {
  const { kind, owns } = spec;
  const owners = getOwnersOfRun();
  const owner = `${kind} ${JSON.stringify(name)}`;
  const findOther = (key: string): string | undefined =>
    owners.get(key) === owner ? undefined : owners.get(key);
  const parent = argumentKey(args["parentUid"]);
  if (owns !== undefined && parent !== undefined) {
    const keyOf = (which: string) => `${which} ${owns.kind} below ${parent}`;
    // The owner of all children conflicts with every other one.
    const other = findOther(keyOf("all")) ?? (owns.all ? findOther(keyOf("one")) : undefined);
    if (other !== undefined) return [conflictOfOwners(owns, other)];
    owners.set(keyOf(owns.all ? "all" : "one"), owner);
  }
  // Two owners of all children are one object, and got the message about them.
  const names = owns?.all ? [] : identifyingInputs(spec);
  const adopted = argumentKey(args[ADOPT]);
  const objects = [
    ...(names.length > 0 && parent !== undefined
      ? [
          {
            key: names.map((key) => argumentKey(args[key])).join(),
            both: `name the same ${names.join(" and ")}`,
          },
        ]
      : []),
    ...(adopted === undefined ? [] : [{ key: `adopted ${adopted}`, both: "adopt the same object" }]),
  ];
  for (const { key, both } of objects) {
    const other = findOther(`${kind} ${key}`);
    if (other !== undefined) {
      const reason = `is the same object as ${other}: both ${both}. Two resources must not share one object, since deleting either deletes it: remove one of them`;
      return [{ property: "", reason, code: "PP1103" }];
    }
    owners.set(`${kind} ${key}`, owner);
  }
  return findEqualBindings(spec, args);
}

/** The types of a parent and of those above it, which a URN holds; the names of components are not in it. */
function typesAbove(parent: pulumi.Resource | undefined): readonly string[] {
  if (parent === undefined) return [];
  const { __pulumiType: type = "", __parentResource: above } = parent as unknown as {
    readonly __pulumiType?: string;
    readonly __parentResource?: pulumi.Resource;
  };
  return [...typesAbove(above), type];
}

/**
 * Refuses a second resource of one type and name, of which the engine would name neither line.
 * @returns what takes note of this one, once it is made
 * @throws RunError
 */
export function refuseSameName(
  type: string,
  kind: string,
  name: string,
  parent: pulumi.Resource | undefined,
): () => void {
  // A program under test is made many times over.
  if (pulumi.isMocked()) return () => undefined;
  const owners = getOwnersOfRun();
  const key = `urn ${JSON.stringify([...typesAbove(parent), type, name])}`;
  const line = lineOf(new Error());
  const first = owners.get(key);
  if (first === undefined) return () => void owners.set(key, line);
  const where = parent === undefined ? "" : ", below parents of the same types";
  const other = first === "" ? "another resource" : `the one of ${first.slice(0, -": ".length)}`;
  throw new pulumi.RunError(
    withCode(
      `${line}${kind} ${JSON.stringify(name)}: ${other} has this name already${where}: give one of them another name, as in ${JSON.stringify(`${name}-2`)}`,
      "PP1107",
    ),
  );
}
