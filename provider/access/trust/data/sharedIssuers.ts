import type { SegmentSpec } from "../patternComparer";
import {
  BUILDKITE,
  CODEFRESH,
  GITHUB,
  GITLAB,
  GOOGLE,
  OWNERLESS_GITHUB_SUBJECTS,
  PULUMI,
  PULUMI_ESC,
  TERRAFORM,
  VERCEL,
} from "./pins";

/** An issuer that signs tokens for many customers: only the subject or the claims of a token identify the customer. */
export interface SharedIssuer {
  readonly name: string;
  readonly issuer: string;
  /** What names the organisation: "organisation or repository". */
  readonly owner: string;
  /** How the subjects begin that only such an issuer writes, as a regular expression. */
  readonly subjectPrefix: string;
  /** Subjects that name no owner, as regular expressions. */
  readonly ownerlessSubjects?: readonly string[];
  /**
   * What of a subject says whose run it is, as regular expressions, up to the character that ends the name. What follows,
   * whoever may run something there can choose.
   */
  readonly project?: string | readonly string[];
  /** Runs of changes that nobody has reviewed yet, by name. The first one names those that are not proven to be reviewed. */
  readonly unreviewed: readonly UnreviewedRuns[];
  /** THE list of what proves which reviewed code runs. What none of these rows proves is a run of anything. */
  readonly proofs: readonly Proof[];
  /** An example of a subject, or of a claim, that is pinned, for advice. */
  readonly example: string;
}

/** Runs of changes that nobody has reviewed yet. Strings are regular expressions. */
export interface UnreviewedRuns {
  /** "any pull request". */
  readonly what: string;
  /** `sub`, or the name of a claim that only such runs have with such a value. */
  readonly part: string;
  /** The values of that part in such runs. */
  readonly value: string;
  /** Where the issuer says so. */
  readonly source: string;
}

/** A part of a token that says which code runs. Strings are regular expressions. */
export interface Proof extends SegmentSpec {
  /** `sub`, or the name of a claim. */
  readonly part: string;
  /** What the name is of, where the author of a change can choose one: then all names must be known ones. */
  readonly noun?: "branch" | "tag" | "environment" | "stack";
  /** How each name begins: "refs/heads/". */
  readonly prefix: string;
}

/** Stands in a proof for the owners that the trust pins. */
export const PINNED_OWNER = "{owner}";

/** The part of a token that says who its holder is. */
export const SUBJECT = "sub";

/** A value of a part that proves by itself. */
function proven(part: string, value: string): Proof {
  return { part, before: "", prefix: "", name: value, after: "" };
}

/** A part that names the branch, the tag, the environment or the stack. */
function named(
  noun: NonNullable<Proof["noun"]>,
  part: string,
  { before = "", prefix = "", after = "" } = {},
): Proof {
  return { part, noun, before, prefix, name: `${prefix}[^:]+`, after };
}

/** A part whose value is a ref. */
function namedRef(part: string, { before = "", after = "" } = {}): Proof[] {
  return [
    named("branch", part, { before, prefix: "refs/heads/", after }),
    named("tag", part, { before, prefix: "refs/tags/", after }),
  ];
}

/** Anything else that stands in a subject of names and values. */
const REST = "(?::(?s:.*))?";

/** Subjects of runs that nobody has reviewed. */
const unreviewed = (what: string, value: string, source: string): UnreviewedRuns => ({
  what,
  part: SUBJECT,
  value,
  source,
});

const EVENTS =
  "https://docs.github.com/en/actions/reference/workflows-and-actions/events-that-trigger-workflows";
const GITHUB_SUBJECTS = "https://docs.github.com/en/actions/reference/security/oidc#example-subject-claims";
const REPOSITORY = "repo:[^/:]+/[^:]+:";
const GITLAB_CLAIMS = "https://docs.gitlab.com/ci/secrets/id_token_authentication/";
const BUILDKITE_SUBJECTS = "https://buildkite.com/docs/agent/cli/reference/oidc";
const VERCEL_SUBJECTS = "https://vercel.com/docs/oidc/reference";

/** Runs at a service, and what says that nobody has reviewed them. */
export type RunsOfService = Pick<
  SharedIssuer,
  "name" | "subjectPrefix" | "project" | "unreviewed" | "proofs" | "example"
>;

/** The same at an issuer that only one customer has. */
interface RunsOfTenant extends RunsOfService {
  /** Claims that say what runs, and that nobody who runs something there chooses. */
  readonly owningClaims?: readonly string[];
}

const CIRCLECI_TOKENS = "https://circleci.com/docs/openid-connect-tokens/";
const CIRCLECI_USER = "org/[^/]+/project/[^/]+/user/[^/]+";
const CIRCLECI_REF = "oidc.circleci.com/vcs-ref";
const SEMAPHORE_DOCS = "https://github.com/semaphoreio/semaphore/blob/main/docs/docs/reference/openid.md";
const SEMAPHORE_REPOSITORY = "org:[^:]+:project:[^:]+:repo:[^:]+:ref_type:";
const SPACELIFT_DOCS = "https://docs.spacelift.io/integrations/cloud-providers/oidc";
const CODEFRESH_DOCS = "https://codefresh.io/docs/docs/integrations/oidc-pipelines/";
const CODEFRESH_REF = "account:[^:]+:pipeline:[^:]+:(?:(?s:.*):)?scm_ref:";
const BRACED = "\\{[0-9a-fA-F-]{36}\\}";
const SPACELIFT_RUNS = "TRACKED|DESTROY";
const TERRAFORM_PROJECT = "organization:[^:]+:project:[^:]+:";
const PULUMI_PROJECT = "pulumi:deploy:org:[^:]+:project:[^:]+:stack:";

/** Values that only the runs of pull requests have, also of those that run the workflow of the branch that a change is for. */
const PULL_REQUEST_CLAIMS: readonly (readonly [claim: string, value: string])[] = [
  ["event_name", "pull_request[a-z_]*"],
  ["head_ref", "[^:]+"],
  ["base_ref", "[^:]+"],
];

/** What may stand in a subject of GitHub before the first claim that says which code runs. */
const GITHUB_BEFORE =
  "(?:(?:repo|repository|repository_(?:owner|id|owner_id|visibility)|visibility|enterprise|enterprise_id|workflow|actor|actor_id|context|run[a-z_]*|ref_type):[^:]*:)*";
const WORKFLOW = "[^:@]+@";
// Everybody can call a public workflow: what a stranger's one does nobody here has reviewed.
const CALLED_WORKFLOW = `${PINNED_OWNER}/${WORKFLOW}`;
const ANY_REF = "refs/(?:heads|tags)/";
// Events that run the workflow of the default branch.
const DEFAULT_BRANCH_EVENTS = "(?:schedule|repository_dispatch)";
const GITLAB_BEFORE = "project_path:[^:]+:";

/** Services that have an issuer for each customer. */
export const runsOfTenants: readonly RunsOfTenant[] = [
  {
    name: "CircleCI",
    subjectPrefix: "org/[^/]+/project/",
    project: "org/[^/]+/project/[^/]+/",
    owningClaims: ["oidc.circleci.com/project-id"],
    unreviewed: [unreviewed("any branch", CIRCLECI_USER, CIRCLECI_TOKENS)],
    proofs: [
      ...namedRef(SUBJECT, { before: `${CIRCLECI_USER}/vcs-origin/.+/vcs-ref/` }),
      ...namedRef(CIRCLECI_REF),
    ],
    example:
      "^org/72f988bf-example/project/9188040d-example/user/[^/]+/vcs-origin/github\\.com/acme/pay/vcs-ref/refs/heads/main$",
  },
  {
    name: "Bitbucket",
    subjectPrefix: "\\{[0-9a-fA-F-]+\\}:",
    project: `${BRACED}:`,
    owningClaims: ["repositoryUuid"],
    unreviewed: [
      unreviewed(
        "any branch and pull request",
        `${BRACED}:${BRACED}`,
        "https://support.atlassian.com/bitbucket-cloud/docs/integrate-pipelines-with-resource-servers-using-oidc/",
      ),
    ],
    proofs: [
      // With an environment of a deployment its id stands between those of the repository and the step.
      named("environment", SUBJECT, { before: `${BRACED}:`, after: ":\\{[^{}]*\\}" }),
      named("environment", "deploymentEnvironmentUuid"),
      named("branch", "branchName"),
    ],
    example: "^\\{9188040d-repository\\}:\\{72f988bf-environment\\}:\\{[0-9a-f-]+\\}$",
  },
  {
    name: "Semaphore",
    subjectPrefix: "org:[^:]+:project:",
    project: "org:[^:]+:project:[^:]+:",
    unreviewed: [
      unreviewed("any pull request", `${SEMAPHORE_REPOSITORY}pull-request:ref:.*`, SEMAPHORE_DOCS),
    ],
    proofs: [
      named("branch", SUBJECT, { before: `${SEMAPHORE_REPOSITORY}branch:ref:`, prefix: "refs/heads/" }),
      named("tag", SUBJECT, { before: `${SEMAPHORE_REPOSITORY}tag:ref:`, prefix: "refs/tags/" }),
      // The claim branch has the target of a pull request.
      ...namedRef("ref"),
      named("tag", "tag"),
    ],
    example: "^org:acme:project:9188040d-example:repo:pay:ref_type:branch:ref:refs/heads/main$",
  },
  {
    name: "Spacelift",
    subjectPrefix: "space:[^:]+:(?:stack|module):",
    project: "space:[^:]+:(?:stack|module):[^:]+:",
    unreviewed: [
      unreviewed(
        "any proposed run, also of a pull request",
        "space:[^:]+:(?:stack|module):[^:]+:run_type:PROPOSED:scope:(?:read|write)",
        SPACELIFT_DOCS,
      ),
      unreviewed(
        "any test of a module, also of a pull request",
        "space:[^:]+:module:[^:]+:run_type:TESTING:scope:(?:read|write)",
        SPACELIFT_DOCS,
      ),
      unreviewed(
        "any command that somebody runs as a task",
        "space:[^:]+:stack:[^:]+:run_type:TASK:scope:(?:read|write)",
        "https://docs.spacelift.io/concepts/run/task",
      ),
    ],
    proofs: [
      proven(
        SUBJECT,
        `space:[^:]+:(?:stack|module):[^:]+:run_type:(?:${SPACELIFT_RUNS}):scope:(?:read|write)`,
      ),
      proven("runType", SPACELIFT_RUNS),
    ],
    example: "^space:acme:stack:pay:run_type:TRACKED:scope:write$",
  },
  {
    name: "Azure DevOps",
    subjectPrefix: "sc://|p://|/eid1/c/[^/]+/t/[^/]+/a/[^/]+/sc/",
    unreviewed: [
      unreviewed(
        "any run that may use the service connection, perhaps of a pull request",
        "(?:sc://[^/]+/[^/]+/|/eid1/c/[^/]+/t/[^/]+/a/[^/]+/sc/).+",
        "https://learn.microsoft.com/en-us/azure/devops/pipelines/release/configure-workload-identity",
      ),
      unreviewed(
        "any run of the pipeline, also of a pull request",
        "p://[^/]+/[^/]+/.+",
        "https://github.com/gravitational/teleport/tree/master/rfd",
      ),
    ],
    proofs: namedRef("rpo_ref"),
    example: "the claim rpo_ref: refs/heads/main",
  },
  {
    name: "Harness",
    subjectPrefix: "account/[^/:]+:org/",
    unreviewed: [
      unreviewed(
        "any run, perhaps of a pull request",
        "account/[^/:]+:org/.+",
        "https://developer.harness.io/docs/platform/connectors/cloud-providers/ref-cloud-providers/aws-connector-settings-reference",
      ),
    ],
    proofs: [named("environment", "environment_id"), proven("environment_type", "Production")],
    example: "the claim environment_id: production",
  },
];

/** THE list of issuers that sign for many customers. `pins.ts` has what pins in their tokens. */
export const sharedIssuers: readonly SharedIssuer[] = [
  {
    name: "GitHub Actions",
    issuer: GITHUB,
    owner: "organisation or repository",
    subjectPrefix: "(?:repo|repository|repository_owner|repository_id|repository_owner_id|workflow_ref):",
    project: ["(?:repo|repository|repository_id):[^:]+:", "workflow_ref:[^/:]+/[^/:]+/"].map(
      (name) =>
        `(?:(?:repository_owner|repository_owner_id|repository_visibility|enterprise|enterprise_id):[^:]*:)*${name}`,
    ),
    ownerlessSubjects: OWNERLESS_GITHUB_SUBJECTS,
    unreviewed: [
      unreviewed(
        "any pull request",
        `${REPOSITORY}(?:pull_request|ref:refs/pull/.+)${REST}`,
        GITHUB_SUBJECTS,
      ),
      ...PULL_REQUEST_CLAIMS.map(([part, value]) => ({
        what: "any pull request",
        part,
        value,
        source: `${EVENTS}#pull_request_target`,
      })),
    ],
    proofs: [
      named("branch", SUBJECT, { before: `${GITHUB_BEFORE}ref:`, prefix: "refs/heads/", after: REST }),
      named("tag", SUBJECT, { before: `${GITHUB_BEFORE}ref:`, prefix: "refs/tags/", after: REST }),
      // Each environment has an id, a new one too.
      named("environment", SUBJECT, {
        before: `${GITHUB_BEFORE}(?:environment|environment_node_id):`,
        after: REST,
      }),
      named("branch", SUBJECT, {
        before: `${GITHUB_BEFORE}(?:workflow_ref:${WORKFLOW}|job_workflow_ref:${CALLED_WORKFLOW})`,
        prefix: ANY_REF,
        after: REST,
      }),
      proven(SUBJECT, `${GITHUB_BEFORE}(?:ref_protected:true|event_name:${DEFAULT_BRANCH_EVENTS})${REST}`),
      ...namedRef("ref"),
      named("environment", "environment"),
      named("environment", "environment_node_id"),
      proven("ref_protected", "true"),
      proven("event_name", DEFAULT_BRANCH_EVENTS),
      named("branch", "workflow_ref", { before: WORKFLOW, prefix: ANY_REF }),
      named("branch", "job_workflow_ref", { before: CALLED_WORKFLOW, prefix: ANY_REF }),
    ],
    example: "^repo:acme/pay:ref:refs/heads/main$",
  },
  {
    name: "GitLab CI",
    issuer: GITLAB,
    owner: "group or project",
    subjectPrefix: "project_path:",
    project: GITLAB_BEFORE,
    unreviewed: [unreviewed("any branch", "project_path:[^:]+", GITLAB_CLAIMS)],
    proofs: [
      named("branch", SUBJECT, { before: `${GITLAB_BEFORE}(?:ref_type:branch:)?ref:`, after: REST }),
      named("tag", SUBJECT, { before: `${GITLAB_BEFORE}ref_type:tag:ref:`, after: REST }),
      proven(SUBJECT, `${GITLAB_BEFORE}(?:deployment_tier:[^:]*:)?environment_protected:true${REST}`),
      named("branch", "ref"),
      ...namedRef("ref_path"),
      proven("ref_protected", "true"),
      proven("environment_protected", "true"),
    ],
    example: "^project_path:acme/pay:ref_type:branch:ref:main$",
  },
  {
    name: "Buildkite",
    issuer: BUILDKITE,
    owner: "organisation",
    subjectPrefix: "organization:[^:]+:pipeline:",
    project: "organization:[^:]+:pipeline:[^:]+:",
    unreviewed: [
      unreviewed(
        "any branch and pull request",
        "[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}",
        `${BUILDKITE_SUBJECTS}#custom-subject-claims`,
      ),
    ],
    proofs: [
      ...namedRef(SUBJECT, { before: "organization:[^:]+:pipeline:[^:]+:ref:", after: REST }),
      named("branch", "build_branch"),
      named("tag", "build_tag"),
    ],
    example: "^organization:acme:pipeline:pay:ref:refs/heads/main:commit:[0-9a-f]{40}:step:[a-z-]+$",
  },
  {
    name: "HCP Terraform",
    issuer: TERRAFORM,
    owner: "organisation",
    subjectPrefix: "organization:[^:]+:project:",
    project: `${TERRAFORM_PROJECT}(?:workspace|stack):[^:]+:`,
    unreviewed: [
      unreviewed(
        "any plan, also of a pull request",
        `${TERRAFORM_PROJECT}workspace:[^:]+:run_phase:plan`,
        "https://developer.hashicorp.com/terraform/cloud-docs/run/remote-operations#speculative-plans",
      ),
      unreviewed(
        "any plan, also of a pull request",
        `${TERRAFORM_PROJECT}stack:[^:]+:deployment:[^:]+:operation:plan`,
        "https://developer.hashicorp.com/terraform/language/stacks/deploy/authenticate",
      ),
    ],
    proofs: [
      proven(SUBJECT, `${TERRAFORM_PROJECT}workspace:[^:]+:run_phase:apply`),
      proven(SUBJECT, `${TERRAFORM_PROJECT}stack:[^:]+:deployment:[^:]+:operation:apply`),
      proven("terraform_run_phase", "apply"),
      proven("terraform_operation", "apply"),
    ],
    example: "^organization:acme:project:pay:workspace:production:run_phase:apply$",
  },
  {
    name: "Google",
    issuer: GOOGLE,
    owner: "account",
    subjectPrefix: "[0-9]{21}",
    unreviewed: [],
    proofs: [],
    example: "^103456789012345678901$",
  },
  {
    name: "Vercel",
    issuer: VERCEL,
    owner: "team",
    subjectPrefix: "owner:[^:]+:project:",
    project: "owner:[^:]+:project:[^:]+:",
    unreviewed: [
      unreviewed("any preview deployment", "owner:[^:]+:project:[^:]+:environment:preview", VERCEL_SUBJECTS),
      unreviewed(
        "any developer's machine",
        "owner:[^:]+:project:[^:]+:environment:development",
        VERCEL_SUBJECTS,
      ),
    ],
    proofs: [
      proven(SUBJECT, "owner:[^:]+:project:[^:]+:environment:[^:]+"),
      proven("environment", "production"),
    ],
    example: "^owner:acme:project:pay:environment:production$",
  },
  {
    name: "Codefresh",
    issuer: CODEFRESH,
    owner: "account",
    subjectPrefix: "account:[^:]+:pipeline:",
    project: "account:[^:]+:pipeline:[^:]+:",
    unreviewed: [
      unreviewed(
        "any pull request",
        `${CODEFRESH_REF}[^:]+:scm_pull_request_target_branch:[^:]+`,
        CODEFRESH_DOCS,
      ),
    ],
    // A branch of a fork may be called main as well: no claim but the subject tells.
    proofs: [
      named("branch", SUBJECT, {
        before: CODEFRESH_REF,
        after: "(?::scm_pull_request_target_branch:.*)?",
      }),
    ],
    example:
      "^account:64f0example:pipeline:64f1example:scm_repo_url:https://github\\.com/acme/pay:scm_user_name:[^:]+:scm_ref:main$",
  },
  {
    name: "Pulumi Cloud",
    issuer: PULUMI,
    owner: "organisation",
    subjectPrefix: "pulumi:(?:deploy|environments):org:",
    project: `${PULUMI_PROJECT}[^:]+:`,
    unreviewed: [
      unreviewed(
        "any preview, also of a pull request",
        `${PULUMI_PROJECT}[^:]+:operation:preview${REST}`,
        "https://www.pulumi.com/docs/deployments/deployments/oidc/",
      ),
      // A review stack runs updates of an open pull request.
      unreviewed(
        "any stack of a pull request",
        `${PULUMI_PROJECT}pr-[^:]+:operation:[a-z-]+${REST}`,
        "https://www.pulumi.com/docs/deployments/deployments/review-stacks/",
      ),
    ],
    proofs: [
      named("stack", SUBJECT, { before: PULUMI_PROJECT, after: `:operation:[a-z-]+${REST}` }),
      // An environment runs no code: who may open it is decided elsewhere.
      proven(SUBJECT, "pulumi:environments:org:.+"),
    ],
    example: "^pulumi:deploy:org:acme:project:pay:stack:production:operation:update:scope:write$",
  },
  {
    name: "Pulumi ESC",
    issuer: PULUMI_ESC,
    owner: "organisation",
    subjectPrefix: "pulumi:org:[^:]+:env:",
    unreviewed: [],
    proofs: [],
    example: "^pulumi:org:9f8e7d6c:env:1a2b3c4d$",
  },
];
