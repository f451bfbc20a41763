import { unclear, whole, widened } from "./sample";
import type { Sample } from "./sample";
import { publicKey, KEY_B, certificate, PUBLIC_KEY, CERTIFICATE, digest, repository, named } from "./values";

export const registry: readonly Sample[] = [
  {
    label: "repo",
    kind: "Repo",
    args: {
      ...named,
      name: "repo",
      catalogTier: "CATALOG_TIER_BASE",
      bundles: ["base"],
      aliases: ["acme/repo:latest"],
      activeTags: ["latest"],
      customOverlay: {
        contents: {
          packages: ["curl"],
          runtimeRepositories: ["https://packages.example.com/one"],
          runtimeKeyring: [{ name: "one.rsa.pub", content: PUBLIC_KEY }],
        },
        environment: { A: "1" },
        annotations: { "com.example.a": "1" },
        accounts: {
          runAs: "65532",
          users: [
            { username: "app", uid: 65532, gid: 65532, groupName: "app", shell: "/bin/sh", homeDir: "/app" },
          ],
          groups: [{ groupname: "app", gid: 65532, members: ["app"] }],
        },
        certificates: {
          additional: [{ name: "one", content: CERTIFICATE }],
          providers: ["corporate"],
        },
      },
    },
    fields: [
      unclear("name", "repo two"),
      { path: "description", to: "after", empty: "" },
      { path: "catalogTier", to: "CATALOG_TIER_AI", empty: "CATALOG_TIER_UNSPECIFIED" },
      { path: "bundles", to: ["base", "fips"], empty: [] },
      unclear("aliases", ["acme/repo:stable"], []),
      unclear("activeTags", ["latest", "stable"], []),
      unclear("customOverlay.contents.packages", ["curl", "jq"], []),
      widened("customOverlay.contents.runtimeRepositories", ["https://packages.example.com/two"], []),
      widened(
        "customOverlay.contents.runtimeKeyring",
        [{ name: "two.rsa.pub", content: publicKey(KEY_B) }],
        [],
      ),
      unclear("customOverlay.environment", { A: "1", B: "2" }, {}),
      { path: "customOverlay.annotations", to: { "com.example.a": "2" }, empty: {} },
      unclear("customOverlay.accounts.runAs", "0", ""),
      unclear("customOverlay.accounts.users", [{ username: "two", uid: 2 }], []),
      unclear("customOverlay.accounts.groups", [{ groupname: "two", gid: 2, members: ["app", "two"] }], []),
      widened("customOverlay.certificates.additional", [{ name: "two", content: certificate("QkJC") }], []),
      widened("customOverlay.certificates.providers", ["corporate", "partner"], []),
      // A whole object goes as one path.
      whole("customOverlay.accounts", { runAs: "7" }, "unknown"),
      whole("customOverlay.contents", { packages: ["jq"] }, "unknown"),
      whole("customOverlay.certificates", { providers: ["partner"] }),
      whole("customOverlay", { environment: { ONLY: "1" } }, "unknown"),
    ],
  },
  {
    label: "synced",
    kind: "Repo",
    args: {
      parentUid: "${org}",
      name: "synced",
      syncConfig: { source: "nginx", google: "g", amazon: "a", azure: "z" },
    },
    fields: [
      { path: "sync_config.source", direction: "widened", property: "syncConfig.source", to: "redis" },
      {
        path: "sync_config.google",
        direction: "widened",
        property: "syncConfig.google",
        to: "g2",
        empty: "",
      },
      {
        path: "sync_config.amazon",
        direction: "widened",
        property: "syncConfig.amazon",
        to: "a2",
        empty: "",
      },
      { path: "sync_config.azure", direction: "widened", property: "syncConfig.azure", to: "z2", empty: "" },
      {
        path: "sync_config",
        direction: "widened",
        property: "syncConfig",
        to: { source: "redis" },
        empty: null,
        whole: true,
      },
    ],
  },
  {
    label: "tag",
    kind: "Tag",
    own: repository,
    args: {
      parentUid: "${own}",
      name: "1.27",
      digest: digest("6b3f"),
      bundles: ["base", "fips"],
    },
    writing: {
      update: {
        method: "POST",
        address: "/registry/v2/tags/${own}",
        body: { name: "1.27", digest: digest("6b3f"), deprecated: false, bundles: ["base", "fips"] },
      },
    },
    fields: [
      unclear("digest", digest("0a1b")),
      { path: "deprecated", to: true, empty: false },
      { path: "bundles", to: ["ai"], empty: [] },
    ],
    replacements: [{ property: "name", to: "1.28" }],
  },
  {
    label: "readme",
    kind: "RepoReadme",
    own: repository,
    args: { parentUid: "${own}", content: "# One\n\n- [x] <b>done</b>\n" },
    writing: {
      create: "PATCH",
      update: { method: "PATCH", address: "/registry/v2/repos/${own}/readme" },
      delete: { method: "PATCH", address: "/registry/v2/repos/${own}/readme", body: { content: "" } },
    },
    fields: [{ path: "content", to: "# Two\n" }],
  },
  {
    label: "subscription",
    kind: "Subscription",
    args: { parentUid: "${org}", sink: "https://sink.example.com/one" },
    fields: [],
    replacements: [{ property: "sink", to: "https://sink.example.com/two" }],
  },
];
