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

/**
 * A domain whose hosts, or their paths, serve many customers. Only the addresses of the other table pin one there. Names of
 * buckets, machines and pages are in neither: whoever comes first has them.
 */
interface SharedDomain {
  readonly domain: string;
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

/** Domains that many customers share, beside those of the public suffix list. */
export const sharedDomains: readonly SharedDomain[] = [
  // The name of a deleted bucket is free for everybody: no address of one proves whose it is.
  { domain: "amazonaws.com", source: S3_DOCS },
  { domain: "amazonaws.com.cn", source: S3_DOCS },
  { domain: "api.aws", source: AWS_FEDERATION_DOCS },
  { domain: "googleapis.com", source: "https://cloud.google.com/apis/docs/overview" },
  { domain: "google.com", source: "https://developers.google.com/identity/openid-connect/openid-connect" },
  { domain: "microsoftonline.com", source: AZURE_DOCS },
  {
    domain: "microsoftonline.us",
    source: "https://learn.microsoft.com/en-us/entra/identity-platform/authentication-national-cloud",
  },
  { domain: "windows.net", source: AZURE_DOCS },
  { domain: "azure.com", source: "https://learn.microsoft.com/en-us/azure/aks/use-oidc-issuer" },
  { domain: "b2clogin.com", source: "https://learn.microsoft.com/en-us/azure/active-directory-b2c/b2clogin" },
  {
    domain: "ciamlogin.com",
    source: "https://learn.microsoft.com/en-us/entra/external-id/customers/concept-custom-url-domain",
  },
  { domain: "auth0.com", source: "https://auth0.com/docs/get-started/tenant-settings" },
  { domain: "okta.com", source: "https://developer.okta.com/docs/concepts/okta-organizations/" },
  { domain: "oktapreview.com", source: "https://developer.okta.com/docs/concepts/okta-organizations/" },
  { domain: "okta-emea.com", source: "https://developer.okta.com/docs/concepts/okta-organizations/" },
  { domain: "okta-gov.com", source: "https://developer.okta.com/docs/concepts/okta-organizations/" },
  { domain: "onelogin.com", source: "https://developers.onelogin.com/openid-connect" },
  { domain: "cloudflareaccess.com", source: "https://developers.cloudflare.com/cloudflare-one/" },
  { domain: "pingone.com", source: "https://apidocs.pingidentity.com/pingone/platform/v1/api/" },
  { domain: "pingone.ca", source: "https://apidocs.pingidentity.com/pingone/platform/v1/api/" },
  { domain: "pingone.eu", source: "https://apidocs.pingidentity.com/pingone/platform/v1/api/" },
  { domain: "pingone.asia", source: "https://apidocs.pingidentity.com/pingone/platform/v1/api/" },
  { domain: "pingone.com.au", source: "https://apidocs.pingidentity.com/pingone/platform/v1/api/" },
  { domain: "pingone.sg", source: "https://apidocs.pingidentity.com/pingone/platform/v1/api/" },
  { domain: "jumpcloud.com", source: "https://jumpcloud.com/support/sso-with-oidc" },
  { domain: "duosecurity.com", source: "https://duo.com/docs/sso-oidc-generic" },
  { domain: "frontegg.com", source: "https://developers.frontegg.com/" },
  { domain: "kinde.com", source: "https://docs.kinde.com/" },
  { domain: "workos.com", source: "https://workos.com/docs" },
  { domain: "stytch.com", source: "https://stytch.com/docs" },
  { domain: "descope.com", source: "https://docs.descope.com/" },
  { domain: "propelauthtest.com", source: "https://docs.propelauth.com/" },
  { domain: "oraclecloud.com", source: "https://docs.oracle.com/en-us/iaas/Content/Identity/home.htm" },
  { domain: "cloud.ibm.com", source: "https://cloud.ibm.com/apidocs/iam-identity-token-api" },
  { domain: "appdomain.cloud", source: "https://cloud.ibm.com/docs/appid" },
  {
    domain: "linkedin.com",
    source:
      "https://learn.microsoft.com/en-us/linkedin/consumer/integrations/self-serve/sign-in-with-linkedin-v2",
  },
  { domain: "apple.com", source: "https://developer.apple.com/documentation/signinwithapple" },
  {
    domain: "facebook.com",
    source: "https://developers.facebook.com/docs/facebook-login/limited-login/token/",
  },
  { domain: "discord.com", source: "https://discord.com/.well-known/openid-configuration" },
  { domain: "twitch.tv", source: "https://dev.twitch.tv/docs/authentication/getting-tokens-oidc/" },
  { domain: "slack.com", source: "https://api.slack.com/authentication/sign-in-with-slack" },
  { domain: "huggingface.co", source: "https://huggingface.co/.well-known/openid-configuration" },
  { domain: "gitea.com", source: "https://docs.gitea.com/development/oauth2-provider" },
  { domain: "codeberg.org", source: "https://codeberg.org/.well-known/openid-configuration" },
  { domain: "docker.com", source: "https://docs.docker.com/accounts/create-account/" },
  { domain: "line.me", source: "https://access.line.me/.well-known/openid-configuration" },
  { domain: "paypal.com", source: "https://www.paypal.com/.well-known/openid-configuration" },
  { domain: "yandex.cloud", source: "https://auth.yandex.cloud/.well-known/openid-configuration" },
  {
    domain: "microsoftonline.cn",
    source: "https://learn.microsoft.com/en-us/entra/identity-platform/authentication-national-cloud",
  },
  {
    domain: "chinacloudapi.cn",
    source: "https://learn.microsoft.com/en-us/entra/identity-platform/authentication-national-cloud",
  },
  { domain: "okta.mil", source: "https://developer.okta.com/docs/concepts/okta-organizations/" },
  {
    domain: "snowflakecomputing.com",
    source: "https://docs.snowflake.com/en/user-guide/admin-account-identifier",
  },
  { domain: "databricks.com", source: "https://docs.databricks.com/aws/en/workspace/workspace-details" },
  {
    domain: "azuredatabricks.net",
    source: "https://learn.microsoft.com/en-us/azure/databricks/workspace/workspace-details",
  },
  { domain: "auth0app.com", source: "https://auth0.com/docs/deploy-monitor/deploy-private-cloud" },
  { domain: "accounts.dev", source: "https://clerk.com/docs/deployments/environments" },
  { domain: "datachain.ai", source: SHARED_ISSUERS },
  {
    domain: "openshiftapps.com",
    source:
      "https://github.com/aws-samples/resource-control-policy-examples/tree/main/Limit-access-to-trusted-OIDC-identity-providers",
  },
  { domain: "sandboxes.cloud", source: SHARED_ISSUERS },
  { domain: "shisho.dev", source: SHARED_ISSUERS },
  { domain: "upbound.io", source: SHARED_ISSUERS },
  {
    domain: "salesforce.com",
    source: "https://help.salesforce.com/s/articleView?id=sf.remoteaccess_using_openid.htm",
  },
  { domain: "atlassian.com", source: "https://developer.atlassian.com/cloud/" },
  { domain: "github.com", source: "https://docs.github.com/en/actions/reference/security/oidc" },
  { domain: "githubusercontent.com", source: "https://docs.github.com/en/actions/reference/security/oidc" },
  { domain: "ghe.com", source: "https://docs.github.com/en/enterprise-cloud@latest/admin/data-residency" },
  { domain: "gitlab.com", source: "https://docs.gitlab.com/ci/secrets/id_token_authentication/" },
  {
    domain: "bitbucket.org",
    source:
      "https://support.atlassian.com/bitbucket-cloud/docs/integrate-pipelines-with-resource-servers-using-oidc/",
  },
  { domain: "buildkite.com", source: "https://buildkite.com/docs/pipelines/security/oidc" },
  { domain: "circleci.com", source: "https://circleci.com/docs/openid-connect-tokens/" },
  { domain: "codefresh.io", source: "https://codefresh.io/docs/docs/integrations/oidc-pipelines/" },
  { domain: "cirrus-ci.com", source: "https://cirrus-ci.org/guide/writing-tasks/" },
  { domain: "depot.dev", source: "https://depot.dev/docs" },
  { domain: "doppler.com", source: "https://docs.doppler.com/docs/service-account-identities" },
  { domain: "netlify.com", source: "https://docs.netlify.com/functions/functions-and-identity/" },
  { domain: "render.com", source: "https://render.com/docs" },
  { domain: "railway.com", source: "https://docs.railway.com/" },
  { domain: "modal.com", source: "https://modal.com/docs/guide/oidc-integration" },
  {
    domain: "infisical.com",
    source: "https://infisical.com/docs/documentation/platform/identities/oidc-auth/general",
  },
  { domain: "hashicorp.cloud", source: "https://developer.hashicorp.com/hcp/docs" },
  { domain: "travis-ci.com", source: "https://docs.travis-ci.com/" },
  { domain: "bitrise.io", source: "https://docs.bitrise.io/" },
  { domain: "digitalocean.com", source: "https://docs.digitalocean.com/" },
  { domain: "zitadel.cloud", source: "https://zitadel.com/docs" },
  { domain: "oryapis.com", source: "https://www.ory.com/docs" },
  { domain: "env0.com", source: "https://docs.envzero.com/" },
  { domain: "fly.io", source: "https://fly.io/docs/security/openid-connect/" },
  { domain: "gitpod.io", source: "https://www.gitpod.io/docs/configure/workspaces/oidc" },
  { domain: "harness.io", source: "https://developer.harness.io/" },
  { domain: "namespace.so", source: "https://namespace.so/docs" },
  { domain: "namespaceapis.com", source: "https://namespace.so/docs" },
  {
    domain: "pulumi.com",
    source: "https://www.pulumi.com/docs/administration/access-identity/oidc-provider/",
  },
  { domain: "scalr.io", source: "https://docs.scalr.io/" },
  { domain: "semaphoreci.com", source: SEMAPHORE_DOCS },
  { domain: "sigstore.dev", source: "https://docs.sigstore.dev/" },
  { domain: "spacelift.io", source: "https://docs.spacelift.io/integrations/cloud-providers/oidc" },
  {
    domain: "terraform.io",
    source:
      "https://developer.hashicorp.com/terraform/cloud-docs/workspaces/dynamic-provider-credentials/workload-identity-tokens",
  },
  { domain: "vercel.com", source: "https://vercel.com/docs/oidc/reference" },
  { domain: "heroku.com", source: "https://devcenter.heroku.com/" },
  { domain: "jsdelivr.net", source: "https://www.jsdelivr.com/documentation" },
  { domain: "unpkg.com", source: "https://unpkg.com/" },
  { domain: "statically.io", source: "https://statically.io/" },
  { domain: "dropboxusercontent.com", source: "https://help.dropbox.com/share" },
  { domain: "googleusercontent.com", source: PROVIDER },
  { domain: "sharepoint.com", source: "https://learn.microsoft.com/en-us/sharepoint/" },
  { domain: "pastebin.com", source: "https://pastebin.com/" },
  { domain: "octopus.app", source: "https://octopus.com/docs/infrastructure/accounts/openid-connect" },
  { domain: "authkit.app", source: "https://workos.com/docs/authkit" },
  {
    domain: "enforce.dev",
    source: "https://edu.chainguard.dev/chainguard/administration/iam-organizations/",
  },
  { domain: "attest.azure.net", source: "https://learn.microsoft.com/en-us/azure/attestation/overview" },
  { domain: "backblazeb2.com", source: "https://www.backblaze.com/docs/cloud-storage-s3-compatible-api" },
  {
    domain: "aliyuncs.com",
    source: "https://www.alibabacloud.com/help/en/oss/user-guide/regions-and-endpoints",
  },
  { domain: "myqcloud.com", source: "https://www.tencentcloud.com/document/product/436/6224" },
  { domain: "cloud.ovh.net", source: "https://help.ovhcloud.com/csm/en-public-cloud-storage-s3-location" },
  { domain: "b-cdn.net", source: "https://docs.bunny.net/docs/cdn" },
  { domain: "atlassian.net", source: "https://developer.atlassian.com/cloud/" },
  {
    domain: "jfrog.io",
    source: "https://jfrog.com/help/r/jfrog-platform-administration-documentation/openid-connect-integration",
  },
  { domain: "yahoo.com", source: "https://developer.yahoo.com/oauth2/guide/openid_connect/" },
  { domain: "live.com", source: AZURE_DOCS },
  { domain: "login.gov", source: "https://developers.login.gov/oidc/getting-started/" },
  { domain: "id.me", source: "https://developers.id.me/documentation/oidc" },
  { domain: "orcid.org", source: "https://info.orcid.org/documentation/integration-guide/" },
  // Servers of GitLab on which anybody may have an account.
  { domain: "gitlab.gnome.org", source: "https://gitlab.gnome.org/" },
  { domain: "salsa.debian.org", source: "https://wiki.debian.org/Salsa" },
  { domain: "framagit.org", source: "https://framagit.org/" },
  { domain: "invent.kde.org", source: "https://invent.kde.org/" },
];

/** Top-level domains below which nobody can register a name on the internet, and which the public suffix list lacks. */
export const reservedTopLevels: Readonly<Record<string, string>> = {
  example: "https://www.rfc-editor.org/rfc/rfc6761",
  test: "https://www.rfc-editor.org/rfc/rfc6761",
  invalid: "https://www.rfc-editor.org/rfc/rfc6761",
  internal:
    "https://www.icann.org/en/board-activities-and-meetings/materials/approved-resolutions-special-meeting-of-the-icann-board-29-07-2024-en",
};
