/** Where the address of an issuer names the customer that it belongs to. Strings are regular expressions of RE2. */
export interface TenantAddress {
  /** What the customer is: "cluster of EKS". */
  readonly what: string;
  /** The whole host; where the host itself names the customer, what follows that name. */
  readonly host: string;
  /** The path before the name of the customer; undefined where the host names it. */
  readonly path?: string;
  readonly name: string;
  /** Names, or hosts where the host names the customer, that stand for everybody. */
  readonly everybody?: readonly string[];
  readonly source: string;
}

const LABEL = "[A-Za-z0-9-]+";
const SEGMENT = "[^/?#\\x00-\\x20\\x7f]+";
const UUID = "[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}";
const REGION = "[a-z0-9-]+";
const AWS = "amazonaws\\.com(?:\\.cn)?";

const AZURE_DOCS = "https://learn.microsoft.com/en-us/entra/identity-platform/access-token-claims-reference";
const AWS_FEDERATION_DOCS =
  "https://docs.aws.amazon.com/IAM/latest/UserGuide/id_roles_providers_outbound.html";
const SEMAPHORE_DOCS = "https://github.com/semaphoreio/semaphore/blob/main/docs/docs/reference/openid.md";
const S3_DOCS = "https://docs.aws.amazon.com/AmazonS3/latest/userguide/gpbucketnamespaces.html";
/** The tenant of all personal accounts. */
const PERSONAL_ACCOUNTS = ["9188040d-6c67-4c5b-b112-36a304b66dad"];

/** Whose an issuer is that stands on a domain which somebody has registered. */
export const OWN_DOMAIN = "domain";
export const AZURE_TENANT = "tenant of Azure";
export const CIRCLECI_ORGANISATION = "organisation of CircleCI";
export const BITBUCKET_WORKSPACE = "workspace of Bitbucket";
export const SEMAPHORE_ORGANISATION = "organisation of Semaphore";
export const SPACELIFT_ACCOUNT = "account of Spacelift";
export const VERCEL_TEAM = "team of Vercel";
export const FLY_ORGANISATION = "organisation of Fly.io";
/** Issuers of one cluster, or of those of one customer. */
export const CLUSTERS: readonly string[] = ["cluster of EKS", "project of GKE", "tenant of AKS"];
/** Issuers that sign what the shared one of GitHub Actions signs, for one enterprise. */
export const GITHUB_ENTERPRISES: readonly string[] = ["enterprise of GitHub Actions", "enterprise of GitHub"];

export const tenantAddresses: readonly TenantAddress[] = [
  {
    what: AZURE_TENANT,
    host: "login\\.microsoftonline\\.(?:com|us)",
    path: "",
    name: UUID,
    everybody: PERSONAL_ACCOUNTS,
    source: AZURE_DOCS,
  },
  {
    what: AZURE_TENANT,
    host: "sts\\.windows\\.net",
    path: "",
    name: UUID,
    everybody: PERSONAL_ACCOUNTS,
    source: AZURE_DOCS,
  },
  {
    what: CIRCLECI_ORGANISATION,
    host: "oidc\\.circleci\\.com",
    path: "org/",
    name: UUID,
    source: "https://circleci.com/docs/openid-connect-tokens/",
  },
  {
    what: "cluster of EKS",
    host: `oidc\\.eks\\.${REGION}\\.${AWS}`,
    path: "id/",
    name: "[0-9A-Fa-f]+",
    source: "https://docs.aws.amazon.com/eks/latest/userguide/iam-roles-for-service-accounts.html",
  },
  {
    what: "issuer of an account of AWS",
    host: "tokens\\.sts\\.global\\.api\\.aws",
    name: LABEL,
    source: AWS_FEDERATION_DOCS,
  },
  {
    what: "user pool of Cognito",
    host: `cognito-idp\\.${REGION}\\.${AWS}`,
    path: "",
    name: "[A-Za-z0-9_-]+",
    source:
      "https://docs.aws.amazon.com/cognito/latest/developerguide/amazon-cognito-user-pools-using-tokens-verifying-a-jwt.html",
  },
  {
    what: "project of GKE",
    host: "container\\.googleapis\\.com",
    path: "v1(?:beta1)?/projects/",
    name: SEGMENT,
    source: "https://cloud.google.com/kubernetes-engine/docs/how-to/workload-identity",
  },
  {
    what: "project of Firebase",
    host: "securetoken\\.google\\.com",
    path: "",
    name: SEGMENT,
    source: "https://firebase.google.com/docs/auth/admin/verify-id-tokens",
  },
  {
    what: "tenant of AKS",
    host: `${REGION}\\.oic\\.prod-aks\\.azure\\.com`,
    path: "",
    name: UUID,
    source: "https://learn.microsoft.com/en-us/azure/aks/use-oidc-issuer",
  },
  {
    what: "organisation of Azure DevOps",
    host: "vstoken\\.dev\\.azure\\.com",
    path: "",
    name: UUID,
    source: "https://learn.microsoft.com/en-us/azure/devops/pipelines/release/configure-workload-identity",
  },
  {
    what: "tenant of Azure AD B2C",
    host: `${LABEL}\\.b2clogin\\.com`,
    path: "(?:tfp/)?",
    name: UUID,
    source: "https://learn.microsoft.com/en-us/azure/active-directory-b2c/tokens-overview",
  },
  {
    what: "tenant of Microsoft Entra External ID",
    host: `${LABEL}\\.ciamlogin\\.com`,
    path: "",
    name: UUID,
    source: "https://learn.microsoft.com/en-us/entra/external-id/customers/concept-custom-url-domain",
  },
  {
    what: "tenant of Auth0",
    host: "(?:[a-z]{2}(?:-[0-9])?\\.)?auth0\\.com",
    name: LABEL,
    source: "https://auth0.com/docs/get-started/tenant-settings",
  },
  {
    what: "instance of Octopus Deploy",
    host: "octopus\\.app",
    name: LABEL,
    source: "https://octopus.com/docs/infrastructure/accounts/openid-connect",
  },
  {
    what: "environment of WorkOS AuthKit",
    host: "authkit\\.app",
    name: LABEL,
    source: "https://workos.com/docs/authkit",
  },
  {
    what: "organisation of Okta",
    host: "(?:okta|oktapreview|okta-emea|okta-gov)\\.com",
    name: LABEL,
    source: "https://developer.okta.com/docs/concepts/okta-organizations/",
  },
  {
    what: "account of OneLogin",
    host: "onelogin\\.com",
    name: LABEL,
    // The older address of all accounts.
    everybody: ["openid-connect.onelogin.com"],
    source: "https://developers.onelogin.com/openid-connect",
  },
  {
    what: "environment of PingOne",
    host: "auth\\.pingone\\.(?:com|ca|eu|asia|com\\.au|sg)",
    path: "",
    name: UUID,
    source: "https://apidocs.pingidentity.com/pingone/platform/v1/api/",
  },
  {
    what: "team of Cloudflare",
    host: "cloudflareaccess\\.com",
    name: LABEL,
    source:
      "https://developers.cloudflare.com/cloudflare-one/access-controls/applications/http-apps/authorization-cookie/validating-json/",
  },
  {
    what: SEMAPHORE_ORGANISATION,
    host: "semaphoreci\\.com",
    name: LABEL,
    source: SEMAPHORE_DOCS,
  },
  {
    what: SPACELIFT_ACCOUNT,
    host: "app\\.(?:[a-z]+\\.)?spacelift\\.io",
    name: LABEL,
    source: "https://docs.spacelift.io/integrations/cloud-providers/oidc",
  },
  {
    what: "enterprise of GitHub Actions",
    host: "token\\.actions\\.githubusercontent\\.com",
    path: "",
    name: "[A-Za-z0-9-]+",
    source: "https://docs.github.com/en/enterprise-cloud@latest/actions/reference/security/oidc",
  },
  {
    what: "enterprise of GitHub",
    host: "ghe\\.com",
    name: `token\\.actions\\.${LABEL}`,
    source: "https://docs.github.com/en/enterprise-cloud@latest/admin/data-residency",
  },
  {
    what: VERCEL_TEAM,
    host: "oidc\\.vercel\\.com",
    path: "",
    name: "[a-z0-9-]+",
    source: "https://vercel.com/docs/oidc/reference",
  },
  {
    what: FLY_ORGANISATION,
    host: "oidc\\.fly\\.io",
    path: "",
    name: "[a-z0-9-]+",
    // Each account has an organisation of that name.
    everybody: ["personal"],
    source: "https://fly.io/docs/security/openid-connect/",
  },
  {
    what: BITBUCKET_WORKSPACE,
    host: "api\\.bitbucket\\.org",
    path: "2\\.0/workspaces/",
    name: SEGMENT,
    source:
      "https://support.atlassian.com/bitbucket-cloud/docs/integrate-pipelines-with-resource-servers-using-oidc/",
  },
  {
    what: "account of Harness",
    host: "app\\.harness\\.io",
    path: "ng/api/oidc/account/",
    name: SEGMENT,
    source:
      "https://developer.harness.io/docs/platform/connectors/cloud-providers/ref-cloud-providers/aws-connector-settings-reference",
  },
];

const PROVIDER = "https://publicsuffix.org/list/";
/** A list of services whose customers share an issuer. */
const SHARED_ISSUERS =
  "https://docs.aws.amazon.com/IAM/latest/UserGuide/id_roles_providers_oidc_secure-by-default.html";

/**
 * Domains whose hosts, or their paths, serve many customers, beside those of the public suffix list, with the source of each. Only
 * the addresses of the table above pin one there. Names of buckets, machines and pages are in neither: whoever comes first has them.
 */
export const sharedDomains: Readonly<Record<string, string>> = {
  // The name of a deleted bucket is free for everybody: no address of one proves whose it is.
  "amazonaws.com": S3_DOCS,
  "amazonaws.com.cn": S3_DOCS,
  "api.aws": AWS_FEDERATION_DOCS,
  "googleapis.com": "https://cloud.google.com/apis/docs/overview",
  "google.com": "https://developers.google.com/identity/openid-connect/openid-connect",
  "microsoftonline.com": AZURE_DOCS,
  "microsoftonline.us":
    "https://learn.microsoft.com/en-us/entra/identity-platform/authentication-national-cloud",
  "windows.net": AZURE_DOCS,
  "azure.com": "https://learn.microsoft.com/en-us/azure/aks/use-oidc-issuer",
  "b2clogin.com": "https://learn.microsoft.com/en-us/azure/active-directory-b2c/b2clogin",
  "ciamlogin.com": "https://learn.microsoft.com/en-us/entra/external-id/customers/concept-custom-url-domain",
  "auth0.com": "https://auth0.com/docs/get-started/tenant-settings",
  "okta.com": "https://developer.okta.com/docs/concepts/okta-organizations/",
  "oktapreview.com": "https://developer.okta.com/docs/concepts/okta-organizations/",
  "okta-emea.com": "https://developer.okta.com/docs/concepts/okta-organizations/",
  "okta-gov.com": "https://developer.okta.com/docs/concepts/okta-organizations/",
  "onelogin.com": "https://developers.onelogin.com/openid-connect",
  "cloudflareaccess.com": "https://developers.cloudflare.com/cloudflare-one/",
  "pingone.com": "https://apidocs.pingidentity.com/pingone/platform/v1/api/",
  "pingone.ca": "https://apidocs.pingidentity.com/pingone/platform/v1/api/",
  "pingone.eu": "https://apidocs.pingidentity.com/pingone/platform/v1/api/",
  "pingone.asia": "https://apidocs.pingidentity.com/pingone/platform/v1/api/",
  "pingone.com.au": "https://apidocs.pingidentity.com/pingone/platform/v1/api/",
  "pingone.sg": "https://apidocs.pingidentity.com/pingone/platform/v1/api/",
  "jumpcloud.com": "https://jumpcloud.com/support/sso-with-oidc",
  "duosecurity.com": "https://duo.com/docs/sso-oidc-generic",
  "frontegg.com": "https://developers.frontegg.com/",
  "kinde.com": "https://docs.kinde.com/",
  "workos.com": "https://workos.com/docs",
  "stytch.com": "https://stytch.com/docs",
  "descope.com": "https://docs.descope.com/",
  "propelauthtest.com": "https://docs.propelauth.com/",
  "oraclecloud.com": "https://docs.oracle.com/en-us/iaas/Content/Identity/home.htm",
  "cloud.ibm.com": "https://cloud.ibm.com/apidocs/iam-identity-token-api",
  "appdomain.cloud": "https://cloud.ibm.com/docs/appid",
  "linkedin.com":
    "https://learn.microsoft.com/en-us/linkedin/consumer/integrations/self-serve/sign-in-with-linkedin-v2",
  "apple.com": "https://developer.apple.com/documentation/signinwithapple",
  "facebook.com": "https://developers.facebook.com/docs/facebook-login/limited-login/token/",
  "discord.com": "https://discord.com/.well-known/openid-configuration",
  "twitch.tv": "https://dev.twitch.tv/docs/authentication/getting-tokens-oidc/",
  "slack.com": "https://api.slack.com/authentication/sign-in-with-slack",
  "huggingface.co": "https://huggingface.co/.well-known/openid-configuration",
  "gitea.com": "https://docs.gitea.com/development/oauth2-provider",
  "codeberg.org": "https://codeberg.org/.well-known/openid-configuration",
  "docker.com": "https://docs.docker.com/accounts/create-account/",
  "line.me": "https://access.line.me/.well-known/openid-configuration",
  "paypal.com": "https://www.paypal.com/.well-known/openid-configuration",
  "yandex.cloud": "https://auth.yandex.cloud/.well-known/openid-configuration",
  "microsoftonline.cn":
    "https://learn.microsoft.com/en-us/entra/identity-platform/authentication-national-cloud",
  "chinacloudapi.cn":
    "https://learn.microsoft.com/en-us/entra/identity-platform/authentication-national-cloud",
  "okta.mil": "https://developer.okta.com/docs/concepts/okta-organizations/",
  "snowflakecomputing.com": "https://docs.snowflake.com/en/user-guide/admin-account-identifier",
  "databricks.com": "https://docs.databricks.com/aws/en/workspace/workspace-details",
  "azuredatabricks.net": "https://learn.microsoft.com/en-us/azure/databricks/workspace/workspace-details",
  "auth0app.com": "https://auth0.com/docs/deploy-monitor/deploy-private-cloud",
  "accounts.dev": "https://clerk.com/docs/deployments/environments",
  "datachain.ai": SHARED_ISSUERS,
  "openshiftapps.com":
    "https://github.com/aws-samples/resource-control-policy-examples/tree/main/Limit-access-to-trusted-OIDC-identity-providers",
  "sandboxes.cloud": SHARED_ISSUERS,
  "shisho.dev": SHARED_ISSUERS,
  "upbound.io": SHARED_ISSUERS,
  "salesforce.com": "https://help.salesforce.com/s/articleView?id=sf.remoteaccess_using_openid.htm",
  "atlassian.com": "https://developer.atlassian.com/cloud/",
  "github.com": "https://docs.github.com/en/actions/reference/security/oidc",
  "githubusercontent.com": "https://docs.github.com/en/actions/reference/security/oidc",
  "ghe.com": "https://docs.github.com/en/enterprise-cloud@latest/admin/data-residency",
  "gitlab.com": "https://docs.gitlab.com/ci/secrets/id_token_authentication/",
  "bitbucket.org":
    "https://support.atlassian.com/bitbucket-cloud/docs/integrate-pipelines-with-resource-servers-using-oidc/",
  "buildkite.com": "https://buildkite.com/docs/pipelines/security/oidc",
  "circleci.com": "https://circleci.com/docs/openid-connect-tokens/",
  "codefresh.io": "https://codefresh.io/docs/docs/integrations/oidc-pipelines/",
  "cirrus-ci.com": "https://cirrus-ci.org/guide/writing-tasks/",
  "depot.dev": "https://depot.dev/docs",
  "doppler.com": "https://docs.doppler.com/docs/service-account-identities",
  "netlify.com": "https://docs.netlify.com/functions/functions-and-identity/",
  "render.com": "https://render.com/docs",
  "railway.com": "https://docs.railway.com/",
  "modal.com": "https://modal.com/docs/guide/oidc-integration",
  "infisical.com": "https://infisical.com/docs/documentation/platform/identities/oidc-auth/general",
  "hashicorp.cloud": "https://developer.hashicorp.com/hcp/docs",
  "travis-ci.com": "https://docs.travis-ci.com/",
  "bitrise.io": "https://docs.bitrise.io/",
  "digitalocean.com": "https://docs.digitalocean.com/",
  "zitadel.cloud": "https://zitadel.com/docs",
  "oryapis.com": "https://www.ory.com/docs",
  "env0.com": "https://docs.envzero.com/",
  "fly.io": "https://fly.io/docs/security/openid-connect/",
  "gitpod.io": "https://www.gitpod.io/docs/configure/workspaces/oidc",
  "harness.io": "https://developer.harness.io/",
  "namespace.so": "https://namespace.so/docs",
  "namespaceapis.com": "https://namespace.so/docs",
  "pulumi.com": "https://www.pulumi.com/docs/administration/access-identity/oidc-provider/",
  "scalr.io": "https://docs.scalr.io/",
  "semaphoreci.com": SEMAPHORE_DOCS,
  "sigstore.dev": "https://docs.sigstore.dev/",
  "spacelift.io": "https://docs.spacelift.io/integrations/cloud-providers/oidc",
  "terraform.io":
    "https://developer.hashicorp.com/terraform/cloud-docs/workspaces/dynamic-provider-credentials/workload-identity-tokens",
  "vercel.com": "https://vercel.com/docs/oidc/reference",
  "heroku.com": "https://devcenter.heroku.com/",
  "jsdelivr.net": "https://www.jsdelivr.com/documentation",
  "unpkg.com": "https://unpkg.com/",
  "statically.io": "https://statically.io/",
  "dropboxusercontent.com": "https://help.dropbox.com/share",
  "googleusercontent.com": PROVIDER,
  "sharepoint.com": "https://learn.microsoft.com/en-us/sharepoint/",
  "pastebin.com": "https://pastebin.com/",
  "octopus.app": "https://octopus.com/docs/infrastructure/accounts/openid-connect",
  "authkit.app": "https://workos.com/docs/authkit",
  "enforce.dev": "https://edu.chainguard.dev/chainguard/administration/iam-organizations/",
  "attest.azure.net": "https://learn.microsoft.com/en-us/azure/attestation/overview",
  "backblazeb2.com": "https://www.backblaze.com/docs/cloud-storage-s3-compatible-api",
  "aliyuncs.com": "https://www.alibabacloud.com/help/en/oss/user-guide/regions-and-endpoints",
  "myqcloud.com": "https://www.tencentcloud.com/document/product/436/6224",
  "cloud.ovh.net": "https://help.ovhcloud.com/csm/en-public-cloud-storage-s3-location",
  "b-cdn.net": "https://docs.bunny.net/docs/cdn",
  "atlassian.net": "https://developer.atlassian.com/cloud/",
  "jfrog.io":
    "https://jfrog.com/help/r/jfrog-platform-administration-documentation/openid-connect-integration",
  "yahoo.com": "https://developer.yahoo.com/oauth2/guide/openid_connect/",
  "live.com": AZURE_DOCS,
  "login.gov": "https://developers.login.gov/oidc/getting-started/",
  "id.me": "https://developers.id.me/documentation/oidc",
  "orcid.org": "https://info.orcid.org/documentation/integration-guide/",
  // Servers of GitLab on which anybody may have an account.
  "gitlab.gnome.org": "https://gitlab.gnome.org/",
  "salsa.debian.org": "https://wiki.debian.org/Salsa",
  "framagit.org": "https://framagit.org/",
  "invent.kde.org": "https://invent.kde.org/",
};

/** Top-level domains below which nobody can register a name on the internet, and which the public suffix list lacks. */
export const reservedTopLevels: Readonly<Record<string, string>> = {
  example: "https://www.rfc-editor.org/rfc/rfc6761",
  test: "https://www.rfc-editor.org/rfc/rfc6761",
  invalid: "https://www.rfc-editor.org/rfc/rfc6761",
  internal:
    "https://www.icann.org/en/board-activities-and-meetings/materials/approved-resolutions-special-meeting-of-the-icann-board-29-07-2024-en",
};
