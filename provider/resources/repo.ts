import type * as pulumi from "@pulumi/pulumi";
import { PlatformResource } from "../engine/resource";
import type { Resolved } from "../engine/resource";
import { defineFields, defineResource, description, parentGroup } from "../engine/spec";
import type { Failure, ListSpec, ObjectSpec, Props, StringSpec } from "../engine/spec";
import { bundles, tagName } from "./registry";

/** Keeps a repository in step with one of the catalogue. */
export interface SyncConfigArgs {
  /** The source: a repository's uid, a catalogue name, or an image reference. */
  source: pulumi.Input<string>;
  /** The Google registry to copy to. */
  google?: pulumi.Input<string>;
  /** The Amazon registry to copy to. */
  amazon?: pulumi.Input<string>;
  /** The Azure registry to copy to. */
  azure?: pulumi.Input<string>;
}

/** A key that signs packages. */
export interface OverlayKeyArgs {
  /** A plain file name, without a leading dot. */
  name: pulumi.Input<string>;
  /** An RSA public key in PEM. */
  content: pulumi.Input<string>;
}

/** What is put into an image. */
export interface OverlayContentsArgs {
  /** Packages to add. Order means nothing. */
  packages?: pulumi.Input<pulumi.Input<string>[]>;
  /** Package repositories; they replace the default ones. */
  runtimeRepositories?: pulumi.Input<pulumi.Input<string>[]>;
  /** Keys that packages may be signed with. */
  runtimeKeyring?: pulumi.Input<pulumi.Input<OverlayKeyArgs>[]>;
}

/** A user of an image. */
export interface OverlayUserArgs {
  /** The name of the user. */
  username: pulumi.Input<string>;
  /** The numeric user id. */
  uid?: pulumi.Input<number>;
  /** The numeric id of the main group. */
  gid?: pulumi.Input<number>;
  /** The name of the main group. */
  groupName?: pulumi.Input<string>;
  /** The path of the log-in shell. */
  shell?: pulumi.Input<string>;
  /** The path of the home directory. */
  homeDir?: pulumi.Input<string>;
}

/** A group of users of an image. */
export interface OverlayGroupArgs {
  /** The name of the group; one word on the wire too. */
  groupname: pulumi.Input<string>;
  /** The numeric group id. */
  gid?: pulumi.Input<number>;
  /** The names of its users. */
  members?: pulumi.Input<pulumi.Input<string>[]>;
}

/** The users and groups of an image. */
export interface OverlayAccountsArgs {
  /** The user that the image runs as: a name or a number. */
  runAs?: pulumi.Input<string>;
  /** Users to add. */
  users?: pulumi.Input<pulumi.Input<OverlayUserArgs>[]>;
  /** Groups to add. */
  groups?: pulumi.Input<pulumi.Input<OverlayGroupArgs>[]>;
}

/** A certificate to trust. */
export interface OverlayCertificateArgs {
  /** What the certificate is called. */
  name: pulumi.Input<string>;
  /** The certificate in PEM. */
  content: pulumi.Input<string>;
}

/** The certificates that an image trusts. */
export interface OverlayCertificatesArgs {
  /** Certificates to trust besides the usual ones. */
  additional?: pulumi.Input<pulumi.Input<OverlayCertificateArgs>[]>;
  /** Names of providers whose certificates are trusted. */
  providers?: pulumi.Input<pulumi.Input<string>[]>;
}

/** How the images of a repository differ from their base. Needs custom assembly. */
export interface CustomOverlayArgs {
  /** What is put into the image. */
  contents?: pulumi.Input<OverlayContentsArgs>;
  /** Environment variables; not `CHAINGUARD_…`. */
  environment?: pulumi.Input<Record<string, pulumi.Input<string>>>;
  /** Annotations; not `dev.chainguard.…`, not `org.opencontainers.…`. */
  annotations?: pulumi.Input<Record<string, pulumi.Input<string>>>;
  /** Users and groups of the image. */
  accounts?: pulumi.Input<OverlayAccountsArgs>;
  /** Certificates that the image trusts. */
  certificates?: pulumi.Input<OverlayCertificatesArgs>;
}

/** The arguments of a Repo. */
export interface RepoArgs {
  /** The uid of the group that the repository belongs to. Changing it replaces the repository. */
  parentUid: pulumi.Input<string>;
  /** The name: lower-case letters, digits, blank, dot, underscore, dash. */
  name: pulumi.Input<string>;
  /** One line, at most 512 characters. With `syncConfig` it comes from the source if not given. */
  description?: pulumi.Input<string>;
  /** `CATALOG_TIER_…`. With `syncConfig` it comes from the source. */
  catalogTier?: pulumi.Input<string>;
  /** Bundles that it belongs to, as in `base` or `fips`. Order means nothing. With `syncConfig` they come from the source. */
  bundles?: pulumi.Input<pulumi.Input<string>[]>;
  /** Other names, as in `nginx:latest`. Order means nothing. With `syncConfig` they come from the source. */
  aliases?: pulumi.Input<pulumi.Input<string>[]>;
  /** Tags that are kept up to date. Order means nothing. With `syncConfig` they come from the source. */
  activeTags?: pulumi.Input<pulumi.Input<string>[]>;
  /** Keeps it in step with a repository of the catalogue. */
  syncConfig?: pulumi.Input<SyncConfigArgs>;
  /** How its images differ from their base. */
  customOverlay?: pulumi.Input<CustomOverlayArgs>;
}

/** Says what an image is, not who may do what. */
const harmless = { security: true, access: "none" } as const;

const text: StringSpec = { type: "string", ...harmless };
/** Where images are copied to. */
const registry: StringSpec = { type: "string", security: true, access: "powers" };
const trusted: ListSpec = { type: "list", security: true, access: "powers", items: { type: "string" } };

const pem = {
  regex: /^\s*-----BEGIN CERTIFICATE-----[\s\S]+-----END CERTIFICATE-----\s*$/,
  must: 'a certificate in PEM, beginning "-----BEGIN CERTIFICATE-----"',
};

const contents: ObjectSpec = {
  type: "object",
  security: true,
  fields: defineFields<OverlayContentsArgs>({
    packages: { type: "list", unordered: true, ...harmless, items: { type: "string" } },
    runtimeRepositories: trusted,
    runtimeKeyring: {
      type: "list",
      security: true,
      access: "powers",
      items: {
        type: "object",
        fields: defineFields<OverlayKeyArgs>({
          name: { type: "string", required: true, format: "keyringFile" },
          content: { type: "string", required: true, format: "rsaPublicKey" },
        }),
      },
    },
  }),
};

const accounts: ObjectSpec = {
  type: "object",
  security: true,
  fields: defineFields<OverlayAccountsArgs>({
    runAs: text,
    users: {
      type: "list",
      ...harmless,
      items: {
        type: "object",
        fields: defineFields<OverlayUserArgs>({
          username: { type: "string", required: true },
          uid: { type: "integer" },
          gid: { type: "integer" },
          groupName: { type: "string" },
          shell: { type: "string" },
          homeDir: { type: "string" },
        }),
      },
    },
    groups: {
      type: "list",
      ...harmless,
      items: {
        type: "object",
        fields: defineFields<OverlayGroupArgs>({
          groupname: { type: "string", required: true },
          gid: { type: "integer" },
          members: { type: "list", items: { type: "string" } },
        }),
      },
    },
  }),
};

const certificates: ObjectSpec = {
  type: "object",
  security: true,
  fields: defineFields<OverlayCertificatesArgs>({
    additional: {
      type: "list",
      security: true,
      access: "powers",
      items: {
        type: "object",
        fields: defineFields<OverlayCertificateArgs>({
          name: { type: "string", required: true },
          content: { type: "string", required: true, pattern: pem },
        }),
      },
    },
    providers: trusted,
  }),
};

const customOverlay: ObjectSpec = {
  type: "object",
  security: true,
  fields: defineFields<CustomOverlayArgs>({
    contents,
    environment: {
      type: "map",
      ...harmless,
      values: { type: "string" },
      refusedKeys: {
        regex: /^CHAINGUARD_/,
        must: "is reserved: keys that begin with CHAINGUARD_ are refused",
      },
    },
    annotations: {
      type: "map",
      ...harmless,
      values: { type: "string" },
      refusedKeys: {
        regex: /^(dev\.chainguard\.|org\.opencontainers\.)/,
        must: "is reserved: keys that begin with dev.chainguard. or org.opencontainers. are refused",
      },
    },
    accounts,
    certificates,
  }),
};

const syncConfig: ObjectSpec = {
  type: "object",
  security: true,
  wire: "sync_config",
  fields: defineFields<SyncConfigArgs>({
    source: { type: "string", required: true, normalized: true, security: true, access: "match" },
    google: registry,
    amazon: registry,
    azure: registry,
  }),
};

const FROM_SOURCE = ["catalogTier", "bundles", "aliases", "activeTags"] as const;

/** The value of a field that comes from the source of a synced repository, unasked. */
const fromSource =
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
    reason: "comes from the source of syncConfig and cannot be set beside it: remove it",
  }));
}

/** A repository of container images. Contract, section 5. */
export class Repo extends PlatformResource {
  /** @internal */
  static readonly spec = defineResource<RepoArgs>({
    kind: "Repo",
    noun: "repository",
    collection: "/registry/v2/repos",
    events: "platform.registry.repo",
    listsByName: true,
    readsByList: {},
    fields: {
      parentUid: parentGroup({ required: true }),
      name: { type: "string", required: true },
      description: { ...description, serverFilled: fromSource("description") },
      catalogTier: {
        type: "enum",
        prefix: "CATALOG_TIER_",
        known: ["APPLICATION", "BASE", "FIPS", "AI", "DEVTOOLS", "COMMERCIAL"],
        serverFilled: fromSource("catalogTier"),
      },
      bundles: { ...bundles, serverFilled: fromSource("bundles") },
      aliases: {
        type: "list",
        unordered: true,
        serverFilled: fromSource("aliases"),
        items: {
          type: "string",
          pattern: {
            regex: /^[a-zA-Z0-9_.\-/]*[a-zA-Z0-9_.-]:[a-zA-Z0-9_.-]+$/,
            must: 'a name and a tag, as in "nginx:latest"',
          },
        },
      },
      activeTags: {
        type: "list",
        unordered: true,
        serverFilled: fromSource("activeTags"),
        items: { type: "string", pattern: tagName },
      },
      syncConfig,
      customOverlay,
    },
    rules: checkSynced,
    dependents: [{ collection: "/registry/v2/tags", noun: "tags in it", by: "uidp.children_of" }],
  });

  declare readonly parentUid: pulumi.Output<string>;
  declare readonly name: pulumi.Output<string>;
  declare readonly description: pulumi.Output<string | undefined>;
  declare readonly catalogTier: pulumi.Output<string | undefined>;
  declare readonly bundles: pulumi.Output<string[] | undefined>;
  declare readonly aliases: pulumi.Output<string[] | undefined>;
  declare readonly activeTags: pulumi.Output<string[] | undefined>;
  declare readonly syncConfig: pulumi.Output<Resolved<SyncConfigArgs> | undefined>;
  declare readonly customOverlay: pulumi.Output<Resolved<CustomOverlayArgs> | undefined>;

  constructor(name: string, args: RepoArgs, opts?: pulumi.CustomResourceOptions) {
    super(Repo.spec, name, args, opts);
  }

  /** Reads a repository that this program does not manage. */
  static get(name: string, uid: pulumi.Input<string>, opts?: pulumi.CustomResourceOptions): Repo {
    return new Repo(name, undefined as unknown as RepoArgs, { ...opts, id: uid });
  }
}
