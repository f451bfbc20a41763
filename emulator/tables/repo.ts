import { createHash, createPublicKey } from "node:crypto";
import type { Format, Message, Value } from "../gateway/fields";
import {
  bool,
  enumeration,
  int32,
  int64,
  list,
  map,
  messageType,
  object,
  text,
  timestamp,
} from "../gateway/fields";
import { wholeSecond } from "../gateway/time";
import type { PlatformService } from "../service/platformService";
import { bundle, descriptionFlags, nameFlags, pattern, times, uid } from "./common";
import { notFound } from "../gateway/status";
import type { KindTable, Write } from "./kindTable";

const alias = pattern("^[a-zA-Z0-9_.\\-\\/]*[a-zA-Z0-9_.\\-]:[a-zA-Z0-9_.\\-]+$");
const safeFileName = pattern(
  "^[A-Za-z0-9_\\-][A-Za-z0-9._@+\\-]*$",
  "must be a plain file name without a leading dot",
);

const rsaPublicKeyPem: Format = {
  requirement: "must be an RSA public key in PEM",
  accepts: (value) => {
    if (!/^\s*-----BEGIN (RSA )?PUBLIC KEY-----/.test(value)) return false;
    try {
      return createPublicKey(value).asymmetricKeyType === "rsa";
    } catch {
      return false;
    }
  },
};

/** A part of what the service's HTML sanitiser refuses. */
const cleanMarkdown: Format = {
  requirement: "must not hold HTML that a sanitiser would change",
  accepts: (value) =>
    !/<\s*\/?\s*(script|style|iframe|object|embed)\b/i.test(value) &&
    !/<[^>]*\son[a-z]+\s*=/i.test(value) &&
    !/(\]\(|(href|src)\s*=)\s*["'<]?\s*javascript:/i.test(value),
};

const syncLifeMs = 14 * 24 * 3_600_000;
const syncConfig = messageType({
  source: text({ required: true }),
  google: text(),
  amazon: text(),
  azure: text(),
  uniqueTags: bool({ outputOnly: true }),
  expirationTime: timestamp({ outputOnly: true }),
  apkoOverlay: text({ outputOnly: true }),
  gracePeriod: bool({ outputOnly: true }),
});

/** The source sets these while a repo is synced; a change of them is refused. */
const syncedFields = ["catalogTier", "bundles", "aliases", "activeTags"] as const;
const computedSyncFields = syncConfig.fields.filter((field) => field.outputOnly).map((field) => field.name);

const customOverlay = messageType({
  contents: object({
    packages: list(text()),
    runtimeRepositories: list(text()),
    runtimeKeyring: list(
      object({
        name: text({ required: true, format: safeFileName }),
        content: text({ required: true, format: rsaPublicKeyPem }),
      }),
    ),
  }),
  environment: map(text()),
  annotations: map(text()),
  accounts: object({
    runAs: text(),
    users: list(
      object({
        username: text({ required: true }),
        uid: int32(),
        gid: int32(),
        groupName: text(),
        shell: text(),
        homeDir: text(),
      }),
    ),
    groups: list(
      object({
        groupname: text({ required: true }),
        gid: int32(),
        members: list(text()),
      }),
    ),
  }),
  certificates: object({
    additional: list(
      object({
        name: text({ required: true }),
        content: text({ required: true }),
      }),
    ),
    providers: list(text()),
  }),
});

export const repo: KindTable = {
  kind: "Repo",
  prefix: "/registry/v2",
  collection: "repos",
  message: messageType({
    uid,
    name: text(nameFlags),
    description: text(descriptionFlags),
    catalogTier: enumeration("CATALOG_TIER", "APPLICATION BASE FIPS AI DEVTOOLS COMMERCIAL"),
    bundles: list(text(), { format: bundle }),
    aliases: list(text(), { format: alias }),
    activeTags: list(text()),
    // The one field whose JSON name is in snake_case.
    sync_config: object(syncConfig),
    customOverlay: object(customOverlay),
    ...times,
  }),
  methods: ["list", "get", "create", "update", "delete"],
  capabilities: "REPO",
  hasNameFilter: true,
  custom: [
    {
      rpc: "registry.v2.ImagesService/GetArchitectures",
      capabilities: ["REPO_LIST", "MANIFEST_METADATA_LIST"],
      verb: "GET",
      pattern: "/registry/v2/repos/{repoUid=**}/digests/{digest}/architectures",
      request: messageType({ repoUid: text(), digest: text() }),
      response: messageType({ architectures: list(text()) }),
      run({ request }, platform) {
        requireDigest(request, platform);
        return { architectures: Object.keys(architectures) };
      },
    },
    {
      rpc: "registry.v2.ImagesService/GetSize",
      capabilities: ["REPO_LIST", "MANIFEST_METADATA_LIST"],
      verb: "GET",
      pattern: "/registry/v2/repos/{repoUid=**}/digests/{digest}/size",
      request: messageType({ repoUid: text(), digest: text(), architecture: text() }),
      response: messageType({ size: int64(), architecture: text() }),
      run({ request }, platform) {
        const digest = requireDigest(request, platform);
        const architecture = (request.architecture ?? "amd64") as string;
        if (!Object.hasOwn(architectures, architecture)) {
          throw notFound("Image", `${digest} for ${architecture}`);
        }
        return { size: sizeOf(digest, architecture), architecture };
      },
    },
  ],
  parent: "Group",
  check(write) {
    checkSync(write);
    checkOverlay(write);
  },
  complete(write) {
    const { value, before } = write;
    const sync = value.sync_config as Message | undefined;
    if (!sync) return;
    const requested = sync.source as string;
    sync.source = resolveSource(requested);
    const earlier = before?.sync_config as Message | undefined;
    sync.expirationTime ??= wholeSecond(write.now + syncLifeMs);
    if (earlier?.source === sync.source) return;
    const image = imageName(requested);
    value.catalogTier = "CATALOG_TIER_APPLICATION";
    value.bundles = ["application"];
    value.aliases = [`${image}:latest`];
    value.activeTags = ["latest"];
    value.description ??= `Copy of ${image}`;
  },
  events: { name: "platform.registry.repo" },
};

/** Made-up base sizes of the images that the emulator does not have. */
const architectures: Readonly<Record<string, bigint>> = { amd64: 7_000_000n, arm64: 6_000_000n };

function sizeOf(digest: string, architecture: string): string {
  const random = BigInt(`0x${digest.slice(-6)}`);
  return String((architectures[architecture] ?? 0n) + random);
}

/** The digest, if a tag of the repo has it. */
function requireDigest({ repoUid, digest }: Message, platform: PlatformService): string {
  const entry = platform.requireEntry("Repo", repoUid);
  const tags = platform.store.childrenOf(entry);
  if (!tags.some(({ kind, value }) => kind === "Tag" && value.digest === digest)) {
    throw notFound("Image", digest as string);
  }
  return digest as string;
}

/** The readme of a repo, which has the repo's uid. */
export const repoReadme: KindTable = {
  kind: "RepoReadme",
  prefix: "/registry/v2",
  collection: "repoReadmes",
  partOf: { address: "/registry/v2/repos", suffix: "/readme" },
  message: messageType({ uid, content: text({ format: cleanMarkdown }) }),
  methods: ["get", "update"],
  capabilities: "REPO",
  furtherCapabilities: { update: ["REPO_INTERNAL_ADMIN"] },
  parent: "Repo",
  hasUidOfParent: true,
  isDeletedWithParent: true,
  impliedValue({ value }) {
    const [alias = ""] = (value.aliases ?? []) as string[];
    return value.sync_config ? { content: `# ${imageName(alias)}\n\nFrom the catalog.\n` } : {};
  },
  events: {
    name: "platform.registry.repo",
    findSubject: ({ uid: repoUid }, { store }) => store.find("Repo", repoUid),
  },
};

function checkSync(write: Write): void {
  const { value, before, sent } = write;
  if (!value.sync_config) return;
  const sentSync = sent.sync_config as Message | undefined;
  const isWholeConfig = !before || write.isFullReplacement || write.namesExactly("sync_config");
  for (const field of computedSyncFields) {
    if (write.namesExactly(`sync_config.${field}`) || (isWholeConfig && sentSync?.[field] !== undefined)) {
      write.addViolation(`sync_config.${field}`, `${field} is decided by the service`);
    }
  }
  for (const field of syncedFields) {
    const changes = before?.sync_config
      ? !sameSet(value[field], before[field])
      : value[field] !== undefined && write.touches(field);
    if (changes) write.addViolation(field, `${field} comes from the source of a synced repo`);
  }
}

function sameSet(one: Value | undefined, other: Value | undefined): boolean {
  if (!Array.isArray(one) || !Array.isArray(other)) return one === other;
  return JSON.stringify([...one].sort()) === JSON.stringify([...other].sort());
}

/** The uid of the catalog repo that a name or image reference means; all spellings give the same uid. */
function resolveSource(source: string): string {
  if (isUid(source)) return source;
  const digest = createHash("sha256")
    .update(`catalog image ${imageName(source)}`)
    .digest("hex");
  const catalog = createHash("sha1").update("catalog").digest("hex");
  return `${catalog}/${digest.slice(0, 16)}`;
}

/** The last part of an image reference without tag and digest; of a uid the uid's own last part. */
function imageName(source: string): string {
  return (source.split("@")[0]?.split("/").at(-1) ?? "").replace(/:.*$/, "").toLowerCase();
}

/** Refuses keys that the service reserves. */
function checkOverlay(write: Write): void {
  const overlay = write.value.customOverlay as Message | undefined;
  for (const key of Object.keys(overlay?.environment ?? {})) {
    if (key.startsWith("CHAINGUARD_")) {
      write.addViolation("customOverlay.environment", `environment key "${key}" is reserved`);
    }
  }
  for (const key of Object.keys(overlay?.annotations ?? {})) {
    if (key.startsWith("dev.chainguard.") || key.startsWith("org.opencontainers.")) {
      write.addViolation("customOverlay.annotations", `annotation key "${key}" is reserved`);
    }
  }
}

function isUid(value: string): boolean {
  return /^[0-9a-f]{40}(\/[0-9a-f]{16})*$/.test(value);
}
