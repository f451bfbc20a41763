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

export const GITHUB_ORGANISATION = "organisation of GitHub Actions";
const GITHUB_ENTERPRISE = "enterprise of GitHub Actions";
const GITHUB_NUMBERS = ["repository_id", "repository_owner_id", "enterprise_id"];
const GITHUB_WHY = "GitHub writes the owner of the repository whose workflow runs, and gives no number again";

const GITLAB_GROUP = "group of GitLab CI";
const GITLAB_WHY = "GitLab writes the path of the project whose pipeline runs, and gives no number again";
const GITLAB_NAME = "[A-Za-z0-9_][A-Za-z0-9_.-]*";

/** A pin without what all pins of a service share. */
type PinPart = Omit<Pin, "why" | "source">;

/** The pins of a service. */
const pinsAt = (
  issuer: string,
  { why, source }: Pick<Pin, "why" | "source">,
  pins: readonly PinPart[],
): readonly SharedPin[] => pins.map((pin) => ({ issuer, why, source, ...pin }));

/** What names an owner, in letters of any case. */
const pin = (part: string, literal: string, before: string, name: string, after: string): PinPart => ({
  part,
  literal,
  before,
  name,
  after,
  ignoresCase: true,
});

/** A subject that begins with the name of an owner, up to a colon: `organization:acme:pipeline:…`. */
const upToColon = (before: string, literal: string): PinPart =>
  pin("sub", literal, `${before}:`, "[^:\\x00-\\x1f\\x7f]+", `:${ANY}`);

/** A claim whose whole value is a name or an id. */
const wholeClaim = (part: string, literal: string, name = "[^\\x00-\\x20\\x7f:/]+"): PinPart =>
  pin(part, literal, "", name, "");

/** Claims whose whole values are ids at a service. */
const idClaims = (service: string, parts: readonly string[], name?: string): PinPart[] =>
  parts.map((part) => wholeClaim(part, `${part} of ${service}`, name));

/** A claim whose value is a path below the owner. */
const pathClaim = (part: string, literal: string, name: string): PinPart =>
  pin(part, literal, "", name, `/${ANY}`);

export const MAIL_DOMAIN_OWNER = "mail domain";
const MAIL_LABEL = "[A-Za-z0-9-]+";
export const MAIL_DOMAIN = `${MAIL_LABEL}(?:\\.${MAIL_LABEL})+`;

/** THE list of what pins at issuers that sign for many customers. */
export const sharedPins: readonly SharedPin[] = [
  ...pinsAt(GITHUB, { why: GITHUB_WHY, source: GITHUB_DOCS }, [
    {
      ...pin("sub", GITHUB_ORGANISATION, `${GITHUB_FREE}repo:`, GITHUB_OWNER, `/${ANY}`),
      ending: `/${INTRUDER}:ref:refs/heads/main`,
    },
    {
      // The number of the owner follows its name in repositories that are newer than July 2026, or opted in.
      ...pin("sub", GITHUB_ORGANISATION, `${GITHUB_FREE}repo:`, GITHUB_OWNER, `@[0-9]+/${ANY}`),
      orNumber: { before: `${GITHUB_FREE}repo:[^/@]+@`, name: "[0-9]+", after: `/${ANY}` },
    },
    pin(
      "sub",
      GITHUB_ORGANISATION,
      `${GITHUB_FREE}(?:repository|repository_owner|workflow_ref):`,
      GITHUB_OWNER,
      `(?:[/:]${ANY})?`,
    ),
    ...GITHUB_NUMBERS.map((claim) =>
      pin("sub", `${claim} of GitHub Actions`, `${GITHUB_FREE}${claim}:`, NUMBER, `(?::${ANY})?`),
    ),
    pin("sub", GITHUB_ENTERPRISE, `${GITHUB_FREE}enterprise:`, "[A-Za-z0-9-]+", `(?::${ANY})?`),
    pathClaim("repository", GITHUB_ORGANISATION, GITHUB_OWNER),
    wholeClaim("repository_owner", GITHUB_ORGANISATION, GITHUB_OWNER),
    // It names the workflow of the repository that runs, unlike job_workflow_ref.
    pathClaim("workflow_ref", GITHUB_ORGANISATION, GITHUB_OWNER),
    ...idClaims("GitHub Actions", GITHUB_NUMBERS, NUMBER),
    wholeClaim("enterprise", GITHUB_ENTERPRISE, "[A-Za-z0-9-]+"),
  ]),
  ...pinsAt(GITLAB, { why: GITLAB_WHY, source: GITLAB_DOCS }, [
    {
      ...pin("sub", GITLAB_GROUP, "project_path:", GITLAB_NAME, `/${ANY}`),
      ending: `/${INTRUDER}:ref_type:branch:ref:main`,
    },
    pathClaim("project_path", GITLAB_GROUP, GITLAB_NAME),
    pin("namespace_path", GITLAB_GROUP, "", GITLAB_NAME, `(?:/${ANY})?`),
    ...idClaims("GitLab CI", ["project_id", "namespace_id"], NUMBER),
  ]),
  ...pinsAt(
    BUILDKITE,
    {
      why: "Buildkite writes the organisation or an id of it, a pipeline or a cluster, which may be the whole subject",
      source: BUILDKITE_DOCS,
    },
    [
      upToColon("organization", "organisation of Buildkite"),
      // https://buildkite.com/docs/agent/cli/reference/oidc#custom-subject-claims
      { part: "sub", literal: "id of Buildkite", before: "", name: UUID, after: "" },
      wholeClaim("organization_slug", "organisation of Buildkite"),
      ...idClaims("Buildkite", ["organization_id", "pipeline_id"]),
    ],
  ),
  ...pinsAt(
    TERRAFORM,
    { why: "HCP Terraform writes the organisation or the id of what runs", source: TERRAFORM_DOCS },
    [
      upToColon("organization", "organisation of HCP Terraform"),
      wholeClaim("terraform_organization_name", "organisation of HCP Terraform"),
      ...idClaims("HCP Terraform", [
        "terraform_organization_id",
        "terraform_workspace_id",
        "terraform_project_id",
      ]),
    ],
  ),
  ...pinsAt(GOOGLE, { why: "Google gives each account its own number and address", source: GOOGLE_DOCS }, [
    { part: "sub", literal: "account of Google", before: "", name: "[0-9]{10,30}", after: "" },
    // Google gives these addresses itself; of another one it only knows that somebody could read its mail once:
    // https://developers.google.com/identity/gsi/web/guides/verify-google-id-token
    wholeClaim(
      "email",
      "mail address",
      `[^@\\x00-\\x20\\x7f]+@(?:gmail\\.com|googlemail\\.com|(?:${MAIL_LABEL}\\.)*gserviceaccount\\.com)`,
    ),
    // The domain of the organisation that manages the account.
    { ...wholeClaim("hd", MAIL_DOMAIN_OWNER, MAIL_DOMAIN), isMail: true },
  ]),
  ...pinsAt(
    VERCEL,
    { why: "Vercel writes the team or the id of the project that runs", source: VERCEL_DOCS },
    [
      upToColon("owner", VERCEL_TEAM),
      wholeClaim("owner", VERCEL_TEAM),
      ...idClaims("Vercel", ["owner_id", "project_id"]),
    ],
  ),
  ...pinsAt(
    CODEFRESH,
    { why: "Codefresh writes the account or the id of the pipeline that runs", source: CODEFRESH_DOCS },
    [
      upToColon("account", "account of Codefresh"),
      wholeClaim("account_id", "account of Codefresh"),
      ...idClaims("Codefresh", ["account_name", "pipeline_id"]),
    ],
  ),
  ...pinsAt(
    PULUMI,
    { why: "Pulumi Cloud writes the organisation of the stack or environment", source: PULUMI_DOCS },
    [
      upToColon("pulumi:(?:deploy|environments):org", "organisation of Pulumi Cloud"),
      wholeClaim("org", "organisation of Pulumi Cloud"),
    ],
  ),
  ...pinsAt(
    PULUMI_ESC,
    {
      why: "Pulumi writes the id of the organisation that declares the environment",
      source: PULUMI_ESC_DOCS,
    },
    [
      upToColon("pulumi:org", "organisation of Pulumi ESC"),
      wholeClaim("https://pulumi.com/org_id", "organisation of Pulumi ESC"),
    ],
  ),
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
