import type { SegmentSpec } from "../languages";
import {
  BUILDKITE,
  CODEFRESH,
  GITHUB,
  GITLAB,
  GOOGLE,
  OWNERLESS_GITHUB_SUBJECTS,
  INTRUDER,
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
  readonly untrustedRefs: readonly UntrustedRef[];
  /** An example of a subject, or of a claim, that is pinned, for advice. */
  readonly example: string;
}

/** A name in a subject that the author of a change chooses. */
export interface ChosenName extends SegmentSpec {
  readonly noun: "branch" | "tag" | "environment";
  /** How each name begins: "refs/heads/". */
  readonly prefix: string;
  /** The claim that contains the same name. */
  readonly claim: string;
}

/** Runs of changes that nobody has reviewed yet. Strings are regular expressions. */
export interface UntrustedRef {
  /** "any pull request". */
  readonly what: string;
  /** All subjects of such runs. */
  readonly subject: string;
  readonly chosen?: ChosenName;
  /** The values that claims have in these runs. */
  readonly claims: Readonly<Partial<Record<string, string>>>;
  /** Where the issuer says so. */
  readonly source: string;
}

/** Runs whose branch, tag or environment the author of a change chooses. */
function chosenRef(
  noun: ChosenName["noun"],
  before: string,
  { prefix = "", after = "(?::.*)?" },
  { claim, claims, source }: { claim: string; claims: UntrustedRef["claims"]; source: string },
): UntrustedRef {
  const name = `${prefix}[^:]+`;
  return {
    what: noun === "environment" ? "any environment, also a new one without protection" : `any ${noun}`,
    subject: `${before}${name}${after}`,
    chosen: { noun, prefix, claim, before, name, after },
    claims,
    source,
  };
}

const EVENTS =
  "https://docs.github.com/en/actions/reference/workflows-and-actions/events-that-trigger-workflows";
const GITHUB_SUBJECTS = "https://docs.github.com/en/actions/reference/security/oidc#example-subject-claims";
const ENVIRONMENTS =
  "https://docs.github.com/en/actions/how-tos/deploy/configure-and-manage-deployments/manage-environments";
const REPOSITORY = "repo:[^/:]+/[^:]+:";
/** The events that take the workflow from the branch or the tag that somebody pushes. */
const PUSH_EVENTS = "push|create|workflow_dispatch|deployment|deployment_status";
const INTRUDERS_REF = `refs/(?:heads/${INTRUDER}|tags/${INTRUDER}|pull/[0-9]+/merge)`;
const GITLAB_CLAIMS = "https://docs.gitlab.com/ci/secrets/id_token_authentication/";
const BUILDKITE_SUBJECTS = "https://buildkite.com/docs/agent/cli/reference/oidc";
const VERCEL_SUBJECTS = "https://vercel.com/docs/oidc/reference";

/** Runs at a service, and what says that nobody has reviewed them. */
export type RunsOfService = Pick<SharedIssuer, "name" | "subjectPrefix" | "untrustedRefs" | "example">;

const CIRCLECI_TOKENS = "https://circleci.com/docs/openid-connect-tokens/";
const CIRCLECI_USER = "org/[^/]+/project/[^/]+/user/[^/]+";
const CIRCLECI_REF = "oidc.circleci.com/vcs-ref";
const SEMAPHORE_DOCS = "https://github.com/semaphoreio/semaphore/blob/main/docs/docs/reference/openid.md";
const SEMAPHORE_REPOSITORY = "org:[^:]+:project:[^:]+:repo:[^:]+:ref_type:";
const SPACELIFT_DOCS = "https://docs.spacelift.io/integrations/cloud-providers/oidc";
const CODEFRESH_DOCS = "https://codefresh.io/docs/docs/integrations/oidc-pipelines/";

/** Services that have an issuer for each customer: what a run is stands in the subject alone. */
export const runsOfTenants: readonly RunsOfService[] = [
  {
    name: "CircleCI",
    subjectPrefix: "org/[^/]+/project/",
    untrustedRefs: [
      {
        what: "any branch",
        subject: CIRCLECI_USER,
        claims: { [CIRCLECI_REF]: `refs/(?:heads/(?:${INTRUDER}|pull/[0-9]+)|tags/${INTRUDER})` },
        source: CIRCLECI_TOKENS,
      },
      ...(["branch", "tag"] as const).map((noun) =>
        chosenRef(
          noun,
          `${CIRCLECI_USER}/vcs-origin/.+/vcs-ref/`,
          { prefix: `refs/${noun === "branch" ? "heads" : "tags"}/`, after: "" },
          { claim: CIRCLECI_REF, claims: {}, source: CIRCLECI_TOKENS },
        ),
      ),
    ],
    example:
      "^org/72f988bf-example/project/9188040d-example/user/[^/]+/vcs-origin/github\\.com/acme/pay/vcs-ref/refs/heads/main$",
  },
  {
    name: "Bitbucket",
    subjectPrefix: "\\{[0-9a-fA-F-]+\\}:",
    untrustedRefs: [
      {
        what: "any branch and pull request",
        // With an environment of a deployment its id stands between those of the repository and the step.
        subject: "\\{[0-9a-fA-F-]{36}\\}:\\{[0-9a-fA-F-]{36}\\}",
        claims: { branchName: INTRUDER, deploymentEnvironmentUuid: "none" },
        source:
          "https://support.atlassian.com/bitbucket-cloud/docs/integrate-pipelines-with-resource-servers-using-oidc/",
      },
    ],
    example: "^\\{9188040d-repository\\}:\\{72f988bf-environment\\}:\\{[0-9a-f-]+\\}$",
  },
  {
    name: "Semaphore",
    subjectPrefix: "org:[^:]+:project:",
    untrustedRefs: [
      {
        what: "any pull request",
        subject: `${SEMAPHORE_REPOSITORY}pull-request:ref:.*`,
        // The claim branch has the target of a pull request.
        claims: { ref_type: "pull-request", ref: "refs/pull/[0-9]+/(?:merge|head)", tag: "none" },
        source: SEMAPHORE_DOCS,
      },
      ...(["branch", "tag"] as const).map((noun) =>
        chosenRef(
          noun,
          `${SEMAPHORE_REPOSITORY}${noun}:ref:`,
          { prefix: `refs/${noun === "branch" ? "heads" : "tags"}/`, after: "" },
          { claim: "ref", claims: { ref_type: noun, [noun]: INTRUDER }, source: SEMAPHORE_DOCS },
        ),
      ),
    ],
    example: "^org:acme:project:9188040d-example:repo:pay:ref_type:branch:ref:refs/heads/main$",
  },
  {
    name: "Spacelift",
    subjectPrefix: "space:[^:]+:(?:stack|module):",
    untrustedRefs: [
      {
        what: "any proposed run, also of a pull request",
        subject: "space:[^:]+:(?:stack|module):[^:]+:run_type:PROPOSED:scope:(?:read|write)",
        claims: { runType: "PROPOSED", scope: "read" },
        source: SPACELIFT_DOCS,
      },
      {
        what: "any test of a module, also of a pull request",
        subject: "space:[^:]+:module:[^:]+:run_type:TESTING:scope:(?:read|write)",
        claims: { runType: "TESTING", scope: "write", callerType: "module" },
        source: SPACELIFT_DOCS,
      },
    ],
    example: "^space:acme:stack:pay:run_type:TRACKED:scope:write$",
  },
  {
    name: "Azure DevOps",
    subjectPrefix: "sc://|p://|/eid1/c/[^/]+/t/[^/]+/a/[^/]+/sc/",
    untrustedRefs: [
      {
        what: "any run that may use the service connection, perhaps of a pull request",
        subject: "(?:sc://[^/]+/[^/]+/|/eid1/c/[^/]+/t/[^/]+/a/[^/]+/sc/).+",
        claims: {},
        source:
          "https://learn.microsoft.com/en-us/azure/devops/pipelines/release/configure-workload-identity",
      },
      {
        what: "any run of the pipeline, also of a pull request",
        subject: "p://[^/]+/[^/]+/.+",
        claims: { rpo_ref: INTRUDERS_REF },
        source: "https://github.com/gravitational/teleport/tree/master/rfd",
      },
    ],
    example: "the claim rpo_ref: refs/heads/main",
  },
  {
    name: "Harness",
    subjectPrefix: "account/[^/:]+:org/",
    untrustedRefs: [
      {
        what: "any run, perhaps of a pull request",
        subject: "account/[^/:]+:org/.+",
        claims: { environment_id: "none", environment_type: "none" },
        source:
          "https://developer.harness.io/docs/platform/connectors/cloud-providers/ref-cloud-providers/aws-connector-settings-reference",
      },
    ],
    example: "the claim environment_id: production",
  },
];

/** THE list of issuers that sign for many customers. `pins.ts` has what pins in their tokens. */
export const sharedIssuers: readonly SharedIssuer[] = [
  {
    name: "GitHub Actions",
    issuer: GITHUB,
    owner: "organisation or repository",
    subjectPrefix: "repo:",
    ownerlessSubjects: OWNERLESS_GITHUB_SUBJECTS,
    untrustedRefs: [
      {
        what: "any pull request",
        subject: `${REPOSITORY}(?:pull_request|ref:refs/pull/.+)(?::.*)?`,
        claims: {
          ref: "refs/pull/[0-9]+/(?:merge|head)",
          event_name: "pull_request(?:_review|_review_comment)?",
          ref_protected: "false",
        },
        source: GITHUB_SUBJECTS,
      },
      {
        what: "any pull request",
        subject: `${REPOSITORY}pull_request(?::.*)?`,
        claims: { event_name: "pull_request_target", ref: `refs/heads/${INTRUDER}`, ref_protected: "false" },
        source: `${EVENTS}#pull_request_target`,
      },
      chosenRef(
        "branch",
        `${REPOSITORY}ref:`,
        { prefix: "refs/heads/" },
        {
          claim: "ref",
          claims: {
            event_name: `${PUSH_EVENTS}|pull_request_target`,
            ref_type: "branch",
            ref_protected: "false",
          },
          source: GITHUB_SUBJECTS,
        },
      ),
      chosenRef(
        "tag",
        `${REPOSITORY}ref:`,
        { prefix: "refs/tags/" },
        {
          claim: "ref",
          claims: { event_name: `${PUSH_EVENTS}|release`, ref_type: "tag", ref_protected: "false" },
          source: GITHUB_SUBJECTS,
        },
      ),
      chosenRef(
        "environment",
        `${REPOSITORY}environment:`,
        {},
        {
          claim: "environment",
          claims: { ref: INTRUDERS_REF, ref_protected: "false" },
          source: ENVIRONMENTS,
        },
      ),
    ],
    example: "^repo:acme/pay:ref:refs/heads/main$",
  },
  {
    name: "GitLab CI",
    issuer: GITLAB,
    owner: "group or project",
    subjectPrefix: "project_path:",
    untrustedRefs: (["branch", "tag"] as const).map((noun) =>
      chosenRef(
        noun,
        `project_path:[^:]+:ref_type:${noun}:ref:`,
        {},
        {
          claim: "ref",
          claims: { ref_type: noun, ref_protected: "false" },
          source: GITLAB_CLAIMS,
        },
      ),
    ),
    example: "^project_path:acme/pay:ref_type:branch:ref:main$",
  },
  {
    name: "Buildkite",
    issuer: BUILDKITE,
    owner: "organisation",
    subjectPrefix: "organization:[^:]+:pipeline:",
    untrustedRefs: [
      ...(["branch", "tag"] as const).map((noun) =>
        chosenRef(
          noun,
          `organization:[^:]+:pipeline:[^:]+:ref:refs/${noun === "branch" ? "heads" : "tags"}/`,
          {},
          { claim: `build_${noun}`, claims: {}, source: BUILDKITE_SUBJECTS },
        ),
      ),
      {
        what: "any branch and pull request",
        subject: "[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}",
        claims: { build_branch: INTRUDER },
        source: `${BUILDKITE_SUBJECTS}#custom-subject-claims`,
      },
    ],
    example: "^organization:acme:pipeline:pay:ref:refs/heads/main:commit:[0-9a-f]{40}:step:[a-z-]+$",
  },
  {
    name: "HCP Terraform",
    issuer: TERRAFORM,
    owner: "organisation",
    subjectPrefix: "organization:[^:]+:project:",
    untrustedRefs: [
      {
        what: "any plan, also of a pull request",
        subject: "organization:[^:]+:project:[^:]+:workspace:[^:]+:run_phase:plan",
        claims: { terraform_run_phase: "plan", terraform_operation: "none" },
        source:
          "https://developer.hashicorp.com/terraform/cloud-docs/run/remote-operations#speculative-plans",
      },
      {
        what: "any plan, also of a pull request",
        subject: "organization:[^:]+:project:[^:]+:stack:[^:]+:deployment:[^:]+:operation:plan",
        claims: { terraform_operation: "plan", terraform_run_phase: "none" },
        source: "https://developer.hashicorp.com/terraform/language/stacks/deploy/authenticate",
      },
    ],
    example: "^organization:acme:project:pay:workspace:production:run_phase:apply$",
  },
  {
    name: "Google",
    issuer: GOOGLE,
    owner: "account",
    subjectPrefix: "[0-9]{21}",
    untrustedRefs: [],
    example: "^103456789012345678901$",
  },
  {
    name: "Vercel",
    issuer: VERCEL,
    owner: "team",
    subjectPrefix: "owner:[^:]+:project:",
    untrustedRefs: [
      {
        what: "any preview deployment",
        subject: "owner:[^:]+:project:[^:]+:environment:preview",
        claims: { environment: "preview" },
        source: VERCEL_SUBJECTS,
      },
      {
        what: "any developer's machine",
        subject: "owner:[^:]+:project:[^:]+:environment:development",
        claims: { environment: "development" },
        source: VERCEL_SUBJECTS,
      },
    ],
    example: "^owner:acme:project:pay:environment:production$",
  },
  {
    name: "Codefresh",
    issuer: CODEFRESH,
    owner: "account",
    subjectPrefix: "account:[^:]+:pipeline:",
    untrustedRefs: [
      {
        what: "any pull request",
        subject: "account:[^:]+:pipeline:[^:]+:(?:.*:)?scm_ref:[^:]+:scm_pull_request_target_branch:[^:]+",
        claims: {},
        source: CODEFRESH_DOCS,
      },
      chosenRef(
        "branch",
        "account:[^:]+:pipeline:[^:]+:(?:.*:)?scm_ref:",
        { after: "(?::scm_pull_request_target_branch:.*)?" },
        {
          claim: "scm_ref",
          claims: {},
          source: CODEFRESH_DOCS,
        },
      ),
    ],
    example:
      "^account:64f0example:pipeline:64f1example:scm_repo_url:https://github\\.com/acme/pay:scm_user_name:[^:]+:scm_ref:main$",
  },
  {
    name: "Pulumi Cloud",
    issuer: PULUMI,
    owner: "organisation",
    subjectPrefix: "pulumi:(?:deploy|environments):org:",
    untrustedRefs: [
      {
        what: "any preview, also of a pull request",
        subject: "pulumi:deploy:org:[^:]+:project:[^:]+:stack:[^:]+:operation:preview(?::.*)?",
        claims: {},
        source: "https://www.pulumi.com/docs/deployments/deployments/oidc/",
      },
    ],
    example: "^pulumi:deploy:org:acme:project:pay:stack:production:operation:update:scope:write$",
  },
  {
    name: "Pulumi ESC",
    issuer: PULUMI_ESC,
    owner: "organisation",
    subjectPrefix: "pulumi:org:[^:]+:env:",
    untrustedRefs: [],
    example: "^pulumi:org:9f8e7d6c:env:1a2b3c4d$",
  },
];
