import { BUILDKITE, GITHUB, GITLAB, GOOGLE, NAMESPACE, ownPins, sharedPins } from "./data/pins";
import { runsOfTenants, sharedIssuers, SUBJECT } from "./data/sharedIssuers";
import type { RunsOfService, SharedIssuer } from "./data/sharedIssuers";
import { plainOrQuoted as plain } from "./quote";
import { withoutTrailing } from "../../text/plain";

export type { RunsOfService, SharedIssuer } from "./data/sharedIssuers";

/** Who a subject is, after the name of its issuer; undefined where it has another form. */
type DescribeSubject = (subject: string) => string | undefined;

/** An issuer whose subjects messages describe. */
interface KnownIssuer {
  readonly name: string;
  readonly describe: DescribeSubject;
}

/** `refs/heads/main` as "branch main". */
function describeRef(ref: string): string {
  const [, kind = "", name = ""] = /^refs\/(heads|tags|pull)\/(.+)$/.exec(ref) ?? [];
  if (kind === "") return `ref ${plain(ref)}`;
  return `${{ heads: "branch", tags: "tag", pull: "pull request" }[kind] ?? "ref"} ${plain(name)}`;
}

const NAME = "[A-Za-z0-9_.@-]+";
const PATH = "[A-Za-z0-9_.@/-]+";

function describeGithub(subject: string): string | undefined {
  const [, repository = "", rest = ""] = new RegExp(`^repo:(${NAME}/${NAME}):(.+)$`, "s").exec(subject) ?? [];
  if (repository === "") return undefined;
  const [, key = "", value = ""] = /^(ref|environment):(.+)$/s.exec(rest) ?? [];
  if (key === "ref") return `of ${repository}, ${describeRef(value)}`;
  if (key === "environment") return `of ${repository}, environment ${plain(value)}`;
  return `of ${repository}, ${rest === "pull_request" ? "any pull request" : plain(rest)}`;
}

function describeGitlab(subject: string): string | undefined {
  const [, project = "", type = "", ref = ""] =
    new RegExp(`^project_path:(${PATH}):ref_type:(branch|tag):ref:(.+)$`, "s").exec(subject) ?? [];
  return project === "" ? undefined : `of ${project}, ${type} ${plain(ref)}`;
}

const descriptions: Readonly<Partial<Record<string, DescribeSubject>>> = {
  [GITHUB]: describeGithub,
  [GITLAB]: describeGitlab,
  [GOOGLE]: (subject) => (/^\d+$/.test(subject) ? `account ${subject}` : undefined),
};

const normalize = (issuer: string): string => withoutTrailing(issuer, "/").toLowerCase();

/** The issuer with exactly this address that signs for many customers. */
export function sharedIssuerOf(issuer: string): SharedIssuer | undefined {
  return sharedIssuers.find((candidate) => candidate.issuer === normalize(issuer));
}

/** The issuer of that exact address that signs for many customers, and how its subjects are described. */
export function knownIssuerOf(issuer: string): KnownIssuer | undefined {
  const shared = sharedIssuerOf(issuer);
  if (shared === undefined) return undefined;
  return { name: shared.name, describe: descriptions[shared.issuer] ?? (() => undefined) };
}

/**
 * What the addresses of one issuer, or globs over them, have in common. A tenant of Azure has an issuer for each version of its
 * tokens; an enterprise of GitHub, or a team of Vercel, has one of its own beside that of all.
 */
export const issuerNameOf = (issuer: string): string =>
  normalize(issuer)
    .replace(/^https:\/\/sts\.windows\.net\/([^/]+)$/, "https://login.microsoftonline.com/$1")
    .replace(/^(https:\/\/login\.microsoftonline\.com\/[^/]+)\/(?:v2\.0|\*)$/, "$1")
    .replace(/^(https:\/\/(?:token\.actions\.githubusercontent\.com|oidc\.vercel\.com))\/[^/]+$/, "$1");

/** The role of AWS by its name, or a glob over such names: whoever has the role names its sessions, which have no path of it. */
export const roleOf = (arn: string): string =>
  arn
    .replace(":sts::", ":iam::")
    .replace(/:assumed-role\/([^/]+).*$/s, ":role/$1")
    .replace(/:role\/.*\//s, ":role/");

/** The services whose runs are known, at an issuer for all customers or for each. */
export const servicesWithRuns: readonly RunsOfService[] = [...sharedIssuers, ...runsOfTenants];

const projects = [
  ...servicesWithRuns.flatMap(({ project = [] }) => project),
  `${NAMESPACE.before}${NAMESPACE.name}:`,
  // A project of Azure DevOps, whose service connections are told apart by nobody.
  "[sS][cC]://[^/]+/[^/]+/",
];

const projectStart = new RegExp(`^(?:${projects.join("|")})`);

/** How a subject begins that says whose run it is. What follows is chosen in each run: the branch and the environment. */
export const ownerStartOf = (subject: string): string | undefined => projectStart.exec(subject)?.[0];

/**
 * A repository in a subject of GitHub, whose template may put other claims before it. Beside the names of newer repositories
 * stand numbers: `repo:acme@1/pay@2:…`.
 */
const REPOSITORY_OF_SUBJECT =
  /((?:^|:)(?:repo|repository|workflow_ref):)([^/:@]+)(?:@[0-9]+)?\/([^/:@]+)(?:@[0-9]+)?(?=[/:]|$)/;

/** Such a number behind a name, or none, as a regular expression. */
export const OPTIONAL_NUMBER = "(?:@[0-9]+)?";

/** A subject of GitHub without these numbers. A branch or an environment may have the same form, and keeps it. */
export const withoutNumbers = (subject: string): string => subject.replace(REPOSITORY_OF_SUBJECT, "$1$2/$3");

/** GitHub begins a subject with `repository:` where its form is customised. */
export const inShortForm = (subject: string): string => subject.replace(/^repository:/, "repo:");

/** The repository that a subject of GitHub names, without the numbers; undefined where it names none. */
export function repositoryOfSubject(subject: string): string | undefined {
  const [, , owner, name] = REPOSITORY_OF_SUBJECT.exec(subject) ?? [];
  return owner === undefined || name === undefined ? undefined : `${owner}/${name}`;
}

/** The claims that name an owner. All others, such as the event and the environment, are of one run. */
export const owningClaims: ReadonlySet<string> = new Set([
  ...[...sharedPins, ...ownPins].flatMap(({ part }) => (part === SUBJECT ? [] : [part])),
  ...runsOfTenants.flatMap(({ owningClaims: claims = [] }) => claims),
  "email",
  // Of a person in all applications of a tenant of Azure, each of which has another subject for that person.
  // https://learn.microsoft.com/en-us/entra/identity-platform/access-token-claims-reference#payload-claims
  "oid",
]);

/** Whether an issuer writes subjects as GitHub does: that of GitHub, or of a server of one's own. Of a pattern nobody can tell. */
export const isOfGithub = (issuer: string | undefined): boolean =>
  issuer === undefined || /^https:\/\/(?:token\.actions\.|[^/]+\/_services\/token)/i.test(issuer);

/** Whether an issuer writes the ids of organisations, pipelines and clusters as whole subjects. */
export const isOfBuildkite = (issuer: string | undefined): boolean => issuer === BUILDKITE;

/** Whether an issuer surely writes the owner of a run into its subject as into its claims. */
export const saysOwnerTwice = (issuer = ""): boolean =>
  [GITHUB, GITLAB, BUILDKITE].includes(issuer) || issuer.startsWith(`${GITHUB}/`);

/** What a subject says of the owner in the words of claims, as a template of GitHub writes it: names and values. */
export function claimsOfSubject(
  issuer: string | undefined,
  subject: string,
): [name: string, value: string][] {
  const [, organization] = /^organization:([^:]+):pipeline:/.exec(subject) ?? [];
  if (isOfBuildkite(issuer)) return organization === undefined ? [] : [["organization_slug", organization]];
  const [, project, namespace = ""] = /^project_path:(([^:]+)\/[^/:]+)(?::|$)/.exec(subject) ?? [];
  if (issuer === GITLAB && project !== undefined)
    return [
      ["project_path", project],
      ["namespace_path", namespace],
    ];
  if (!isOfGithub(issuer)) return [];
  const pairs = Array.from(
    subject.matchAll(/(?<=^|:)([a-z_]+):([^:]*)(?=:|$)/g),
    ([, name = "", value = ""]): [string, string] => [name, value],
  );
  const repository = repositoryOfSubject(subject);
  return [
    ...pairs.filter(([name]) => name !== "repository" && name !== "workflow_ref" && owningClaims.has(name)),
    ...(repository === undefined ? [] : [["repository", repository] as [string, string]]),
  ];
}

/** The repository that a claim of GitHub names: `repository`, or that of the workflow which runs. */
export const repositoryOfClaim = (name: string, value: string): string | undefined =>
  ["repository", "workflow_ref"].includes(name) ? repositoryOfSubject(`${name}:${value}`) : undefined;
