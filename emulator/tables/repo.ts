import { createHash } from "node:crypto";
import type { Message, Value } from "../gateway/descriptor";
import {
  bool,
  enumOf,
  enumType,
  fieldMask,
  int32,
  int64,
  list,
  map,
  messageType,
  newMessage,
  object,
  text,
  timestamp,
} from "../gateway/descriptor";
import { formatTimestamp } from "../gateway/scalars";
import { times, uid } from "./common";
import {
  alias,
  bundle,
  cleanMarkdown,
  descriptionFlags,
  isUid,
  nameFlags,
  rsaPublicKeyPem,
  safeFileName,
} from "./formats";
import { notFound, permissionDenied } from "../gateway/status";
import type { KindTable, World, Write } from "./kindTable";

const syncLifeMs = 14 * 24 * 3_600_000;
const name = (suffix: string): string => `chainguard.platform.registry.v2.${suffix}`;

const syncConfig = messageType(name("SyncConfig"), {
  source: text({ required: true }),
  google: text(),
  amazon: text(),
  azure: text(),
  uniqueTags: bool({ outputOnly: true }),
  expirationTime: timestamp({ outputOnly: true }),
  apkoOverlay: text({ outputOnly: true }),
  gracePeriod: bool({ outputOnly: true }),
});

const customOverlay = messageType(name("CustomOverlay"), {
  contents: object(
    messageType(name("CustomOverlay.Contents"), {
      packages: list(text()),
      runtimeRepositories: list(text()),
      runtimeKeyring: list(
        object(
          messageType(name("CustomOverlay.Key"), {
            name: text({ required: true, format: safeFileName }),
            content: text({ required: true, format: rsaPublicKeyPem }),
          }),
        ),
      ),
    }),
  ),
  environment: map(text()),
  annotations: map(text()),
  accounts: object(
    messageType(name("CustomOverlay.Accounts"), {
      runAs: text(),
      users: list(
        object(
          messageType(name("CustomOverlay.User"), {
            username: text({ required: true }),
            uid: int32(),
            gid: int32(),
            groupName: text(),
            shell: text(),
            homeDir: text(),
          }),
        ),
      ),
      groups: list(
        object(
          messageType(name("CustomOverlay.Group"), {
            groupname: text({ required: true }),
            gid: int32(),
            members: list(text()),
          }),
        ),
      ),
    }),
  ),
  certificates: object(
    messageType(name("CustomOverlay.Certificates"), {
      additional: list(
        object(
          messageType(name("CustomOverlay.Certificate"), {
            name: text({ required: true }),
            content: text({ required: true }),
          }),
        ),
      ),
      providers: list(text()),
    }),
  ),
});

const readme = messageType(name("RepoReadme"), { uid, content: text({ format: cleanMarkdown }) });

/** Come from the source while a repo is synced; changing them is refused: contract, section 5. */
const fromSource = ["catalogTier", "bundles", "aliases", "activeTags"] as const;
const ownedBySync = syncConfig.fields.filter((field) => field.outputOnly).map((field) => field.name);

export const repo: KindTable = {
  kind: "Repo",
  prefix: "/registry/v2",
  collection: "repos",
  service: "registry.v2.ReposService",
  message: messageType(name("Repo"), {
    uid,
    name: text(nameFlags),
    description: text(descriptionFlags),
    catalogTier: enumOf(enumType("CATALOG_TIER", "APPLICATION BASE FIPS AI DEVTOOLS COMMERCIAL")),
    bundles: list(text(), { format: bundle }),
    aliases: list(text(), { format: alias }),
    activeTags: list(text()),
    // The one field whose answer name is in snake_case.
    sync_config: object(syncConfig),
    customOverlay: object(customOverlay),
    ...times,
  }),
  methods: ["list", "get", "create", "update", "delete"],
  nameFilter: true,
  custom: [
    {
      rpc: "registry.v2.ReposService/GetRepoReadme",
      verb: "GET",
      pattern: "/registry/v2/repos/{uid=**}/readme",
      request: messageType(name("GetRepoReadmeRequest"), { uid: text() }),
      response: readme,
    },
    {
      rpc: "registry.v2.ReposService/UpdateRepoReadme",
      verb: "PATCH",
      pattern: "/registry/v2/repos/{repoReadme.uid=**}/readme",
      body: "repoReadme",
      request: messageType(name("UpdateRepoReadmeRequest"), {
        repoReadme: object(readme),
        updateMask: fieldMask(),
      }),
      response: readme,
    },
    {
      rpc: "registry.v2.ImagesService/GetArchitectures",
      verb: "GET",
      pattern: "/registry/v2/repos/{repoUid=**}/digests/{digest}/architectures",
      request: messageType(name("GetArchitecturesRequest"), { repoUid: text(), digest: text() }),
      response: messageType(name("GetArchitecturesResponse"), { architectures: list(text()) }),
    },
    {
      rpc: "registry.v2.ImagesService/GetSize",
      verb: "GET",
      pattern: "/registry/v2/repos/{repoUid=**}/digests/{digest}/size",
      request: messageType(name("GetSizeRequest"), { repoUid: text(), digest: text(), architecture: text() }),
      response: messageType(name("GetSizeResponse"), { size: int64(), architecture: text() }),
    },
  ],
  rules: {
    parent: "Group",
    check(write) {
      checkSync(write);
      checkOverlay(write);
    },
    complete(write) {
      const { value, before } = write;
      const sync = value.sync_config as Message | undefined;
      if (!sync) return;
      const asked = sync.source as string;
      sync.source = resolveSource(asked);
      const earlier = before?.sync_config as Message | undefined;
      sync.expirationTime ??= formatTimestamp({
        epochMs: Math.floor((write.now + syncLifeMs) / 1000) * 1000,
        nanos: 0,
      });
      if (earlier?.source === sync.source) return;
      const image = imageName(asked);
      value.catalogTier = "CATALOG_TIER_APPLICATION";
      value.bundles = ["application"];
      value.aliases = [`${image}:latest`];
      value.activeTags = ["latest"];
      value.description ??= `Copy of ${image}`;
    },
    events: { name: "platform.registry.repo", actions: ["created", "updated", "deleted"] },
    custom: {
      GetArchitectures({ request }, world) {
        knownDigest(request, world);
        return { architectures: Object.keys(architectures) };
      },
      GetSize({ request }, world) {
        const digest = knownDigest(request, world);
        const architecture = (request.architecture ?? "amd64") as string;
        if (!Object.hasOwn(architectures, architecture)) {
          throw notFound("Image", `${digest} for ${architecture}`);
        }
        return { size: sizeOf(digest, architecture), architecture };
      },
    },
  },
};

/** What a service that has no images says of them, always the same. */
const architectures: Readonly<Record<string, bigint>> = { amd64: 7_000_000n, arm64: 6_000_000n };

function sizeOf(digest: string, architecture: string): string {
  const random = BigInt(`0x${digest.slice(-6)}`);
  return String((architectures[architecture] ?? 0n) + random);
}

/** The digest, if a tag of the repo has it. */
function knownDigest({ repoUid, digest }: Message, world: World): string {
  const entry = world.existing("Repo", repoUid);
  const tags = world.store.childrenOf(entry);
  if (!tags.some(({ kind, value }) => kind === "Tag" && value.digest === digest)) {
    throw notFound("Image", digest as string);
  }
  return digest as string;
}

/** A readme of its own for every repo; its two methods stand among those of the repo. */
export const repoReadme: KindTable = {
  kind: "RepoReadme",
  prefix: "/registry/v2",
  collection: "repoReadmes",
  service: "registry.v2.ReposService",
  message: readme,
  methods: [],
  rules: {
    parent: "Repo",
    uidOfParent: true,
    goesWithParent: true,
    implied({ value }) {
      const [alias = ""] = (value.aliases ?? []) as string[];
      return value.sync_config ? { content: `# ${imageName(alias)}\n\nFrom the catalog.\n` } : newMessage();
    },
    check(_, { settings }) {
      if (settings.readmeForbidden) throw permissionDenied("CAP_REPO_INTERNAL_ADMIN is needed");
    },
    events: {
      name: "platform.registry.repo",
      actions: ["updated"],
      about: ({ uid: repoUid }, { store }) => store.find("Repo", repoUid),
    },
  },
};

function checkSync(write: Write): void {
  const { value, before, sent } = write;
  if (!value.sync_config) return;
  const sentSync = sent.sync_config as Message | undefined;
  const whole = !before || write.replaces || write.namesExactly("sync_config");
  for (const field of ownedBySync) {
    if (write.namesExactly(`sync_config.${field}`) || (whole && sentSync?.[field] !== undefined)) {
      write.refuse(`sync_config.${field}`, `${field} is decided by the service`);
    }
  }
  for (const field of fromSource) {
    const changes = before?.sync_config
      ? !sameSet(value[field], before[field])
      : value[field] !== undefined && write.names(field);
    if (changes) write.refuse(field, `${field} comes from the source of a synced repo`);
  }
}

function sameSet(one: Value | undefined, other: Value | undefined): boolean {
  if (!Array.isArray(one) || !Array.isArray(other)) return one === other;
  return JSON.stringify([...one].sort()) === JSON.stringify([...other].sort());
}

function checkOverlay(write: Write): void {
  const overlay = write.value.customOverlay as Message | undefined;
  for (const key of Object.keys(overlay?.environment ?? {})) {
    if (key.startsWith("CHAINGUARD_")) {
      write.refuse("customOverlay.environment", `environment key "${key}" is reserved`);
    }
  }
  for (const key of Object.keys(overlay?.annotations ?? {})) {
    if (key.startsWith("dev.chainguard.") || key.startsWith("org.opencontainers.")) {
      write.refuse("customOverlay.annotations", `annotation key "${key}" is reserved`);
    }
  }
}

/** A catalog name or image reference names a repo of the catalog; the same one always, whatever its spelling. */
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
