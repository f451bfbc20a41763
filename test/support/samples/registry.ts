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
      { path: "name", direction: "unknown", to: "repo two" },
      { path: "description", to: "after", empty: "" },
      { path: "catalogTier", to: "CATALOG_TIER_AI", empty: "CATALOG_TIER_UNSPECIFIED" },
      { path: "bundles", to: ["base", "fips"], empty: [] },
      { path: "aliases", direction: "unknown", to: ["acme/repo:stable"], empty: [] },
      { path: "activeTags", direction: "unknown", to: ["latest", "stable"], empty: [] },
      { path: "customOverlay.contents.packages", direction: "unknown", to: ["curl", "jq"], empty: [] },
      {
        path: "customOverlay.contents.runtimeRepositories",
        direction: "widened",
        to: ["https://packages.example.com/two"],
        empty: [],
      },
      {
        path: "customOverlay.contents.runtimeKeyring",
        direction: "widened",
        to: [{ name: "two.rsa.pub", content: publicKey(KEY_B) }],
        empty: [],
      },
      { path: "customOverlay.environment", direction: "unknown", to: { A: "1", B: "2" }, empty: {} },
      { path: "customOverlay.annotations", to: { "com.example.a": "2" }, empty: {} },
      { path: "customOverlay.accounts.runAs", direction: "unknown", to: "0", empty: "" },
      {
        path: "customOverlay.accounts.users",
        direction: "unknown",
        to: [{ username: "two", uid: 2 }],
        empty: [],
      },
      {
        path: "customOverlay.accounts.groups",
        direction: "unknown",
        to: [{ groupname: "two", gid: 2, members: ["app", "two"] }],
        empty: [],
      },
      {
        path: "customOverlay.certificates.additional",
        direction: "widened",
        to: [{ name: "two", content: certificate("QkJC") }],
        empty: [],
      },
      {
        path: "customOverlay.certificates.providers",
        direction: "widened",
        to: ["corporate", "partner"],
        empty: [],
      },
      // A whole object goes as one path.
      { path: "customOverlay.accounts", direction: "unknown", to: { runAs: "7" }, empty: null, whole: true },
      {
        path: "customOverlay.contents",
        direction: "unknown",
        to: { packages: ["jq"] },
        empty: null,
        whole: true,
      },
      {
        path: "customOverlay.certificates",
        direction: "widened",
        to: { providers: ["partner"] },
        empty: null,
        whole: true,
      },
      {
        path: "customOverlay",
        direction: "unknown",
        to: { environment: { ONLY: "1" } },
        empty: null,
        whole: true,
      },
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
      { path: "digest", direction: "unknown", to: digest("0a1b") },
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
