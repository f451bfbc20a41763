/**
 * Issuers that serve everybody: a token of theirs says nothing before its subject or its claims name
 * an organisation. After the vendors' own documentation of their tokens.
 */
export interface SharedIssuer {
  readonly name: string;
  readonly issuer: string;
  /** What names the organisation: "organisation or repository". */
  readonly owner: string;
  /** The organisation that a subject names; undefined where it names none. */
  readonly ownerOf: (subject: string) => string | undefined;
  /** Subjects as an outsider's tokens have them; `owner` and `project` fit a subject of this issuer. */
  readonly subjects: (owner: string, project: string) => readonly string[];
  /** The project, for `subjects`, that a subject names. */
  readonly projectOf: (subject: string) => string;
  /** Claims that name the organisation or a part of it. */
  readonly pinning: readonly string[];
  /** What a run of a proposed change is: its subject, and the claims that it differs in. */
  readonly proposals: (owner: string, project: string) => readonly ProposalToken[];
  /** An example of a subject that is pinned, for advice. */
  readonly example: string;
}

/** What the token of a run of a proposed change holds. */
export interface ProposalToken {
  readonly subject: string;
  readonly claims: Readonly<Partial<Record<string, string>>>;
  /** "any pull request". */
  readonly what: string;
}

/** What stands for an outsider in witnesses. */
export const INTRUDER = "intruder";

function parser(regex: RegExp): (subject: string) => string | undefined {
  return (subject) =>
    regex
      .exec(subject)
      ?.slice(1)
      .find((group: string | undefined) => group !== undefined);
}

const none = (): never[] => [];

const shared: readonly SharedIssuer[] = [
  {
    name: "GitHub Actions",
    issuer: "https://token.actions.githubusercontent.com",
    owner: "organisation or repository",
    ownerOf: parser(
      /^(?:repo|repository|job_workflow_ref|repository_owner|repository_owner_id|repository_id|enterprise|enterprise_id):([^/:*]+)|^[^/]*?:(?:repository|job_workflow_ref|repository_owner|repository_owner_id|repository_id):([^/:*]+)/,
    ),
    projectOf: (subject) => /^repo:[^/:]+\/([^:]+):/.exec(subject)?.[1] ?? INTRUDER,
    subjects: (owner, project) => [
      `repo:${owner}/${project}:ref:refs/heads/main`,
      `repo:${owner}/${project}:pull_request`,
      `repo:${owner}/${project}:environment:production`,
      `repo:${owner}/${project}:ref:refs/tags/v1.0.0`,
    ],
    pinning: [
      "repository",
      "repository_owner",
      "repository_id",
      "repository_owner_id",
      "job_workflow_ref",
      "workflow_ref",
      "enterprise",
      "enterprise_id",
    ],
    proposals: (owner, project) => [
      {
        subject: `repo:${owner}/${project}:pull_request`,
        claims: { ref: "refs/pull/1/merge", event_name: "pull_request", ref_protected: "false" },
        what: "any pull request",
      },
      {
        subject: `repo:${owner}/${project}:ref:refs/heads/${INTRUDER}`,
        claims: {
          ref: `refs/heads/${INTRUDER}`,
          event_name: "push",
          ref_type: "branch",
          ref_protected: "false",
        },
        what: "any branch",
      },
    ],
    example: "^repo:acme/pay:ref:refs/heads/main$",
  },
  {
    name: "GitLab",
    issuer: "https://gitlab.com",
    owner: "group or project",
    ownerOf: parser(/^project_path:([^/:*]+)\//),
    projectOf: (subject) => /^project_path:[^/:]+\/([^:]+):/.exec(subject)?.[1] ?? INTRUDER,
    subjects: (owner, project) => [
      `project_path:${owner}/${project}:ref_type:branch:ref:main`,
      `project_path:${owner}/${project}:ref_type:tag:ref:v1.0.0`,
    ],
    pinning: ["project_path", "namespace_path", "project_id", "namespace_id", "ci_config_ref_uri"],
    proposals: (owner, project) => [
      {
        subject: `project_path:${owner}/${project}:ref_type:branch:ref:${INTRUDER}`,
        claims: { ref: INTRUDER, ref_type: "branch", ref_protected: "false", pipeline_source: "push" },
        what: "any branch",
      },
    ],
    example: "^project_path:acme/pay:ref_type:branch:ref:main$",
  },
  {
    name: "Buildkite",
    issuer: "https://agent.buildkite.com",
    owner: "organisation",
    ownerOf: parser(/^organization:([^:*]+):/),
    projectOf: (subject) => /:pipeline:([^:]+)/.exec(subject)?.[1] ?? INTRUDER,
    subjects: (owner, project) => [
      `organization:${owner}:pipeline:${project}:ref:refs/heads/main:commit:${"0".repeat(40)}:step:build`,
    ],
    pinning: ["organization_slug", "organization_id", "pipeline_id"],
    proposals: (owner, project) => [
      {
        subject: `organization:${owner}:pipeline:${project}:ref:refs/heads/${INTRUDER}:commit:${"0".repeat(40)}:step:build`,
        claims: { build_branch: INTRUDER },
        what: "any branch",
      },
    ],
    example: "^organization:acme:pipeline:pay:ref:refs/heads/main:commit:[0-9a-f]{40}:step:[a-z-]+$",
  },
  {
    name: "HCP Terraform",
    issuer: "https://app.terraform.io",
    owner: "organisation",
    ownerOf: parser(/^organization:([^:*]+):/),
    projectOf: (subject) => /:project:([^:]+)/.exec(subject)?.[1] ?? INTRUDER,
    subjects: (owner, project) => [
      `organization:${owner}:project:${project}:workspace:${INTRUDER}:run_phase:apply`,
      `organization:${owner}:project:${project}:workspace:${INTRUDER}:run_phase:plan`,
    ],
    pinning: [
      "terraform_organization_id",
      "terraform_organization_name",
      "terraform_workspace_id",
      "terraform_project_id",
    ],
    proposals: none,
    example: "^organization:acme:project:pay:workspace:production:run_phase:apply$",
  },
  {
    name: "Google",
    issuer: "https://accounts.google.com",
    owner: "account",
    ownerOf: parser(/^(\d{10,30})$/),
    projectOf: () => INTRUDER,
    subjects: () => ["100000000000000000000"],
    pinning: ["email", "hd", "azp"],
    proposals: none,
    example: "^103456789012345678901$",
  },
  {
    name: "Vercel",
    issuer: "https://oidc.vercel.com",
    owner: "team",
    ownerOf: parser(/^owner:([^:*]+):/),
    projectOf: (subject) => /:project:([^:]+)/.exec(subject)?.[1] ?? INTRUDER,
    subjects: (owner, project) => [`owner:${owner}:project:${project}:environment:production`],
    pinning: ["owner", "owner_id", "project_id"],
    proposals: (owner, project) => [
      {
        subject: `owner:${owner}:project:${project}:environment:preview`,
        claims: { environment: "preview" },
        what: "any preview deployment",
      },
    ],
    example: "^owner:acme:project:pay:environment:production$",
  },
  {
    name: "Codefresh",
    issuer: "https://oidc.codefresh.io",
    owner: "account",
    ownerOf: parser(/^account:([^:*]+):/),
    projectOf: (subject) => /:pipeline:([^:]+)/.exec(subject)?.[1] ?? INTRUDER,
    subjects: (owner, project) => [`account:${owner}:pipeline:${project}`],
    pinning: ["account_id", "account_name", "pipeline_id"],
    proposals: none,
    example: "^account:64f0example:pipeline:64f1example(:.*)?$",
  },
  {
    name: "Pulumi Cloud",
    issuer: "https://api.pulumi.com/oidc",
    owner: "organisation",
    ownerOf: parser(/^pulumi:(?:deploy|environments):org:([^:*]+):/),
    projectOf: (subject) => /:project:([^:]+)/.exec(subject)?.[1] ?? INTRUDER,
    subjects: (owner, project) => [
      `pulumi:deploy:org:${owner}:project:${project}:stack:${INTRUDER}:operation:update:scope:write`,
      `pulumi:environments:org:${owner}:env:${INTRUDER}`,
    ],
    pinning: ["org"],
    proposals: none,
    example: "^pulumi:deploy:org:acme:project:pay:stack:production:operation:update:scope:write$",
  },
];

const bare = (issuer: string): string => issuer.replace(/\/+$/, "").toLowerCase();

/** The issuer of that exact address, where it is one that serves everybody. */
export function sharedIssuerOf(issuer: string): SharedIssuer | undefined {
  return shared.find((candidate) => candidate.issuer === bare(issuer));
}

/** The first issuer that serves everybody and that `accepts` says yes to. */
export function sharedIssuerThat(accepts: (issuer: string) => boolean): SharedIssuer | undefined {
  return shared.find(({ issuer }) => accepts(issuer));
}
