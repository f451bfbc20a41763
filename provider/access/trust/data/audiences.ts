/** Audiences of tokens that jobs get for other services, as regular expressions. */
interface OtherAudience {
  /** Who receives such tokens. */
  readonly receiver: string;
  readonly audience: string;
  readonly source: string;
}

const TERRAFORM_DOCS =
  "https://developer.hashicorp.com/terraform/cloud-docs/workspaces/dynamic-provider-credentials/workload-identity-tokens";

export const otherAudiences: readonly OtherAudience[] = [
  {
    receiver: "AWS",
    audience: "sts\\.amazonaws\\.com|aws\\.workload\\.identity",
    source: "https://buildkite.com/docs/agent/cli/reference/oidc#aws-session-tags",
  },
  {
    receiver: "Azure",
    audience: "api://AzureADTokenExchange(?:China|USGov)?",
    source:
      "https://learn.microsoft.com/en-us/entra/workload-id/workload-identity-federation-create-trust#important-considerations-and-restrictions",
  },
  {
    receiver: "Google Cloud",
    audience: "(?:https:)?//iam\\.googleapis\\.com/projects/.+",
    source: "https://cloud.google.com/iam/docs/workload-identity-federation-with-deployment-pipelines",
  },
  { receiver: "Vault", audience: "vault\\.workload\\.identity", source: TERRAFORM_DOCS },
  {
    receiver: "Sigstore",
    audience: "sigstore",
    source: "https://docs.sigstore.dev/certificate_authority/oidc-in-fulcio/",
  },
  {
    receiver: "PyPI",
    audience: "(?:test)?pypi",
    source: "https://docs.pypi.org/trusted-publishers/using-a-publisher/",
  },
  {
    receiver: "npm",
    audience: "npm:registry\\.npmjs\\.org",
    source: "https://docs.npmjs.com/trusted-publishers",
  },
  {
    receiver: "RubyGems",
    audience: "rubygems\\.org",
    source: "https://guides.rubygems.org/trusted-publishing/",
  },
  {
    receiver: "HCP",
    audience: "hcp\\.workload\\.identity",
    source: TERRAFORM_DOCS,
  },
  {
    receiver: "every service that asks GitHub Actions for no audience of its own",
    audience: "https://github\\.com/[^/]+",
    source: "https://docs.github.com/en/actions/reference/security/oidc",
  },
  {
    receiver: "every service that asks Buildkite for no audience of its own",
    audience: "https://buildkite\\.com/[^/]+",
    source: "https://buildkite.com/docs/agent/cli/reference/oidc#claims",
  },
  {
    receiver: "every service that asks Vercel for no audience of its own",
    audience: "https://vercel\\.com/[^/]+",
    source: "https://vercel.com/docs/oidc/reference",
  },
];
