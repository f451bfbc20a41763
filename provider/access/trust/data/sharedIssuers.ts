import type { SegmentSpec } from "../languages";
import {
  BUILDKITE,
  CODEFRESH,
  GITHUB,
  GITLAB,
  GOOGLE,
  OWNERLESS_GITHUB_SUBJECTS,
  PULUMI,
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

const INTRUDERS_BRANCH = { event_name: "push", ref_type: "branch", ref_protected: "false" };

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
    issuer: GITLAB,
    owner: "group or project",
    subjectPrefix: "project_path:",
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
    issuer: BUILDKITE,
    owner: "organisation",
    subjectPrefix: "organization:[^:]+:pipeline:",
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
    issuer: TERRAFORM,
    owner: "organisation",
    subjectPrefix: "organization:[^:]+:project:",
    untrustedRefs: [],
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
      },
    ],
    example: "^owner:acme:project:pay:environment:production$",
  },
  {
    name: "Codefresh",
    issuer: CODEFRESH,
    owner: "account",
    subjectPrefix: "account:[^:]+:pipeline:",
    untrustedRefs: [],
    example: "^account:64f0example:pipeline:64f1example(:.*)?$",
  },
  {
    name: "Pulumi Cloud",
    issuer: PULUMI,
    owner: "organisation",
    subjectPrefix: "pulumi:(?:deploy|environments):org:",
    untrustedRefs: [],
    example: "^pulumi:deploy:org:acme:project:pay:stack:production:operation:update:scope:write$",
  },
];
