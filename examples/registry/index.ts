import { Group, Repo, RepoReadme, Tag } from "pulumi-platform";

const organisation = new Group("organisation", { name: "acme", description: "Acme's organisation" });
const payments = new Group("payments", { parentUid: organisation.id, name: "payments" });

// A repository of your own, with all that describes it.
const api = new Repo("api", {
  parentUid: payments.id,
  name: "api",
  description: "The payment service",
  catalogTier: "CATALOG_TIER_APPLICATION",
  bundles: ["application", "commercial"],
  aliases: ["payments/api:latest", "pay:latest"],
  activeTags: ["latest", "stable"],
});

// A tag points to an image by its digest. Another digest here moves the tag: it keeps its uid.
const release = "sha256:6b3f9d1c2e4a58770f1e2d3c4b5a69788796a5b4c3d2e1f00f1e2d3c4b5a6978";
const previous = "sha256:0a1b2c3d4e5f60718293a4b5c6d7e8f90a1b2c3d4e5f60718293a4b5c6d7e8f9";
new Tag("api-latest", { parentUid: api.id, name: "latest", digest: release, bundles: ["application"] });
new Tag("api-2.0.0", { parentUid: api.id, name: "2.0.0", digest: release });
// Users of this one get a warning that it is deprecated.
new Tag("api-1.9.4", { parentUid: api.id, name: "1.9.4", digest: previous, deprecated: true });

// What people read on the page of the repository. Plain Markdown.
new RepoReadme("api-readme", {
  parentUid: api.id,
  content: [
    "# api",
    "",
    "The payment service. `latest` follows the newest release; `1.9.4` ends with this quarter.",
    "",
    "See [how to move to 2.0](https://docs.acme.example.com/payments/2.0).",
    "",
  ].join("\n"),
});

// Kept in step with a repository of the catalogue, and copied to the team's registry at Google.
// Tier, bundles, aliases, active tags and readme come from there: setting them here is refused.
new Repo("nginx", {
  parentUid: organisation.id,
  name: "nginx",
  syncConfig: { source: "nginx", google: "europe-docker.pkg.dev/acme-prod/images" },
});

// An image built from a base of the catalogue plus what this team needs.
const signingKey = `-----BEGIN PUBLIC KEY-----
MIIBIjANBgkqhkiG9w0BAQEFAAOCAQ8AMIIBCgKCAQEAyi8SWQaCQhTUVa13D9lr
vY8K5d0kgfkqRd5PFr38I+F1xE7ixvBu3ls6Jc4k+W48BrwYDg/TkDhntWUZ8QoC
IB4Z3rWnOLBi3evu1jB2lEmYEmQ4PzaeUEoMg1DBKgPesavv3PdHJzZD3av4tLlo
HnQ3fkZsq/wGTMCrAdW63GAVIhLa01GdOAJl2AiJTAM0mF+IEC5liM1FiS7ctgaY
G3fnaWTrGeDvpWOTEIrbASDbcZgvCZh1efwJ3f0+EKIHzlJIe1GW2Id2qAg8ZwoC
VlUtBYjMHxkxLKrvhEOOwTykGHvGlFYOm0IIMF7CDmiss+1DtcrWse/uv6Qcfu15
FwIDAQAB
-----END PUBLIC KEY-----
`;
const authority = `-----BEGIN CERTIFICATE-----
MIIBiDCCAS2gAwIBAgIUOPZA9AJIcl0DxOW/O/FyiYcI4KswCgYIKoZIzj0EAwIw
GTEXMBUGA1UEAwwOQWNtZSBBdXRob3JpdHkwHhcNMjYxMTIxMDYwMDQ1WhcNMzYx
MTE4MDYwMDQ1WjAZMRcwFQYDVQQDDA5BY21lIEF1dGhvcml0eTBZMBMGByqGSM49
AgEGCCqGSM49AwEHA0IABDYaAXfuIqjVQB1OwFzd7MIslQMouDYyqMnpb0viE070
pOG8FNJ86UvwYQe0iPV1HsrOwUIS80cU1YOcF5cgwAqjUzBRMB0GA1UdDgQWBBRG
fFc3dbAZLS3lSJzqlyXeW7xl6TAfBgNVHSMEGDAWgBRGfFc3dbAZLS3lSJzqlyXe
W7xl6TAPBgNVHRMBAf8EBTADAQH/MAoGCCqGSM49BAMCA0kAMEYCIQCpGTGwA8jS
Zt9I0JeEbyNNJK0W42ISrJweyrK9xMWhowIhAKtZ35YN7jrpL/3B0sGB+x4WDDuG
Rmlx8adGpvjJZ67u
-----END CERTIFICATE-----
`;
new Repo("worker", {
  parentUid: payments.id,
  name: "worker",
  description: "Runs the nightly settlement",
  customOverlay: {
    contents: {
      packages: ["curl", "postgresql-17-client", "tzdata"],
      // The list replaces the default one, so the usual repository is named as well.
      runtimeRepositories: ["https://packages.example.com/default", "https://packages.acme.example.com/main"],
      runtimeKeyring: [{ name: "acme-2026.rsa.pub", content: signingKey }],
    },
    environment: { TZ: "Europe/Berlin", SETTLEMENT_MODE: "nightly" },
    annotations: { "com.example.acme.team": "payments" },
    accounts: {
      runAs: "65532",
      users: [
        {
          username: "settle",
          uid: 65532,
          gid: 65532,
          groupName: "settle",
          shell: "/bin/sh",
          homeDir: "/home/settle",
        },
      ],
      groups: [{ groupname: "settle", gid: 65532, members: ["settle"] }],
    },
    // The proxy of the data centre signs with its own authority.
    certificates: { additional: [{ name: "acme-authority", content: authority }], providers: ["mozilla"] },
  },
});

export const apiUid = api.id;
