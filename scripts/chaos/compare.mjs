// @ts-check
import { loadSpecs, loadTables } from "./kinds.mjs";

/**
 * @typedef {{ kind: string, args: Record<string, unknown> }} Declaration
 * @typedef {Record<string, any>} Resource As the API returns it, or as in an exported state.
 */

/** The collection of each kind that has one; the others are a part of another resource. @type {Record<string, string>} */
export const COLLECTIONS = Object.fromEntries(
  loadSpecs().flatMap(({ kind }) => {
    const table = loadTables().find((each) => each.kind === kind);
    return table === undefined ? [] : [[kind, table.collection]];
  }),
);

/** What each kind returns only when it is created. @type {Record<string, string[]>} */
const CREATE_ONLY = Object.fromEntries(
  loadSpecs().map(({ kind, outputs = {} }) => [
    kind,
    Object.keys(outputs).filter((name) => outputs[name]?.createOnly),
  ]),
);

/** Properties that the server returns unchanged. */
const PLAIN = [
  "name",
  "description",
  "capabilities",
  "bundles",
  "digest",
  "sink",
  "email",
  "externalGroupId",
];

/** The resources of the package in an exported state, by name. @param {{ deployment: { resources?: Resource[] } }} exported */
export function listRecorded(exported) {
  const ours = (exported.deployment.resources ?? []).filter(({ type }) =>
    String(type).startsWith("pulumi-nodejs:dynamic/platform:"),
  );
  return new Map(ours.map((resource) => [String(resource["urn"]).split("::").at(-1) ?? "", resource]));
}

/**
 * What is wrong with one declared resource. @param {string} name @param {Declaration} declaration
 * @param {Resource} entry As in the state. @param {Resource[]} live The objects of its collection.
 */
function problemsOfResource(name, { args }, entry, live) {
  const actual = live.find(({ uid }) => uid === entry["id"]);
  if (actual === undefined) return [`${name} is not at the server`];
  return PLAIN.filter(
    (key) => args[key] !== undefined && JSON.stringify(args[key]) !== JSON.stringify(actual[key]),
  ).map((key) => `${name}: ${key} is ${JSON.stringify(actual[key])}, not ${JSON.stringify(args[key])}`);
}

/** What is wrong with what the state holds. @param {Record<string, Declaration>} declared @param {string} name @param {Resource} entry */
function problemsOfEntry(declared, name, { initErrors, outputs }) {
  const secrets = CREATE_ONLY[declared[name]?.kind ?? ""] ?? [];
  const missing = secrets.filter((secret) => outputs?.[secret] === undefined);
  return [
    ...missing.map((secret) => `${name} has no ${secret} in state`),
    ...(declared[name] === undefined ? [`${name} is in state, and not declared`] : []),
    ...(initErrors?.length > 0 ? [`${name} is not finished: ${initErrors}`] : []),
  ];
}

/**
 * What the server does not hold of what is declared, and what it holds besides.
 * @param {Record<string, Declaration>} declared
 * @param {Map<string, Resource>} recorded
 * @param {Record<string, Resource[]>} state
 * @returns {{ problems: string[], orphans: { collection: string, resource: Resource }[] }}
 */
export function compare(declared, recorded, state) {
  /** @type {Set<string>} */
  const known = new Set();
  const problems = Object.entries(declared).flatMap(([name, declaration]) => {
    const entry = recorded.get(name);
    if (entry === undefined) return [`${name} is not in state`];
    const collection = COLLECTIONS[declaration.kind];
    if (collection === undefined) return [];
    const key = `${collection} ${entry["id"]}`;
    const twice = known.has(key) ? [`${name} has the uid of another resource`] : [];
    known.add(key);
    return [...twice, ...problemsOfResource(name, declaration, entry, state[collection] ?? [])];
  });
  for (const [name, entry] of recorded) problems.push(...problemsOfEntry(declared, name, entry));
  const orphans = Object.values(COLLECTIONS).flatMap((collection) =>
    (state[collection] ?? [])
      .filter(({ uid }) => !known.has(`${collection} ${uid}`))
      .map((resource) => ({ collection, resource })),
  );
  return { problems, orphans };
}

/** The problems of a comparison after which nothing may be left over. @param {ReturnType<typeof compare>} comparison */
export function listProblems({ problems, orphans }) {
  return [
    ...problems,
    ...orphans.map(({ collection, resource }) => `too much: ${collection} ${resource["uid"]}`),
  ];
}

/** Everything that the server holds, of the collections that can be emptied. @param {Record<string, Resource[]>} state */
export function remainingObjects(state) {
  return Object.values(COLLECTIONS).flatMap((collection) =>
    (state[collection] ?? []).map(({ uid, name }) => `${collection} ${name ?? ""} ${uid}`),
  );
}
