import { colonForms, githubForms, gitlabForms, googleForms, INTRUDER } from "./ownedSubjects";
import type { OwnedForm } from "./judgement";
import type { SegmentSpec } from "./languages";
import { plainOrQuoted as plain } from "./quote";
import { withoutTrailing } from "../../engine/values/withoutTrailing";

/** An issuer that is known by its address: what its subjects say. */
export interface KnownIssuer {
  readonly name: string;
  /** The exact address; of an issuer with an address for each customer, the form of those. */
  readonly issuer: string | RegExp;
  /** Who a subject is, after the name of the issuer; undefined where it has another form. */
  readonly describe: (subject: string, issuer: string) => string | undefined;
}

/**
 * An issuer that signs tokens for many customers: only the subject or the claims of a token identify the customer. The
 * values follow the vendors' documentation of their tokens.
 */
export interface MultiTenantIssuer extends KnownIssuer {
  readonly issuer: string;
  /** What names the organisation: "organisation or repository". */
  readonly owner: string;
  /** Its subjects, and the part of each that names the organisation. */
  readonly forms: readonly OwnedForm[];
  /** How the subjects begin that only such an issuer writes, as a regular expression. */
  readonly subjectPrefix: string;
  /** Claims that name the organisation or a part of it. */
  readonly pinningClaims: readonly string[];
  readonly untrustedRefs: readonly UntrustedRef[];
  /** An example of a subject that is pinned, for advice. */
  readonly example: string;
}

/** Runs of changes that nobody has reviewed yet. Strings are regular expressions. */
export interface UntrustedRef {
  /** "any pull request". */
  readonly what: string;
  /** All subjects of such runs. */
  readonly subject: string;
  /** The name in the subject that the author of the change chooses. */
  readonly branch?: SegmentSpec;
  /** The claim that contains the same chosen name. */
  readonly branchClaim?: string;
  /** Claims that have the same value in all these runs. */
  readonly claims: Readonly<Partial<Record<string, string>>>;
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

function describeBuildkite(subject: string): string | undefined {
  const [, organization = "", pipeline = "", ref = ""] =
    new RegExp(`^organization:(${NAME}):pipeline:(${NAME}):ref:([^:]+)(?::.*)?$`, "s").exec(subject) ?? [];
  return pipeline === "" ? undefined : `of ${organization}/${pipeline}, ${describeRef(ref)}`;
}

const undescribed = (): undefined => undefined;
const INTRUDERS_BRANCH = { event_name: "push", ref_type: "branch", ref_protected: "false" };

const multiTenant: readonly MultiTenantIssuer[] = [
  {
    name: "GitHub Actions",
    issuer: "https://token.actions.githubusercontent.com",
    describe: describeGithub,
    owner: "organisation or repository",
    forms: githubForms,
    subjectPrefix: "repo:",
    pinningClaims: [
      "repository",
      "repository_owner",
      "repository_id",
      "repository_owner_id",
      "job_workflow_ref",
      "workflow_ref",
      "enterprise",
      "enterprise_id",
    ],
    untrustedRefs: [
      {
        what: "any pull request",
        subject: "repo:[^/:]+/[^:]+:pull_request(?::.*)?",
        claims: { ref: "refs/pull/[0-9]+/merge", event_name: "pull_request", ref_protected: "false" },
      },
      {
        what: "any branch",
        subject: "repo:[^/:]+/[^:]+:ref:refs/heads/.+",
        branch: { before: "repo:[^/:]+/[^:]+:ref:", name: "refs/heads/[^:]+", after: "(?::.*)?" },
        branchClaim: "ref",
        claims: INTRUDERS_BRANCH,
      },
    ],
    example: "^repo:acme/pay:ref:refs/heads/main$",
  },
  {
    name: "GitLab CI",
    issuer: "https://gitlab.com",
    describe: describeGitlab,
    owner: "group or project",
    forms: gitlabForms,
    subjectPrefix: "project_path:",
    pinningClaims: ["project_path", "namespace_path", "project_id", "namespace_id", "ci_config_ref_uri"],
    untrustedRefs: [
      {
        what: "any branch",
        subject: "project_path:[^:]+:ref_type:branch:ref:.+",
        branch: { before: "project_path:[^:]+:ref_type:branch:ref:", name: "[^:]+", after: "(?::.*)?" },
        branchClaim: "ref",
        claims: { ref_type: "branch", ref_protected: "false", pipeline_source: "push" },
      },
    ],
    example: "^project_path:acme/pay:ref_type:branch:ref:main$",
  },
  {
    name: "Buildkite",
    issuer: "https://agent.buildkite.com",
    describe: describeBuildkite,
    owner: "organisation",
    forms: colonForms("organization", "pipeline", `:ref:refs/heads/main:commit:${"0".repeat(40)}:step:build`),
    subjectPrefix: "organization:[^:]+:pipeline:",
    pinningClaims: ["organization_slug", "organization_id", "pipeline_id"],
    untrustedRefs: [
      {
        what: "any branch",
        subject: "organization:[^:]+:pipeline:[^:]+:ref:refs/heads/.+",
        branch: {
          before: "organization:[^:]+:pipeline:[^:]+:ref:refs/heads/",
          name: "[^:]+",
          after: "(?::.*)?",
        },
        branchClaim: "build_branch",
        claims: {},
      },
    ],
    example: "^organization:acme:pipeline:pay:ref:refs/heads/main:commit:[0-9a-f]{40}:step:[a-z-]+$",
  },
  {
    name: "HCP Terraform",
    issuer: "https://app.terraform.io",
    describe: undescribed,
    owner: "organisation",
    forms: colonForms("organization", "project", `:workspace:${INTRUDER}:run_phase:apply`),
    subjectPrefix: "organization:[^:]+:project:",
    pinningClaims: [
      "terraform_organization_id",
      "terraform_organization_name",
      "terraform_workspace_id",
      "terraform_project_id",
    ],
    untrustedRefs: [],
    example: "^organization:acme:project:pay:workspace:production:run_phase:apply$",
  },
  {
    name: "Google",
    issuer: "https://accounts.google.com",
    describe: (subject) => (/^\d+$/.test(subject) ? `account ${subject}` : undefined),
    owner: "account",
    forms: googleForms,
    subjectPrefix: "[0-9]{21}",
    pinningClaims: ["email", "hd", "azp"],
    untrustedRefs: [],
    example: "^103456789012345678901$",
  },
  {
    name: "Vercel",
    issuer: "https://oidc.vercel.com",
    describe: undescribed,
    owner: "team",
    forms: colonForms("owner", "project", ":environment:production"),
    subjectPrefix: "owner:[^:]+:project:",
    pinningClaims: ["owner", "owner_id", "project_id"],
    untrustedRefs: [
      {
        what: "any preview deployment",
        subject: "owner:[^:]+:project:[^:]+:environment:preview",
        claims: { environment: "preview" },
      },
    ],
    example: "^owner:acme:project:pay:environment:production$",
  },
  {
    name: "Codefresh",
    issuer: "https://oidc.codefresh.io",
    describe: undescribed,
    owner: "account",
    forms: colonForms("account", "pipeline", ""),
    subjectPrefix: "account:[^:]+:pipeline:",
    pinningClaims: ["account_id", "account_name", "pipeline_id"],
    untrustedRefs: [],
    example: "^account:64f0example:pipeline:64f1example(:.*)?$",
  },
  {
    name: "Pulumi Cloud",
    issuer: "https://api.pulumi.com/oidc",
    describe: undescribed,
    owner: "organisation",
    forms: colonForms(
      "pulumi:(?:deploy|environments):org",
      "project",
      `:stack:${INTRUDER}:operation:update:scope:write`,
    ),
    subjectPrefix: "pulumi:(?:deploy|environments):org:",
    pinningClaims: ["org"],
    untrustedRefs: [],
    example: "^pulumi:deploy:org:acme:project:pay:stack:production:operation:update:scope:write$",
  },
];

const UUID = "[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}";

/** Issuers that have an address for each customer. */
const perCustomer: readonly KnownIssuer[] = [
  {
    name: "CircleCI",
    issuer: new RegExp(`^https://oidc\\.circleci\\.com/org/(${UUID})$`),
    describe: (subject, issuer) => {
      const [, organization = "", project = ""] =
        new RegExp(`^org/(${UUID})/project/(${UUID})(?:/.*)?$`).exec(subject) ?? [];
      return issuer.endsWith(`/org/${organization}`)
        ? `of organization ${organization}, project ${project}`
        : undefined;
    },
  },
  {
    name: "Azure",
    issuer: new RegExp(
      `^https://(?:login\\.microsoftonline\\.com/(${UUID})/v2\\.0|sts\\.windows\\.net/(${UUID})/)$`,
    ),
    describe: (subject, issuer) => {
      const tenant = new RegExp(UUID).exec(issuer)?.[0] ?? "";
      return `tenant ${tenant}, principal ${plain(subject)}`;
    },
  },
];

const normalize = (issuer: string): string => withoutTrailing(issuer, "/").toLowerCase();

/** The multi-tenant issuer with exactly this address. */
export function multiTenantIssuerOf(issuer: string): MultiTenantIssuer | undefined {
  return multiTenant.find((candidate) => candidate.issuer === normalize(issuer));
}

/** The issuer of that exact address, where it is known. */
export function knownIssuerOf(issuer: string): KnownIssuer | undefined {
  return (
    multiTenantIssuerOf(issuer) ??
    perCustomer.find(({ issuer: form }) => form instanceof RegExp && form.test(issuer))
  );
}

/** The multi-tenant issuers for which `accepts` is true. */
export function filterMultiTenantIssuers(
  accepts: (issuer: MultiTenantIssuer) => boolean,
): readonly MultiTenantIssuer[] {
  return multiTenant.filter(accepts);
}

/** The first of them. */
export function findMultiTenantIssuer(
  accepts: (issuer: MultiTenantIssuer) => boolean,
): MultiTenantIssuer | undefined {
  return multiTenant.find(accepts);
}
