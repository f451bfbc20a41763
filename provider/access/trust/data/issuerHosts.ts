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

const AWS_FEDERATION_DOCS =
  "https://docs.aws.amazon.com/IAM/latest/UserGuide/id_roles_providers_outbound.html";
const SEMAPHORE_DOCS = "https://github.com/semaphoreio/semaphore/blob/main/docs/docs/reference/openid.md";

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
    host: "login\\.microsoftonline\\.(?:com|us)|sts\\.windows\\.net",
    path: "",
    name: UUID,
    // The tenant of all personal accounts.
    everybody: ["9188040d-6c67-4c5b-b112-36a304b66dad"],
    source: "https://learn.microsoft.com/en-us/entra/identity-platform/access-token-claims-reference",
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

/**
 * Domains whose hosts, or their paths, serve many customers, beside those of the public suffix list. Only the addresses of the table
 * above pin one there. Names of buckets, machines and pages are in neither: whoever comes first has them.
 */
export const sharedDomains: readonly string[] = [
  // Clouds. The name of a deleted bucket is free for everybody, so no address of one proves whose it is:
  // https://docs.aws.amazon.com/AmazonS3/latest/userguide/gpbucketnamespaces.html
  `
    amazonaws.com amazonaws.com.cn api.aws googleapis.com google.com googleusercontent.com
    microsoftonline.com microsoftonline.us microsoftonline.cn chinacloudapi.cn windows.net azure.com
    attest.azure.net oraclecloud.com cloud.ibm.com appdomain.cloud yandex.cloud snowflakecomputing.com
    databricks.com azuredatabricks.net openshiftapps.com digitalocean.com heroku.com backblazeb2.com
    aliyuncs.com myqcloud.com cloud.ovh.net k8s.ovh.net k8s.ondigitalocean.com linodelke.net vultr-k8s.com
    tencentcs.com myhuaweicloud.com
  `,
  // Services by which people sign in.
  `
    b2clogin.com ciamlogin.com live.com auth0.com auth0app.com okta.com oktapreview.com okta-emea.com
    okta-gov.com okta.mil onelogin.com cloudflareaccess.com pingone.com pingone.ca pingone.eu
    pingone.asia pingone.com.au pingone.sg jumpcloud.com duosecurity.com frontegg.com kinde.com
    workos.com authkit.app stytch.com descope.com propelauthtest.com accounts.dev zitadel.cloud
    oryapis.com salesforce.com linkedin.com apple.com facebook.com discord.com twitch.tv slack.com
    line.me paypal.com yahoo.com login.gov id.me orcid.org twitter.com battle.net riotgames.com patreon.com
    snapchat.com accounts.cloud.sap idp.hashicorp.com cyberark.cloud idaptive.app safenetid.com
    ice.ibmcloud.com vmwareidentity.com csp-vidm-prod.com trustedauth.com zslogin.net
  `,
  // Others where anybody can have an account. Each signs tokens for the accounts of all:
  // https://authjs.dev/reference/core/providers, https://www.zoho.com/accounts/protocol/oauth/sign-in-using-zoho.html
  `
    amazon.com openai.com zoho.com zoho.eu zoho.in zoho.jp zoho.com.au zoho.com.cn zohocloud.ca
    redhat.com fedoraproject.org ibm.com intuit.com xero.com dropbox.com adobe.com adobelogin.com
    autodesk.com nvidia.com huawei.com kakao.com naver.com yahoo.co.jp mail.ru vk.com yandex.ru
    yandex.com epicgames.com epicgames.dev roblox.com firefox.com wikimedia.org replit.com asana.com
    coinbase.com worldcoin.org docusign.com shopify.com globus.org cilogon.org account.gov.uk
    spotify.com telegram.org zoom.us webex.com eveonline.com wordpress.com ubuntu.com jetbrains.com egi.eu
    eduteams.org cern.ch notion.so figma.com anthropic.com mistral.ai x.com mastodon.social bsky.social
    stackexchange.com steamcommunity.com mercadolibre.com ssocircle.com surfconext.nl lifescience-ri.eu
    helmholtz.de rippling.com force.com service-now.com
  `,
  // Services that keep the users of many customers at paths or names of one domain, beside those above.
  `
    asgardeo.io logto.app fusionauth.io cloud-iam.com phasetwo.io loginradius.com gigya.com ondemand.com
    signicat.com criipto.id scalekit.com scalekit.cloud xecurify.com authing.cn aliyunidaas.com hanko.io
    passage.id corbado.io stytch.dev propelauth.com
  `,
  // Services that build, keep and run code. Less known ones are those of AWS's list of issuers that customers share:
  // https://docs.aws.amazon.com/IAM/latest/UserGuide/id_roles_providers_oidc_secure-by-default.html
  `
    github.com githubusercontent.com ghe.com gitlab.com bitbucket.org atlassian.com atlassian.net
    buildkite.com circleci.com codefresh.io cirrus-ci.com depot.dev doppler.com netlify.com render.com
    railway.com modal.com infisical.com hashicorp.cloud terraform.io travis-ci.com bitrise.io env0.com
    fly.io gitpod.io harness.io namespace.so namespaceapis.com pulumi.com scalr.io semaphoreci.com
    sigstore.dev spacelift.io vercel.com octopus.app enforce.dev jfrog.io docker.com huggingface.co
    gitea.com codeberg.org datachain.ai sandboxes.cloud shisho.dev upbound.io rwx.com cloudbees.io ona.com
    gitpod.cloud codemagic.io deno.com northflank.com scaleway.com tailscale.com mongodb.com snyk.io
    teamcity.com aembit.io
  `,
  // Servers of GitLab and others that keep code, on which anybody may have an account.
  `
    gitlab.gnome.org gitlab.freedesktop.org salsa.debian.org framagit.org invent.kde.org foss.heptapod.net
    jihulab.com gitlab.inria.fr gitlab.archlinux.org gitlab.eclipse.org gitlab.kitware.com
    git.drupalcode.org code.videolan.org gitlab.torproject.org 0xacab.org gitgud.io
    gitlab.alpinelinux.org sourceforge.net gitee.com notabug.org sr.ht pagure.io launchpad.net
  `,
  // Names that stand for an address of a machine.
  "sslip.io nip.io",
  // Sites that serve the files of everybody.
  `
    jsdelivr.net unpkg.com statically.io dropboxusercontent.com sharepoint.com pastebin.com b-cdn.net
    githack.com esm.sh skypack.dev archive.org ipfs.io arweave.net discordapp.com catbox.moe paste.rs
    rentry.co 0x0.st transfer.sh webhook.site beeceptor.com mockapi.io jsonbin.io loca.lt
  `,
].flatMap((names) => names.trim().split(/\s+/));

/** Top-level domains below which nobody can register a name on the internet, and which the public suffix list lacks. */
export const reservedTopLevels: Readonly<Record<string, string>> = {
  example: "https://www.rfc-editor.org/rfc/rfc6761",
  test: "https://www.rfc-editor.org/rfc/rfc6761",
  invalid: "https://www.rfc-editor.org/rfc/rfc6761",
  internal:
    "https://www.icann.org/en/board-activities-and-meetings/materials/approved-resolutions-special-meeting-of-the-icann-board-29-07-2024-en",
};
