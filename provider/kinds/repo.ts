import { resource } from "../program/resource";
import type { Failure } from "../fields/resourceSpec";
import type { Props } from "../fields/values";
import {
  boolean,
  enumOf,
  integer,
  kind,
  list,
  map,
  object,
  shape,
  string,
  time,
  times,
} from "../fields/builders";
import type { ArgsOf, OfKind, Resolved, ResultOf } from "../fields/builders";
import { adviseOnName, bundle, forPeople, oneLine, parentGroup, tagName } from "./common";

/** What is put into an image: others pull and run it. */
const content = { access: "images.contents" } as const;
/** Where the catalogue shows it. */
const catalogue = { harmless: "where the catalogue lists it" } as const;
/** Where images are copied to. */
const registry = string({ access: "permission" });

const pem = {
  regex: /^\s*-----BEGIN CERTIFICATE-----[\s\S]+-----END CERTIFICATE-----\s*$/,
  must: 'a certificate in PEM, beginning "-----BEGIN CERTIFICATE-----"',
};

const syncConfig = shape({
  fields: {
    /** The source: a repository's uid, a catalogue name, or an image reference. */
    source: string({ required: true, normalized: true, access: "images.source" }),
    /** The Google registry to copy to. */
    google: registry,
    /** The Amazon registry to copy to. */
    amazon: registry,
    /** The Azure registry to copy to. */
    azure: registry,
  },
  reads: {
    /** Whether only tags are copied that no later build moves. Decided by the service. */
    uniqueTags: boolean(),
    /** When copying ends: RFC 3339, as the API wrote it. Decided by the service. */
    expirationTime: time,
    /** What is put into the images on the way; empty where there is nothing. Decided by the service. */
    apkoOverlay: string(),
    /** Whether the time of grace after the end has begun. Decided by the service. */
    gracePeriod: boolean(),
  },
});

const key = shape({
  fields: {
    /** A plain file name, without a leading dot. */
    name: string({ required: true, format: "keyringFile" }),
    /** An RSA public key in PEM. */
    content: string({ required: true, format: "rsaPublicKey" }),
  },
});

const user = shape({
  fields: {
    /** The name of the user. */
    username: string({ required: true }),
    /** The numeric user id. */
    uid: integer(),
    /** The numeric id of the main group. */
    gid: integer(),
    /** The name of the main group. */
    groupName: string(),
    /** The path of the log-in shell. */
    shell: string(),
    /** The path of the home directory. */
    homeDir: string(),
  },
});

const userGroup = shape({
  fields: {
    /** The name of the group; one word on the wire too. */
    groupname: string({ required: true }),
    /** The numeric group id. */
    gid: integer(),
    /** The names of its users. */
    members: list(string(), { unordered: false }),
  },
});

const certificate = shape({
  fields: {
    /** What the certificate is called. */
    name: string({ required: true }),
    /** The certificate in PEM. */
    content: string({ required: true, pattern: pem }),
  },
});

/** Keeps a repository in step with one of the catalogue. */
export interface SyncConfigArgs extends ArgsOf<typeof syncConfig> {}
/** A key that signs packages. */
export interface OverlayKeyArgs extends ArgsOf<typeof key> {}
/** A user of an image. */
export interface OverlayUserArgs extends ArgsOf<typeof user> {}
/** A group of users of an image. */
export interface OverlayGroupArgs extends ArgsOf<typeof userGroup> {}
/** A certificate to trust. */
export interface OverlayCertificateArgs extends ArgsOf<typeof certificate> {}
/** What a repository is kept in step with: by `source` the uid of it, whatever the program called it. */
export interface RepoSyncConfig extends ResultOf<typeof syncConfig> {}
/** A key that signs packages. */
export interface RepoOverlayKey extends ResultOf<typeof key> {}
/** A user of an image. */
export interface RepoOverlayUser extends ResultOf<typeof user> {}
/** A group of users of an image. */
export interface RepoOverlayGroup extends ResultOf<typeof userGroup> {}
/** A certificate that is trusted. */
export interface RepoOverlayCertificate extends ResultOf<typeof certificate> {}

const contents = shape({
  fields: {
    /** Packages to add. Order means nothing. */
    packages: list(string(), { unordered: true, access: "images.packages" }),
    /** Package repositories; they replace the default ones. */
    runtimeRepositories: list(string(), {
      unordered: false,
      access: "images.packageRepositories",
      unsetMeans: "the default repositories count again",
    }),
    /** Keys that packages may be signed with. */
    runtimeKeyring: list(object<OverlayKeyArgs, RepoOverlayKey>(key), {
      unordered: false,
      access: "images.packageKeys",
      unsetMeans: "which keys count without them is not known",
    }),
  },
});

const accounts = shape({
  fields: {
    /** The user that the image runs as: a name or a number. */
    runAs: string({ access: "images.user" }),
    /** Users to add. */
    users: list(object<OverlayUserArgs, RepoOverlayUser>(user), { access: "images.users", unordered: false }),
    /** Groups to add. */
    groups: list(object<OverlayGroupArgs, RepoOverlayGroup>(userGroup), { ...content, unordered: false }),
  },
});

const certificates = shape({
  fields: {
    /** Certificates to trust besides the usual ones. */
    additional: list(object<OverlayCertificateArgs, RepoOverlayCertificate>(certificate), {
      unordered: false,
      access: "images.certificates",
    }),
    /** Names of providers whose certificates are trusted. */
    providers: list(string(), { unordered: false, access: "images.certificateProviders" }),
  },
});

/** What is put into an image. */
export interface OverlayContentsArgs extends ArgsOf<typeof contents> {}
/** The users and groups of an image. */
export interface OverlayAccountsArgs extends ArgsOf<typeof accounts> {}
/** The certificates that an image trusts. */
export interface OverlayCertificatesArgs extends ArgsOf<typeof certificates> {}
/** What is put into an image. */
export interface RepoOverlayContents extends ResultOf<typeof contents> {}
/** The users and groups of an image. */
export interface RepoOverlayAccounts extends ResultOf<typeof accounts> {}
/** The certificates that an image trusts. */
export interface RepoOverlayCertificates extends ResultOf<typeof certificates> {}

const customOverlay = shape({
  fields: {
    /** What is put into the image. */
    contents: object<OverlayContentsArgs, RepoOverlayContents>(contents, { security: true }),
    /** Environment variables; not `CHAINGUARD_…`. */
    environment: map(string(), {
      access: "images.variables",
      reservedKeys: {
        regex: /^CHAINGUARD_/,
        must: "is reserved: keys that begin with CHAINGUARD_ are refused",
      },
    }),
    /** Annotations; not `dev.chainguard.…`, not `org.opencontainers.…`. */
    annotations: map(string(), {
      security: true,
      ...forPeople,
      reservedKeys: {
        regex: /^(dev\.chainguard\.|org\.opencontainers\.)/,
        must: "is reserved: keys that begin with dev.chainguard. or org.opencontainers. are refused",
      },
    }),
    /** Users and groups of the image. */
    accounts: object<OverlayAccountsArgs, RepoOverlayAccounts>(accounts, { security: true }),
    /** Certificates that the image trusts. */
    certificates: object<OverlayCertificatesArgs, RepoOverlayCertificates>(certificates, { security: true }),
  },
});

/** How the images of a repository differ from their base. Needs custom assembly. */
export interface CustomOverlayArgs extends ArgsOf<typeof customOverlay> {}
/** How the images of a repository differ from their base. */
export interface RepoCustomOverlay extends ResultOf<typeof customOverlay> {}

const FROM_SOURCE = ["catalogTier", "bundles", "aliases", "activeTags"] as const;

/** The value of a field that comes from the source of a synced repository, unasked. */
const filledFromSource =
  (key: string) =>
  (siblings: Props): Props[string] =>
    siblings["syncConfig"] === undefined ? undefined : siblings[key];

function checkSynced(inputs: Props): Failure[] {
  if (inputs["syncConfig"] === undefined) return [];
  return FROM_SOURCE.filter((key) => {
    const value = inputs[key];
    return Array.isArray(value) ? value.length > 0 : value !== undefined && value !== "";
  }).map((key) => ({
    property: key,
    reason: "conflicts with syncConfig, whose source provides it: remove it",
    code: "PP1007",
  }));
}

const alias = string({
  pattern: {
    regex: /^[a-zA-Z0-9_.\-/]*[a-zA-Z0-9_.-]:[a-zA-Z0-9_.-]+$/,
    must: 'a name and a tag, as in "nginx:latest"',
  },
});

const repo = kind({
  kind: "Repo",
  noun: "repository",
  collection: "/registry/v2/repos",
  capabilities: "REPO",
  eventPrefix: "platform.registry.repo",
  listsByName: true,
  usedBy: "imageName",
  listing: { contents: "complete" },
  deletion: {
    dependents: [{ collection: "/registry/v2/tags", noun: "tags in it", parameter: "uidp.children_of" }],
  },
  fields: {
    /** The uid of the group that the repository belongs to. Changing it replaces the repository. */
    parentUid: parentGroup,
    /** The name: lower-case letters, digits, blank, dot, underscore, dash. */
    name: string({ required: true, security: false, access: "other" }),
    /** One line, at most 512 characters. With `syncConfig` it comes from the source if not given. */
    description: string({ ...oneLine, ...forPeople, serverFilled: filledFromSource("description") }),
    /** `CATALOG_TIER_…`. With `syncConfig` it comes from the source. */
    catalogTier: enumOf("CATALOG_TIER_", "APPLICATION BASE FIPS AI DEVTOOLS COMMERCIAL", {
      ...catalogue,
      serverFilled: filledFromSource("catalogTier"),
    }),
    /** Bundles that it belongs to, as in `base` or `fips`. Order means nothing. With `syncConfig` they come from the source. */
    bundles: list(bundle, {
      ...catalogue,
      unordered: true,
      serverFilled: filledFromSource("bundles"),
    }),
    /** Other names, as in `nginx:latest`. Order means nothing. With `syncConfig` they come from the source. */
    aliases: list(alias, {
      unordered: true,
      access: "images.contents",
      serverFilled: filledFromSource("aliases"),
    }),
    /** Tags that are kept up to date. Order means nothing. With `syncConfig` they come from the source. */
    activeTags: list(string({ pattern: tagName }), {
      unordered: true,
      access: "other",
      serverFilled: filledFromSource("activeTags"),
    }),
    /** Keeps it in step with a repository of the catalogue. */
    syncConfig: object<SyncConfigArgs, RepoSyncConfig>(syncConfig, { security: true, wire: "sync_config" }),
    /** How its images differ from their base. */
    customOverlay: object<CustomOverlayArgs, RepoCustomOverlay>(customOverlay, { security: true }),
  },
  reads: {
    ...times,
  },
  validate: checkSynced,
  inputWarnings: { name: adviseOnName },
});

/** The arguments of a Repo. */
export interface RepoArgs extends ArgsOf<typeof repo>, OfKind {}
/** A repository. Its readme is read by `getRepoReadme`. */
export interface GetRepoResult extends ResultOf<typeof repo> {}
/** A repository of container images. */
export class Repo extends resource<RepoArgs>(repo) {}
export interface Repo extends Resolved<RepoArgs> {}
