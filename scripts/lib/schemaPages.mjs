// @ts-check
import { upperFirst } from "./letterCase.cjs";
import { anchor, code, page, table } from "./markdown.cjs";

/** @typedef {Record<string, any>} Schema */

/**
 * @typedef {object} Document A JSON document of the package, its schema and its page.
 * @property {string} name Of the schema's file.
 * @property {string} title
 * @property {readonly string[]} intro
 */

/** @type {readonly Document[]} */
export const documents = [
  {
    name: "report",
    title: "The JSON of a report",
    intro: [
      "For everybody who reads the reports of `review`, `drift` and `verify` with a program.",
      "<!-- not run: the other pages run these commands -->\n\n```sh\nnpx --no pulumi-platform review preview.json --inventory inventory.json -o json=report.json\njq '.findings[] | [.severity, .rule, .message]' report.json\n```",
      "One of three documents, by its member `command`. Within a `schemaVersion`, members are only added: ignore those that you do not know.",
    ],
  },
  {
    name: "inventory",
    title: "The JSON of an inventory",
    intro: [
      "For everybody who reads what `inventory` writes with a program.",
      "<!-- not run: the other pages run these commands -->\n\n```sh\nnpx --no pulumi-platform inventory --root <uid> -o json=inventory.json\njq '.objects | group_by(.kind)[] | [.[0].kind, length]' inventory.json\n```",
      "Within a `schemaVersion`, members are only added: ignore those that you do not know.",
    ],
  },
  {
    name: "access-policy",
    title: "The policy file",
    intro: [
      "For everybody who writes `access-policy.yaml`. An editor checks it by this first line:",
      "```yaml\n# yaml-language-server: $schema=./node_modules/pulumi-platform/schema/access-policy.schema.json\nallow: []\n```",
      "[What an exception matches](../../review.md#what-an-exception-matches) says how names and uids are compared. An entry for a rule whose findings are all high or critical needs `expires`, and a `fingerprint` or a uid. Where a list of texts stands, one text means a list of one.",
    ],
  },
];

/** @param {string} ref */
const definitionName = (ref) => ref.slice(ref.lastIndexOf("/") + 1);

/** The objects in a schema that have members of their own: itself, or the items of a list. @param {Schema} schema @returns {Schema | undefined} */
const membersIn = (schema) => (schema.items ? membersIn(schema.items) : schema.properties && schema);

/** @param {Schema} schema @param {string} path @returns {string} */
function describeSchemaType(schema, path) {
  if (schema.$ref) return `[${definitionName(schema.$ref)}](${anchor(definitionName(schema.$ref))})`;
  if (schema.const !== undefined) return code(JSON.stringify(schema.const));
  if (schema.items) {
    const item = describeSchemaType(schema.items, path);
    return [schema.type].flat().includes("string") ? `${item} or list of ${item}` : `list of ${item}`;
  }
  if (schema.properties) return `[object](${anchor(path)})`;
  const choices = schema.oneOf ?? schema.anyOf;
  if (choices)
    return choices.map((/** @type {Schema} */ choice) => describeSchemaType(choice, path)).join(" or ");
  if (schema.additionalProperties instanceof Object)
    return `map of ${describeSchemaType(schema.additionalProperties, path)}`;
  return schema.type ? [schema.type].flat().join(" or ") : "any JSON";
}

/** Describes what a value means and what restricts it. @param {Schema} schema @returns {string} */
function describeMeaning(schema) {
  const limits = [schema, schema.items ?? {}, ...(schema.allOf ?? [])];
  return [
    schema.description,
    ...limits.flatMap(({ enum: names, errorMessage, minimum }) => [
      names && `One of ${names.map((/** @type {string} */ name) => code(name)).join(", ")}.`,
      errorMessage && `${upperFirst(errorMessage)}.`,
      minimum !== undefined && `At least ${minimum}.`,
    ]),
  ]
    .filter(Boolean)
    .join(" ")
    .replaceAll("*", "\\*");
}

/** What a member means where neither its type nor the type that it refers to says so, by its name. @type {Readonly<Record<string, string>>} */
const COMMON_MEMBERS = {
  after: "The value after the change, as `before`.",
  asked: "Objects that were read by their uids.",
  builtIn: "Whether it is a role of the platform.",
  byKind: "The same counts for each kind.",
  capabilitiesAdded: "Capabilities that the subject gains.",
  capabilitiesRemoved: "Capabilities that the subject loses.",
  changed: "How the file differs from its base, a line each; or how many objects changed.",
  command: "Which document it is.",
  complete: "Whether everything was read and compared.",
  contested: "How many objects are in two stacks.",
  count: "How many.",
  critical: "How many findings are critical.",
  deleted: "How many objects were deleted.",
  differences: "How many differences there are of each kind.",
  digest: "The SHA-256 of the file, hex.",
  direction: "What the difference does to access.",
  directions: "How many differences there are of each effect on access.",
  entities: "The resources that decide who may do what.",
  expired: "Entries whose last day is over, a line each.",
  failOn: "Findings of this severity and above decide the exit code.",
  findings: "How many findings there are of each severity.",
  fields: "The properties that change.",
  file: "The path of the file, from the folder of the program.",
  gained: "How many grants are gained.",
  group: "A name or path of a group, or its uid.",
  groups: "The groups that the other members name.",
  high: "How many findings are high.",
  isRoot: "Whether it is a root group.",
  issuer: "The issuer of an identity.",
  kind: "The kind, as in `RoleBinding`.",
  kinds: "The kinds that were listed.",
  lastSeenTime: "When the identity was last used, RFC 3339.",
  lost: "How many grants are lost.",
  low: "How many findings are low.",
  managed: "How many objects a stack manages.",
  medium: "How many findings are medium.",
  message: "What the server said.",
  missing: "How many announced grants are missing.",
  name: "The name of the object.",
  narrowed: "How many grants, or differences, narrow access.",
  neutral: "How many differences leave access as it is.",
  objects: "The objects that were found.",
  op: "The operation of the engine: `create`, `update`, …",
  parentKey: "The `key` of the group above.",
  path: "The names of the groups, from the root group on.",
  paths: "The paths of the properties that differ.",
  reason: "The reason that the entry gives.",
  refused: "Lists that could not be read.",
  role: "The role that is granted, by name or uid.",
  schemaVersion: "The version of the form.",
  subject: "Who holds the grant, by name or uid; of an identity, the subject that it trusts.",
  summary: "Counts of what the document holds.",
  suppressed: "How many findings the policy file sets apart.",
  tool: "What wrote the document.",
  total: "How many objects there are.",
  trust: "Changes of what existing grants mean.",
  uid: "The uid of the object; absent where the change creates it.",
  unannounced: "How many grants were not announced.",
  unknown: "How many differences cannot be judged.",
  unmanaged: "How many objects are in no stack.",
  unused: "Entries that match no finding, a line each.",
  updateTime: "When the object was last changed, RFC 3339.",
  urn: "The URN of the resource; absent where no program declares it.",
  version: "The version of the package.",
  widened: "How many grants, or differences, widen access.",
};

/** @param {string} name @param {Schema} member @param {Schema} definitions */
function describeMember(name, member, definitions) {
  const referred = definitions[definitionName(member.$ref ?? member.items?.$ref ?? "")] ?? {};
  // A count says nothing about what is counted, and a glob only how it is written.
  const isGeneral = ["integer", "string"].includes(referred.type) && !referred.enum;
  const text = describeMeaning(member) || (!isGeneral && describeMeaning(referred)) || COMMON_MEMBERS[name];
  if (!text) throw new Error(`schemaPages.mjs does not know what ${name} means: describe it in its type`);
  return text;
}

/** @param {Schema} schema @param {string} path @param {Schema} definitions */
function membersTable(schema, path, definitions) {
  const rows = Object.entries(schema.properties).map(([name, member]) => [
    code(name),
    describeSchemaType(member, path === "" ? name : `${path}.${name}`),
    schema.required?.includes(name) ? "yes" : "",
    describeMember(name, member, definitions),
  ]);
  return table(["Member", "Type", "Always", "Meaning"], rows);
}

/** The sections of an object and of the objects in it. @param {Schema} schema @param {string} path @param {Schema} definitions @returns {string[]} */
function renderSections(schema, path, definitions) {
  const inner = Object.entries(schema.properties).flatMap(([name, member]) => {
    const found = membersIn(member);
    const below = path === "" ? name : `${path}.${name}`;
    return found
      ? [`### ${below}`, describeMeaning(member), ...renderSections(found, below, definitions)]
      : [];
  });
  return [membersTable(schema, path, definitions), ...inner];
}

/**
 * The page of a schema, not yet formatted.
 * @param {Document} document
 * @param {Schema} schema
 */
export function schemaPage({ name, title, intro }, schema) {
  const { definitions = {} } = schema;
  const describe = (/** @type {Schema} */ part, /** @type {string} */ path) =>
    part.properties ? renderSections(part, path, definitions) : [`Type: ${describeSchemaType(part, path)}.`];
  return page([
    "<!-- Written by npm run docs: change the types or scripts/lib/schemaPages.mjs instead. -->",
    `# ${title}`,
    ...intro,
    `The schema is \`pulumi-platform/schema/${name}.schema.json\`.`,
    "## Document",
    describeMeaning(schema),
    ...describe(schema, ""),
    ...Object.entries(definitions).flatMap(([key, part]) => [
      `## ${key}`,
      describeMeaning(part),
      ...describe(part, key),
    ]),
  ]);
}
