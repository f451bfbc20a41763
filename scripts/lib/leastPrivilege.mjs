// @ts-check
import { code, replacePart, table } from "./markdown.cjs";

/*
 * Which capabilities each job needs, from the descriptions of kinds: for examples/least-privilege and its page.
 */

/**
 * @typedef {import("../../provider/fields/resourceSpec.js").ResourceSpec} Spec
 * @typedef {{ job: string, commands: string, capabilities: string[], kinds: string[] }} Job
 */

/** The kinds that one deployment declares, by the name of its job; `deployOrganisation` declares all others. */
const deployments = {
  deployAccess: ["Group", "Identity", "Role", "RoleBinding", "GroupAccess"],
  deploySignIn: ["IdentityProvider", "ScimToken", "ExternalGroupRoleMapping", "GroupInvite"],
  deployRegistry: ["Repo", "Tag"],
  deployEvents: ["Subscription"],
};

/** Kinds that no role of a customer can write. */
const staffOnly = ["RepoReadme"];

/** @param {readonly (readonly string[])[]} lists */
const union = (...lists) => [...new Set(lists.flat())].sort();

/** What a run of `up`, `refresh` and `destroy` needs. @param {Spec} spec @returns {string[]} */
function deploymentNeeds({ kind, capabilities, fields }) {
  if (!capabilities) throw new Error(`${kind} names no capabilities`);
  const ofFields = Object.values(fields).flatMap((field) => field.capabilities ?? []);
  const { read, create, update = [], delete: toDelete } = capabilities;
  return union(read, create, update, toDelete, ofFields);
}

/** @param {readonly Spec[]} specs @returns {Job[]} */
export function jobsOf(specs) {
  const isMade = (/** @type {Spec} */ { owns }) => owns?.all === true;
  const listed = specs.filter((spec) => !isMade(spec) && !spec.listing?.onDemand);
  const reads = (/** @type {readonly Spec[]} */ some) =>
    union(...some.map(({ capabilities }) => capabilities?.read ?? []));
  const names = (/** @type {readonly Spec[]} */ some) => some.map(({ kind }) => kind);
  const all = specs.filter((spec) => !isMade(spec));
  return [
    {
      job: "review",
      commands: "`inventory`, `review --inventory`, `verify`, `adopt`, and lookups of a preview",
      capabilities: reads(listed),
      kinds: names(listed),
    },
    {
      job: "drift",
      commands: "`drift` and `watch`, where a stack manages tags, readmes or terms too",
      capabilities: reads(all),
      kinds: names(all),
    },
    ...listDeployments(specs).map(([job, kinds]) => ({
      job,
      commands: "`pulumi up`, `refresh` and `destroy`",
      capabilities: union(...specs.filter(({ kind }) => kinds.includes(kind)).map(deploymentNeeds)),
      kinds,
    })),
  ];
}

/** The deployments with their kinds, in the order of the list of kinds. @param {readonly Spec[]} specs */
function listDeployments(specs) {
  const placed = [...Object.values(deployments).flat(), ...staffOnly];
  const rest = specs.map(({ kind }) => kind).filter((kind) => !placed.includes(kind));
  return Object.entries({ ...deployments, deployOrganisation: rest });
}

/** The module of the example. @param {readonly Job[]} jobs */
export function capabilitiesModule(jobs) {
  const members = jobs.map(
    ({ job, capabilities }) => `  ${job}: [${capabilities.map((name) => JSON.stringify(name)).join(", ")}],`,
  );
  return [
    "// Written by `npm run docs` from the descriptions of the resources.",
    "",
    "/** The capabilities that each job needs, and no others. */",
    "export const capabilities = {",
    ...members,
    "};",
    "",
  ].join("\n");
}

/** A page with its table of jobs brought up to date. @param {string} page @param {readonly Job[]} jobs */
export function withJobs(page, jobs) {
  const rows = jobs.map(({ job, commands, kinds, capabilities }) => [
    code(job),
    commands,
    kinds.map(code).join(", "),
    capabilities.map(code).join(", "),
  ]);
  return replacePart(page, "the jobs", table(["Role", "Job", "Kinds", "Capabilities"], rows));
}
