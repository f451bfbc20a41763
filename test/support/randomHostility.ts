import { pick as pickBy, randomOf } from "../../scripts/lib/random.cjs";
import type { HostileProgram } from "./adversarial";

/** A value that decides access: the honest text of it, and one that gives more. Both are code of a program. */
interface Site {
  readonly resource: string;
  readonly honest: string;
  readonly hostile: string;
  /** The arguments with a value in place of the honest one. */
  readonly args: (value: string) => string;
}

const member = (resource: string, key: string, hostile: string): Site => ({
  resource,
  honest: `args.${key}`,
  hostile,
  args: (value) => `{ ...args, ${key}: ${value} }`,
});

const SITES: readonly Site[] = [
  member("deployer-reads", "roleUid", "ids.owner"),
  member("staff", "defaultRole", "ids.owner"),
  member("readers", "roleUid", "ids.owner"),
  member("invite", "roleUid", "ids.owner"),
  member("reader", "capabilities", '["CAP_REPO_LIST", "CAP_IAM_ROLES_UPDATE"]'),
  {
    resource: "deployer",
    honest: "args.claimMatch.subject",
    hostile: '"repo:mallory/x:ref:refs/heads/main"',
    args: (value) => `{ ...args, claimMatch: { issuer: GITHUB, subject: ${value} } }`,
  },
  {
    resource: "services",
    honest: "args.chainguard.serviceBindings.INGESTER",
    hostile: "ids.boss",
    args: (value) => `{ ...args, chainguard: { serviceBindings: { INGESTER: ${value} } } }`,
  },
  {
    resource: "production-access",
    honest: "args.bindings.audit.roleUid",
    hostile: "ids.owner",
    args: (value) => `{ ...args, bindings: { audit: { ...args.bindings.audit, roleUid: ${value} } } }`,
  },
];

const WRAPPERS: readonly ((honest: string, hostile: string) => string)[] = [
  (_honest, hostile) => hostile,
  (_honest, hostile) => `pulumi.secret(${hostile})`,
  (_honest, hostile) => `harmless.id.apply(() => ${hostile})`,
  (_honest, hostile) => `pulumi.secret(harmless.id).apply(() => ${hostile})`,
  (_honest, hostile) => `pulumi.all([harmless.id, harmless.urn]).apply(() => ${hostile})`,
  (_honest, hostile) => `pulumi.output(Promise.resolve(${hostile}))`,
  (honest, hostile) => `pulumi.runtime.isDryRun() ? ${honest} : ${hostile}`,
  (honest, hostile) => `process.env.GITHUB_EVENT_NAME === "pull_request" ? ${honest} : ${hostile}`,
  (honest, hostile) => `pulumi.secret(pulumi.runtime.isDryRun() ? ${honest} : ${hostile})`,
];

const NAMES: readonly string[] = [
  "extra",
  "deployer-reads#retained",
  "deployer#retained",
  "constructor",
  "__proto__",
  "a::b",
  "[secret]",
  "04da6b54-80e4-46f7-96ec-b56ff0331ba9",
  "audit.roleUid",
  "$type",
  " ",
];

/** Providers of a binding, some of them the program's own, that all grant what they are told. */
const PROVIDERS: readonly string[] = [
  'exports.handler=()=>require("pulumi-platform/dynamic").RoleBinding',
  'exports.handler=()=>require("pulumi-platform/dynamic").RoleBinding;',
  'exports.handler=()=>({...require("pulumi-platform/dynamic").RoleBinding})',
  'exports.handler = () => require("pulumi-platform/dynamic")["RoleBinding"]',
];

const TYPES: readonly string[] = [
  "pulumi-nodejs:dynamic/platform:RoleBinding",
  "pulumi-nodejs:dynamic/platform:Repo",
  "pulumi-nodejs:dynamic/platform:RoleBinding2",
  "pulumi-nodejs:dynamic:Resource",
];

const HARMLESS =
  'new platform.Role("harmless", { parentUid: ids.root, name: "harmless", capabilities: ["CAP_REPO_LIST"] })';

/** Random hostile programs: edits of honest values, wrapped, and a binding of a hostile name and provider. */
export function randomHostility(seed: number, count: number): HostileProgram[] {
  const random = randomOf(seed);
  const pick = <T>(items: readonly T[]): T => pickBy(random, items);
  return Array.from({ length: count }, (_, i) => {
    const site = pick(SITES);
    const value = pick(WRAPPERS)(site.honest, site.hostile);
    const edits = [`${JSON.stringify(site.resource)}: { args: (args) => (${site.args(value)}) }`];
    const type = pick(TYPES);
    const binding = `new pulumi.CustomResource(${JSON.stringify(type)}, ${JSON.stringify(pick(NAMES))}, {
  __provider: ${JSON.stringify(pick(PROVIDERS))},
  parentUid: r.team.id,
  identityUid: ${pick(WRAPPERS)("r.deployer.id", "ids.mallory")},
  roleUid: ${pick(WRAPPERS)("r.reader.id", "ids.owner")},
});`;
    const [hasEdit, hasBinding] = [random() < 0.7, random() < 0.5];
    const text = `const { declare, GITHUB, ids, platform, pulumi } = require("./base");
const harmless = ${HARMLESS};
const r = declare({ ${hasEdit || !hasBinding ? edits.join(", ") : ""} });
${hasBinding ? binding : ""}
`;
    return {
      id: `random-${seed}-${i}`,
      title: text,
      caughtBy: "review",
      runsAlone: true,
      text,
    };
  });
}
