import {
  BITBUCKET_WORKSPACE,
  CIRCLECI_ORGANISATION,
  CLUSTERS,
  FLY_ORGANISATION,
  GITHUB_ENTERPRISES,
  OWN_DOMAIN,
  SEMAPHORE_ORGANISATION,
  SPACELIFT_ACCOUNT,
  VERCEL_TEAM,
} from "./issuerHosts";

/** The name of the outsider in examples. */
export const INTRUDER = "intruder";

/** Any characters, in regular expressions. */
const ANY = "(?s:.*)";
const UUID = "[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}";
const NUMBER = "[0-9]{1,20}";

/**
 * A text of a token that is proven to pin: only the owner that it names can have such a text signed. A pin that is in none
 * of these rows is none. Strings are regular expressions of RE2.
 */
export interface Pin {
  /** `sub`, or the name of a claim. */
  readonly part: string;
  /** What must be written out. */
  readonly literal: string;
  readonly before: string;
  readonly name: string;
  readonly after: string;
  readonly ignoresCase?: true;
  /** A number beside the name that pins as well. */
  readonly orNumber?: { readonly before: string; readonly name: string; readonly after: string };
  /** The name is a host of mail addresses: one where everybody can have an address pins nobody. */
  readonly isMail?: true;
  /** Why nobody else has such texts. */
  readonly why: string;
  readonly source: string;
  /** What may follow the name, in a form that is easy to read. */
  readonly ending?: string;
}

/** A pin at an issuer that signs for many customers. */
interface SharedPin extends Pin {
  /** The address of the issuer. */
  readonly issuer: string;
}

/** A pin at issuers that one owner runs. */
export interface OwnPin extends Pin {
  /** What such an owner is: "domain". Where users have accounts of a service, no text but a whole subject pins. */
  readonly owners: readonly string[];
}

export const GITHUB = "https://token.actions.githubusercontent.com";
export const GITLAB = "https://gitlab.com";
export const BUILDKITE = "https://agent.buildkite.com";
export const TERRAFORM = "https://app.terraform.io";
export const GOOGLE = "https://accounts.google.com";
export const VERCEL = "https://oidc.vercel.com";
export const CODEFRESH = "https://oidc.codefresh.io";
export const PULUMI = "https://api.pulumi.com/oidc";
export const PULUMI_ESC = "https://api.pulumi.com/oidc/v2";

const GITHUB_DOCS = "https://docs.github.com/en/actions/reference/security/oidc";
const GITLAB_DOCS = "https://docs.gitlab.com/ci/secrets/id_token_authentication/";
const BUILDKITE_DOCS = "https://buildkite.com/docs/pipelines/security/oidc";
const TERRAFORM_DOCS =
  "https://developer.hashicorp.com/terraform/cloud-docs/workspaces/dynamic-provider-credentials/workload-identity-tokens";
const GOOGLE_DOCS = "https://developers.google.com/identity/openid-connect/openid-connect";
const GOOGLE_MAIL_DOCS = "https://developers.google.com/identity/gsi/web/guides/verify-google-id-token";
const SPACELIFT_DOCS = "https://docs.spacelift.io/integrations/cloud-providers/oidc";
const VERCEL_DOCS = "https://vercel.com/docs/oidc/reference";
const CODEFRESH_DOCS = "https://codefresh.io/docs/docs/integrations/oidc-pipelines/";
const PULUMI_DOCS = "https://www.pulumi.com/docs/administration/access-identity/oidc-provider/";

const PULUMI_ESC_DOCS = "https://www.pulumi.com/docs/esc/guides/configuring-oidc/custom-audience/";

const GITHUB_OWNER = "[A-Za-z0-9]+(?:-[A-Za-z0-9]+)*-?(?:_[A-Za-z0-9]+)?";

/**
 * Parts of a customised subject that whoever runs a workflow chooses. `job_workflow_ref` is one: everybody can call a
 * public workflow. Their values contain no colon.
 */
const GITHUB_FREE_KEYS =
  "(?:environment|environment_node_id|ref|ref_type|ref_protected|head_ref|base_ref|workflow|actor|actor_id|event_name|sha|run_id|run_number|run_attempt|runner_environment|repository_visibility|workflow_sha|job_workflow_ref|job_workflow_sha|context|check_run_id)";
const GITHUB_FREE = `(?:(?:${GITHUB_FREE_KEYS}:[^:]*|pull_request):)*`;

const github = { issuer: GITHUB, ignoresCase: true, source: GITHUB_DOCS } as const;
export const GITHUB_ORGANISATION = "organisation of GitHub Actions";
const GITHUB_WHY = "GitHub writes the owner of the repository whose workflow runs";

const gitlab = { issuer: GITLAB, source: GITLAB_DOCS } as const;
const GITLAB_GROUP = "group of GitLab CI";
const GITLAB_WHY = "GitLab writes the path of the project whose pipeline runs";
const GITLAB_NAME = "[A-Za-z0-9_][A-Za-z0-9_.-]*";

/** A subject that begins with the name of an owner, up to a colon: `organization:acme:pipeline:…`. */
const upToColon = (before: string) => ({
  part: "sub",
  before: `${before}:`,
  name: "[^:\\x00-\\x1f\\x7f]+",
  after: `:${ANY}`,
  ignoresCase: true as const,
});

/** A claim whose whole value is a name or an id. */
const wholeClaim = (part: string, literal: string, name = "[^\\x00-\\x20\\x7f:/]+") => ({
  part,
  literal,
  before: "",
  name,
  after: "",
  ignoresCase: true as const,
});

/** A claim whose value is a path below the owner. */
const pathClaim = (part: string, literal: string, name: string) => ({
  part,
  literal,
  before: "",
  name,
  after: `/${ANY}`,
  ignoresCase: true as const,
});

export const MAIL_DOMAIN_OWNER = "mail domain";
const MAIL_LABEL = "[A-Za-z0-9-]+";
export const MAIL_DOMAIN = `${MAIL_LABEL}(?:\\.${MAIL_LABEL})+`;

const githubSubject: SharedPin = {
  ...github,
  part: "sub",
  literal: GITHUB_ORGANISATION,
  before: `${GITHUB_FREE}repo:`,
  name: GITHUB_OWNER,
  after: `/${ANY}`,
  why: GITHUB_WHY,
  ending: `/${INTRUDER}:ref:refs/heads/main`,
};

const gitlabSubject: SharedPin = {
  ...gitlab,
  part: "sub",
  literal: GITLAB_GROUP,
  before: "project_path:",
  name: GITLAB_NAME,
  after: `/${ANY}`,
  ignoresCase: true,
  why: GITLAB_WHY,
  ending: `/${INTRUDER}:ref_type:branch:ref:main`,
};

/** THE list of what pins at issuers that sign for many customers. */
export const sharedPins: readonly SharedPin[] = [
  githubSubject,
  {
    ...github,
    part: "sub",
    literal: GITHUB_ORGANISATION,
    before: `${GITHUB_FREE}repo:`,
    name: GITHUB_OWNER,
    after: `@[0-9]+/${ANY}`,
    orNumber: { before: `${GITHUB_FREE}repo:[^/@]+@`, name: "[0-9]+", after: `/${ANY}` },
    why: "the number of the owner follows its name in repositories of GitHub.com that are newer than July 2026, or opted in",
  },
  {
    ...github,
    part: "sub",
    literal: GITHUB_ORGANISATION,
    before: `${GITHUB_FREE}(?:repository|repository_owner|workflow_ref):`,
    name: GITHUB_OWNER,
    after: `(?:[/:]${ANY})?`,
    why: GITHUB_WHY,
  },
  ...["repository_id", "repository_owner_id", "enterprise_id"].map((claim) => ({
    ...github,
    part: "sub",
    literal: `${claim} of GitHub Actions`,
    before: `${GITHUB_FREE}${claim}:`,
    name: NUMBER,
    after: `(?::${ANY})?`,
    why: "GitHub never gives a number again",
  })),
  {
    ...github,
    part: "sub",
    literal: "enterprise of GitHub Actions",
    before: `${GITHUB_FREE}enterprise:`,
    name: "[A-Za-z0-9-]+",
    after: `(?::${ANY})?`,
    why: "GitHub writes the enterprise that the repository belongs to",
  },
  { ...github, ...pathClaim("repository", GITHUB_ORGANISATION, GITHUB_OWNER), why: GITHUB_WHY },
  { ...github, ...wholeClaim("repository_owner", GITHUB_ORGANISATION, GITHUB_OWNER), why: GITHUB_WHY },
  {
    ...github,
    ...pathClaim("workflow_ref", GITHUB_ORGANISATION, GITHUB_OWNER),
    why: "it names the workflow of the repository that runs, unlike job_workflow_ref",
  },
  ...["repository_id", "repository_owner_id", "enterprise_id"].map((claim) => ({
    ...github,
    ...wholeClaim(claim, `${claim} of GitHub Actions`, NUMBER),
    why: "GitHub never gives a number again",
  })),
  {
    ...github,
    ...wholeClaim("enterprise", "enterprise of GitHub Actions", "[A-Za-z0-9-]+"),
    why: "GitHub writes the enterprise that the repository belongs to",
  },
  gitlabSubject,
  { ...gitlab, ...pathClaim("project_path", GITLAB_GROUP, GITLAB_NAME), why: GITLAB_WHY },
  {
    ...gitlab,
    part: "namespace_path",
    literal: GITLAB_GROUP,
    before: "",
    name: GITLAB_NAME,
    after: `(?:/${ANY})?`,
    ignoresCase: true,
    why: GITLAB_WHY,
  },
  ...["project_id", "namespace_id"].map((claim) => ({
    ...gitlab,
    ...wholeClaim(claim, `${claim} of GitLab CI`, NUMBER),
    why: "GitLab never gives a number again",
  })),
  {
    issuer: BUILDKITE,
    ...upToColon("organization"),
    literal: "organisation of Buildkite",
    why: "Buildkite writes the organisation of the pipeline that runs",
    source: BUILDKITE_DOCS,
  },
  {
    issuer: BUILDKITE,
    part: "sub",
    literal: "id of Buildkite",
    before: "",
    name: UUID,
    after: "",
    why: "a job may have an id of its own organisation, pipeline or cluster as its whole subject",
    source: "https://buildkite.com/docs/agent/cli/reference/oidc#custom-subject-claims",
  },
  ...["organization_slug", "organization_id", "pipeline_id"].map((claim) => ({
    issuer: BUILDKITE,
    ...wholeClaim(
      claim,
      claim === "organization_slug" ? "organisation of Buildkite" : `${claim} of Buildkite`,
    ),
    why: "Buildkite writes the organisation or the id of the pipeline that runs",
    source: BUILDKITE_DOCS,
  })),
  {
    issuer: TERRAFORM,
    ...upToColon("organization"),
    literal: "organisation of HCP Terraform",
    why: "HCP Terraform writes the organisation of the workspace that runs",
    source: TERRAFORM_DOCS,
  },
  ...[
    "terraform_organization_name",
    "terraform_organization_id",
    "terraform_workspace_id",
    "terraform_project_id",
  ].map((claim) => ({
    issuer: TERRAFORM,
    ...wholeClaim(
      claim,
      claim === "terraform_organization_name" ? "organisation of HCP Terraform" : `${claim} of HCP Terraform`,
    ),
    why: "HCP Terraform writes the organisation or the id of what runs",
    source: TERRAFORM_DOCS,
  })),
  {
    issuer: GOOGLE,
    part: "sub",
    literal: "account of Google",
    before: "",
    name: "[0-9]{10,30}",
    after: "",
    why: "Google never gives the number of an account again",
    source: GOOGLE_DOCS,
  },
  {
    issuer: GOOGLE,
    part: "email",
    literal: "mail address",
    before: "",
    name: `[^@\\x00-\\x20\\x7f]+@(?:gmail\\.com|googlemail\\.com|(?:${MAIL_LABEL}\\.)*gserviceaccount\\.com)`,
    after: "",
    ignoresCase: true,
    why: "Google gives these addresses itself; of another one it only knows that somebody could read its mail once",
    source: GOOGLE_MAIL_DOCS,
  },
  {
    issuer: GOOGLE,
    ...wholeClaim("hd", MAIL_DOMAIN_OWNER, MAIL_DOMAIN),
    isMail: true,
    why: "Google writes the domain of the organisation that manages the account",
    source: GOOGLE_DOCS,
  },
  {
    issuer: VERCEL,
    ...upToColon("owner"),
    literal: "team of Vercel",
    why: "Vercel writes the team of the project that runs",
    source: VERCEL_DOCS,
  },
  ...["owner", "owner_id", "project_id"].map((claim) => ({
    issuer: VERCEL,
    ...wholeClaim(claim, claim === "owner" ? "team of Vercel" : `${claim} of Vercel`),
    why: "Vercel writes the team or the id of the project that runs",
    source: VERCEL_DOCS,
  })),
  {
    issuer: CODEFRESH,
    ...upToColon("account"),
    literal: "account of Codefresh",
    why: "Codefresh writes the account of the pipeline that runs",
    source: CODEFRESH_DOCS,
  },
  ...["account_id", "account_name", "pipeline_id"].map((claim) => ({
    issuer: CODEFRESH,
    ...wholeClaim(claim, claim === "account_id" ? "account of Codefresh" : `${claim} of Codefresh`),
    why: "Codefresh writes the account or the id of the pipeline that runs",
    source: CODEFRESH_DOCS,
  })),
  {
    issuer: PULUMI,
    ...upToColon("pulumi:(?:deploy|environments):org"),
    literal: "organisation of Pulumi Cloud",
    why: "Pulumi Cloud writes the organisation of the stack or environment",
    source: PULUMI_DOCS,
  },
  {
    issuer: PULUMI,
    ...wholeClaim("org", "organisation of Pulumi Cloud"),
    why: "Pulumi Cloud writes the organisation of the stack or environment",
    source: PULUMI_DOCS,
  },
  {
    issuer: PULUMI_ESC,
    ...upToColon("pulumi:org"),
    literal: "organisation of Pulumi ESC",
    why: "Pulumi writes the id of the organisation that declares the environment",
    source: PULUMI_ESC_DOCS,
  },
  {
    issuer: PULUMI_ESC,
    ...wholeClaim("https://pulumi.com/org_id", "organisation of Pulumi ESC"),
    why: "Pulumi writes the id of the organisation that declares the environment",
    source: PULUMI_ESC_DOCS,
  },
];

/** How the accounts of a namespace begin: whoever may run something in it may use any of them. */
export const NAMESPACE = {
  before: "system:serviceaccount:",
  name: "[a-z0-9-]+",
  source: "https://kubernetes.io/docs/concepts/security/rbac-good-practices/#workload-creation",
};

const RFC_MAIL = "https://www.rfc-editor.org/rfc/rfc5321#section-2.3.11";

export const TRUST_DOMAIN = "trust domain of SPIFFE";

/** Owners that names at an issuer name only there: another GitHub has other organisations. */
export const LOCAL_OWNERS: readonly string[] = [GITHUB_ORGANISATION, GITLAB_GROUP];

/** Pins at an issuer that one owner runs, beside subjects that are written out. */
export const ownPins: readonly OwnPin[] = [
  ...sharedPins
    .filter(({ literal }) => LOCAL_OWNERS.includes(literal))
    .map((pin) => ({
      ...pin,
      owners: [OWN_DOMAIN, ...GITHUB_ENTERPRISES],
      why: "a GitHub Enterprise Server and a GitLab of one's own write subjects and claims as the shared ones do",
    })),
  {
    owners: [CIRCLECI_ORGANISATION],
    part: "sub",
    literal: "project of CircleCI",
    before: "org/[^/]+/project/",
    name: "[^/\\x00-\\x20\\x7f]+",
    after: `/user/${ANY}`,
    why: "CircleCI writes the project whose job runs, and the user who started it",
    source: "https://circleci.com/docs/openid-connect-tokens/",
  },
  {
    owners: [BITBUCKET_WORKSPACE],
    part: "sub",
    literal: "repository of Bitbucket",
    before: "\\{",
    name: UUID,
    after: `\\}:${ANY}`,
    why: "Bitbucket writes the repository whose pipeline runs, and the step, which is another one in each run",
    source:
      "https://support.atlassian.com/bitbucket-cloud/docs/integrate-pipelines-with-resource-servers-using-oidc/",
  },
  {
    owners: [SEMAPHORE_ORGANISATION],
    part: "sub",
    literal: "project of Semaphore",
    before: "org:[^:]+:project:",
    name: UUID,
    after: `:repo:${ANY}`,
    why: "Semaphore writes the id of the project whose job runs",
    source: "https://github.com/semaphoreio/semaphore/blob/main/docs/docs/reference/openid.md",
  },
  {
    owners: [SPACELIFT_ACCOUNT],
    part: "sub",
    literal: "stack or module of Spacelift",
    before: "space:[^:]+:(?:stack|module):",
    name: "[^:\\x00-\\x20\\x7f]+",
    after: `:run_type:${ANY}`,
    why: "Spacelift writes the stack or the module that runs",
    source: SPACELIFT_DOCS,
  },
  {
    owners: [VERCEL_TEAM],
    part: "sub",
    literal: "project of Vercel",
    before: "owner:[^:]+:project:",
    name: "[^:\\x00-\\x20\\x7f]+",
    after: `:environment:${ANY}`,
    why: "Vercel writes the project of the deployment",
    source: VERCEL_DOCS,
  },
  {
    owners: [FLY_ORGANISATION],
    part: "sub",
    literal: "application of Fly.io",
    before: "[^:]+:",
    name: "[a-z0-9-]+",
    after: `:${ANY}`,
    why: "Fly.io writes the application and the machine that runs, which is another one after each deployment",
    source: "https://fly.io/docs/security/openid-connect/",
  },
  {
    owners: [OWN_DOMAIN, ...CLUSTERS],
    part: "sub",
    literal: "namespace of Kubernetes",
    ...NAMESPACE,
    after: `:${ANY}`,
    why: "whoever may run something in a namespace may use any of its service accounts",
  },
  {
    owners: [OWN_DOMAIN],
    part: "sub",
    literal: TRUST_DOMAIN,
    before: "spiffe://",
    name: "[a-z0-9._-]+",
    after: `(?:/${ANY})?`,
    why: "one authority signs for a trust domain",
    source: "https://spiffe.io/docs/latest/spiffe-specs/spiffe-id/",
  },
  {
    owners: [OWN_DOMAIN],
    part: "sub",
    literal: MAIL_DOMAIN_OWNER,
    before: "(?s:.*)@",
    name: MAIL_DOMAIN,
    after: "",
    ignoresCase: true,
    isMail: true,
    why: "the owner of a domain gives its addresses",
    source: RFC_MAIL,
  },
];

const AWS_DOCS = "https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_identifiers.html";
const AWS_PRINCIPALS =
  "https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_policies_variables.html#principaltable";
const NAME_REST = "[\\w+=,.@-]";

/** Principals of an account of AWS that a match of their ARN or user id pins. The account itself is always exact. */
export const awsPins: Readonly<Record<"arn" | "userId", readonly Pin[]>> = {
  arn: [
    {
      part: "arn",
      literal: "role of AWS",
      before: "arn:aws[a-z-]*:sts::[0-9]{12}:assumed-role/",
      name: `${NAME_REST}+`,
      after: `(?:/${ANY})?`,
      why: "whoever may assume the role chooses the name of the session alone",
      source: AWS_DOCS,
    },
    {
      part: "arn",
      literal: "principal of AWS",
      before: "arn:aws[a-z-]*:iam::[0-9]{12}:(?:role|user)/",
      name: "[\\w+=,.@/-]+",
      after: "",
      why: "an account has one role or user of a name; a federated user has the name that its caller chooses",
      source: AWS_DOCS,
    },
  ],
  userId: [
    {
      part: "userId",
      literal: "unique id of AWS",
      before: "",
      name: "A[A-Z]{3}[A-Z0-9]+",
      after: `(?::${ANY})?`,
      why: "AWS never gives the id of a role or user again; the name of the session follows it",
      source: AWS_DOCS,
    },
    {
      part: "userId",
      literal: "root user of AWS",
      before: "",
      name: "[0-9]{12}",
      after: "",
      why: "the number of an account alone is its root user; with a name it is a federated user, whose caller chooses the name",
      source: AWS_PRINCIPALS,
    },
  ],
};

/** Subjects at GitHub that name no owner. */
export const OWNERLESS_GITHUB_SUBJECTS: readonly string[] = [
  `${GITHUB_FREE_KEYS}:[a-z/]+`,
  `(?:${GITHUB_FREE_KEYS}:[^:\\x00-\\x1f\\x7f]*|pull_request)(?::${GITHUB_FREE_KEYS}:[^:\\x00-\\x1f\\x7f]*)*`,
];
