import { sortedJson } from "../../fields/formats";
import { NORMALIZED } from "../../fields/mergeLive";
import { REFRESHED } from "../../fields/refreshed";
import {
  IMPORTED,
  PROVIDER_TEXT,
  SECRET_MASK,
  SECRET_TYPE,
  SIGNATURE,
  UNKNOWN,
  isObject,
} from "../../fields/values";
import type { Json, Props } from "../../fields/values";
import { memberPath } from "../../fields/walk";
import { parseType } from "../../program/resource";
import { printable } from "../../text/printable";
import { sha256 } from "./digest";
import { pluginOfProvider, whyNotReviewed } from "./reviewable";
import type { Plugin } from "./reviewable";
import { specs } from "./specs";

/** A place in the user's program. `file` is relative to the Pulumi project. Lines and columns count from 1. */
export interface SourceLocation {
  readonly file: string;
  /**
   * @asType integer
   * @minimum 1
   */
  readonly line: number;
  /**
   * @asType integer
   * @minimum 1
   */
  readonly column?: number;
}

/**
 * The plain text of a resource's secrets, by path. It serialises and prints as empty, so that only a lookup by path
 * reveals a value.
 */
export class PlainSecrets {
  readonly #values = new Map<string, Json>();

  set(path: string, value: Json): void {
    this.#values.set(path, value);
  }

  has(path: string): boolean {
    return this.#values.has(path);
  }

  get(path: string): Json | undefined {
    return this.#values.get(path);
  }

  toJSON(): undefined {
    return undefined;
  }
}

/** One resource as a state records it, or as a preview foresees it. */
export interface RecordedResource {
  readonly urn: string;
  /** The type token. */
  readonly type: string;
  /** The registry key, of a resource that this package's provider manages. */
  readonly kind?: string;
  /** Why the resource cannot be reviewed: another provider, a type that is not known, commands. */
  readonly notReviewed?: string;
  /** Of a resource of another package: its plugin. Absent for a component. */
  readonly plugin?: Plugin;
  /** The uid; undefined where it is not known yet. */
  readonly id?: string;
  /** Of what cannot be reviewed: SHA-256 of its inputs without secrets, so that an exception accepts no later ones. */
  readonly inputsDigest?: string;
  /** Without the provider's text. A secret is "[secret]"; all that is not known yet is `UNKNOWN`. */
  readonly inputs: Props;
  readonly outputs: Props;
  /** Paths of the inputs that are secret: `oidc.clientSecret`. */
  readonly secretPaths: readonly string[];
  /** The plain text of these secrets, if the document contains it and the reader requested it. */
  readonly secrets?: PlainSecrets;
  /** The URNs that each input depends on. Undefined if the document does not contain them. */
  readonly dependencies?: Readonly<Record<string, readonly string[]>>;
  readonly parent?: string;
  readonly provider?: string;
  readonly importId?: string;
  /** RFC 3339: when the engine created or imported it. */
  readonly created?: string;
  /** Read with `.get`: not managed. */
  readonly external: boolean;
  readonly protect: boolean;
  /** Stays at the server when it leaves the program. */
  readonly retainOnDelete: boolean;
  /** The urn of what takes it along: it is not deleted itself when that is. */
  readonly deletedWith?: string;
  /** `pulumi import` put it into the state, and no program has declared it since. */
  readonly isUndeclared?: true;
  /** The rest of a replacement that was not done to its end. */
  readonly pendingDelete: boolean;
  readonly ignoreChanges: readonly string[];
  readonly location?: SourceLocation;
}

/** The parts of a urn: `urn:pulumi:<stack>::<project>::<types>::<name>`. */
interface UrnParts {
  readonly stack: string;
  readonly project: string;
  /** The type with those of its parents: `component$type`. */
  readonly types: string;
  readonly type: string;
  readonly name: string;
}

export function urnParts(urn: string): UrnParts {
  const [stack = "", project = "", types = "", ...rest] = urn.replace(/^urn:pulumi:/, "").split("::");
  return { stack, project, types, type: types.slice(types.lastIndexOf("$") + 1), name: rest.join("::") };
}

/** No preview shows providers with such a name: the engine makes them itself, or a program declares one. */
export function isDefaultProvider(urn: string): boolean {
  const { type, name } = urnParts(urn);
  return type.startsWith("pulumi:providers:") && name.startsWith("default");
}

/** The version of the Pulumi CLI that a plan's or a state's manifest names. */
export function cliVersionOf(manifest: unknown): string | undefined {
  const version = isObject(manifest) ? manifest["version"] : undefined;
  return typeof version === "string" ? printable(version, 40) : undefined;
}

interface ReadOptions {
  /** Whether the string "[secret]" stands for a secret, as in digests. In other documents a program may have written it. */
  readonly masksAreSecrets: boolean;
  readonly secretPaths: string[];
  readonly secrets?: PlainSecrets;
}

/** Keeps the plain text of a secret, where the document has it and it is valid JSON. */
function recordSecret(secrets: PlainSecrets | undefined, path: string, plaintext: unknown): void {
  if (secrets === undefined || typeof plaintext !== "string") return;
  try {
    secrets.set(path, readValue(JSON.parse(plaintext), path, { masksAreSecrets: false, secretPaths: [] }));
  } catch {
    // The value is then treated as unknown.
  }
}

/** A value of a state without the engine's wrappers: secrets as a mask, and all others as unknown. */
function readValue(value: unknown, path: string, options: ReadOptions): Json {
  if (typeof value === "string") {
    if (options.masksAreSecrets && value === SECRET_MASK) options.secretPaths.push(path);
    return value;
  }
  if (Array.isArray(value)) return value.map((item, index) => readValue(item, `${path}[${index}]`, options));
  if (value !== null && typeof value === "object") {
    const members = value as Record<string, unknown>;
    switch (members[SIGNATURE]) {
      case undefined:
        return Object.fromEntries(
          Object.entries(members).map(([key, member]) => [
            key,
            readValue(member, memberPath(path, key), options),
          ]),
        );
      case SECRET_TYPE:
        options.secretPaths.push(path);
        recordSecret(options.secrets, path, members["plaintext"]);
        return SECRET_MASK;
      default:
        // Resources and assets: no argument is one.
        return UNKNOWN;
    }
  }
  return typeof value === "number" || typeof value === "boolean" ? value : null;
}

/** A value as the CLI writes it, with a mask in place of each secret: as in a preview's digest. */
export function withoutSecrets(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutSecrets);
  if (value === null || typeof value !== "object") return value;
  const members = value as Record<string, unknown>;
  if (members[SIGNATURE] === SECRET_TYPE) return SECRET_MASK;
  return Object.fromEntries(Object.entries(members).map(([key, member]) => [key, withoutSecrets(member)]));
}

/** Members of a state that decide what it says. */
const STATE_MEMBERS = [
  ...[
    "urn",
    "custom",
    "delete",
    "id",
    "type",
    "inputs",
    "outputs",
    "parent",
    "protect",
    "external",
    "provider",
  ],
  ...["dependencies", "propertyDependencies", "importID", "retainOnDelete", "deletedWith", "ignoreChanges"],
];

const fold = (key: string): string => key.toUpperCase().toLowerCase();

/**
 * A member that the engine reads as one of these, and JavaScript does not: the engine accepts any case. An export has what the backend
 * holds, so that the engine may know another state than the export shows.
 */
export function findOtherCase(
  value: unknown,
  members: readonly string[] = STATE_MEMBERS,
): string | undefined {
  if (!isObject(value)) return undefined;
  const folded = new Set(members.map(fold));
  return Object.keys(value).find((key) => !members.includes(key) && folded.has(fold(key)));
}

function text(value: unknown): string | undefined {
  return typeof value === "string" && value !== "" ? value : undefined;
}

function texts(value: unknown): string[] {
  return Array.isArray(value) ? value.filter((item): item is string => typeof item === "string") : [];
}

/** Where the classes of resources are. */
const OWN_FOLDERS = ["dist/provider/kinds/", "dist/provider/native/", "dist/provider/program/"];

/** Where libraries are: of Node, of Python, of Go, and the host of YAML, which names its own sources and those of Go. */
const LIBRARIES =
  /(?:^|\/)(?:(?:node_modules|site-packages|dist-packages)\/|[^/]+@v\d+\.\d+\.[^/]+\/|pulumi-yaml\/pkg\/|runtime\/(?:asm_\w+\.s|proc\.go)$)/;

/**
 * Whether a file belongs to a library. This package is recognised by its path, since a linked package is not in
 * `node_modules`.
 */
function isLibrary(path: string): boolean {
  if (LIBRARIES.test(path)) return true;
  return OWN_FOLDERS.some((folder) => {
    const start = path.lastIndexOf(folder);
    const isFolder = start === 0 || path[start - 1] === "/";
    return start >= 0 && isFolder && /^(?:\w+\/)*\w+\.js$/.test(path.slice(start + folder.length));
  });
}

function parsePosition(position: unknown): SourceLocation | undefined {
  const [, path = "", line = "", column = ""] =
    /^project:\/\/\/(.+)#(\d+)(?:,(\d+))?$/.exec(text(position) ?? "") ?? [];
  if (path === "" || isLibrary(path)) return undefined;
  let file = path;
  try {
    file = decodeURIComponent(path);
  } catch {
    // A lone percent sign: the path is not encoded.
  }
  return { file, line: Number(line), ...(column === "" ? {} : { column: Number(column) }) };
}

/** The user's own line: the first frame that is not a library's (engine's `stackTrace`, innermost first). */
function locate(state: Record<string, unknown>): SourceLocation | undefined {
  const frames = Array.isArray(state["stackTrace"]) ? (state["stackTrace"] as unknown[]) : [];
  for (const frame of frames.filter(isObject)) {
    const found = parsePosition(frame["sourcePosition"]);
    if (found) return found;
  }
  return parsePosition(state["sourcePosition"]);
}

/** The texts by which the engine finds the code of a resource: it runs that of the inputs, or of the outputs. */
function providerTexts(state: Record<string, unknown>): unknown[] {
  return [state["inputs"], state["outputs"]].flatMap((props) =>
    isObject(props) && Object.hasOwn(props, PROVIDER_TEXT) ? [props[PROVIDER_TEXT]] : [],
  );
}

const readFlags = (state: Record<string, unknown>) => ({
  external: state["external"] === true,
  protect: state["protect"] === true,
  retainOnDelete: state["retainOnDelete"] === true,
  pendingDelete: state["delete"] === true,
});

/** Inputs or outputs without the text of the provider. */
function readProps(value: unknown, options: ReadOptions): Props {
  if (!isObject(value)) return {};
  const given = Object.entries(value).filter(([key]) => key !== PROVIDER_TEXT);
  return readValue(Object.fromEntries(given), "", options) as Props;
}

function readDependencies(value: unknown): Readonly<Record<string, readonly string[]>> | undefined {
  if (!isObject(value)) return undefined;
  return Object.fromEntries(Object.entries(value).map(([key, urns]) => [key, texts(urns)]));
}

/** The plugin that runs a provider resource, as its own inputs name it. */
export function pluginOfInputs(value: unknown): Plugin {
  const inputs = isObject(value) ? value : {};
  // Without `__internal` the engine reads these members beside the version. A parameterized plugin is another one.
  const beside = ["name", "parameterization", "pluginDownloadURL", "envVarMappings"].map(
    (key) => inputs[key],
  );
  const internal = isObject(inputs["__internal"]) ? Object.values(inputs["__internal"]) : beside;
  const version = text(inputs["version"]);
  const others = [inputs["pluginDownloadURL"], ...internal];
  const isPublished = isObject(value) && others.every((other) => other === undefined || other === "");
  return { isPublished, version };
}

/** The URN of the provider that a resource refers to: an id of the provider follows it. */
export const providerUrn = (reference = ""): string => reference.slice(0, reference.lastIndexOf("::"));

/** The default providers whose inputs name another plugin than their name does, of those that a document shows. */
export const findForeignProviders = (resources: readonly RecordedResource[]): ReadonlySet<string> =>
  new Set(
    resources.flatMap(({ urn, plugin }) =>
      isDefaultProvider(urn) && plugin?.isPublished === false ? [urn] : [],
    ),
  );

/** A resource that one of these providers manages, as what cannot be reviewed: only its reference was known when it was read. */
export function withForeignProvider(
  resource: RecordedResource,
  foreign: ReadonlySet<string>,
): RecordedResource {
  if (resource.notReviewed !== undefined || !foreign.has(providerUrn(resource.provider))) return resource;
  const notReviewed = "its provider runs a plugin of another address or in another form";
  const inputsDigest = sha256(sortedJson(resource.inputs));
  return {
    ...resource,
    kind: undefined,
    notReviewed,
    inputsDigest,
    inputs: {},
    outputs: {},
    secretPaths: [],
  };
}

/** The plugin of a resource of another package; undefined for a component of the program. */
function readPlugin(type: string, state: Record<string, unknown>): Plugin | undefined {
  // The engine writes no empty inputs.
  if (type.startsWith("pulumi:providers:")) return pluginOfInputs(state["inputs"] ?? {});
  const provider = text(state["provider"]);
  if (provider === undefined) return state["custom"] === true ? { isPublished: false } : undefined;
  const { types, name } = urnParts(providerUrn(provider));
  return pluginOfProvider(types, name);
}

/** A resource of another package, or one that is not reviewed: only that it exists matters, and where it is declared. */
function readUnreviewed(
  state: Record<string, unknown>,
  identity: Pick<RecordedResource, "urn" | "type" | "id" | "notReviewed" | "plugin">,
): RecordedResource {
  const location = identity.notReviewed === undefined ? undefined : locate(state);
  const nothing = { inputs: {}, outputs: {}, secretPaths: [], ignoreChanges: [] };
  const digest = () => sha256(sortedJson(withoutSecrets(state["inputs"] ?? {})));
  const own = identity.notReviewed === undefined ? {} : { inputsDigest: digest() };
  return {
    ...identity,
    ...own,
    ...nothing,
    parent: text(state["parent"]),
    provider: text(state["provider"]),
    location,
    ...readFlags(state),
  };
}

/**
 * The arguments that the programs of this stack have written. An update that failed half-way left the inputs as they were before
 * it, and its outputs have what it wrote: null is what it did not write.
 */
function readWrittenInputs(state: Record<string, unknown>, kind: string): unknown {
  const { inputs, outputs, initErrors } = state;
  if (texts(initErrors).length === 0 || !isObject(inputs) || !isObject(outputs)) return inputs;
  const written = Object.entries(outputs).filter(
    ([key, value]) => value !== null && Object.hasOwn(specs[kind]?.fields ?? {}, key),
  );
  return { ...inputs, ...Object.fromEntries(written) };
}

/** What the server chose and drift compares: its own word, and no secret, whatever a program calls one. */
function revealChosen(kind: string, outputs: Props, secrets: PlainSecrets): Props {
  const chosen = Object.entries(specs[kind]?.outputs ?? {}).filter(([, { access }]) => access !== undefined);
  const known = [NORMALIZED, REFRESHED, ...chosen.map(([name]) => name)].filter((name) => secrets.has(name));
  return { ...outputs, ...Object.fromEntries(known.map((name) => [name, secrets.get(name)])) };
}

function readManaged(
  state: Record<string, unknown>,
  identity: Pick<RecordedResource, "urn" | "type" | "id"> & { readonly kind: string },
  masksAreSecrets: boolean,
  withSecrets: boolean,
): RecordedResource {
  const secretPaths: string[] = [];
  const secrets = withSecrets ? new PlainSecrets() : undefined;
  const secretOutputs = new PlainSecrets();
  const outputs = readProps(state["outputs"], { masksAreSecrets, secretPaths: [], secrets: secretOutputs });
  return {
    ...identity,
    inputs: readProps(readWrittenInputs(state, identity.kind), { masksAreSecrets, secretPaths, secrets }),
    outputs: withSecrets ? revealChosen(identity.kind, outputs, secretOutputs) : outputs,
    secretPaths,
    secrets,
    dependencies: readDependencies(state["propertyDependencies"]),
    parent: text(state["parent"]),
    provider: text(state["provider"]),
    importId: text(state["importID"]),
    created: text(state["created"]),
    deletedWith: text(state["deletedWith"]),
    ignoreChanges: texts(state["ignoreChanges"]),
    location: locate(state),
    // The engine records where a program declares a resource, in whatever file.
    ...(outputs[IMPORTED] !== undefined &&
    state["sourcePosition"] === undefined &&
    state["stackTrace"] === undefined
      ? { isUndeclared: true }
      : {}),
    ...readFlags(state),
  };
}

/**
 * Reads one state of a resource.
 *
 * @param state as the engine writes it: `ResourceV3`.
 * @param form `digest` replaces secrets with the text "[secret]"; an `export` is what earlier updates recorded, and no program's word.
 * @param withSecrets keeps the plain text of secret inputs in `secrets`.
 */
export function readState(
  state: unknown,
  form: "digest" | "export",
  { withSecrets = false } = {},
): RecordedResource | undefined {
  if (!isObject(state)) return undefined;
  const [urn, type, id] = [text(state["urn"]), text(state["type"]), text(state["id"])];
  if (urn === undefined || type === undefined) return undefined;
  const providers = providerTexts(state);
  const parsed = parseType(type);
  // The engine creates no dynamic resource without such a text: an export that lacks it was shortened.
  const isShortened =
    form === "export" &&
    providers.length === 0 &&
    parsed?.form === "dynamic" &&
    specs[parsed.kind] !== undefined;
  const plugin = readPlugin(type, state);
  const notReviewed = isShortened ? undefined : whyNotReviewed(type, providers, plugin);
  const kind = notReviewed === undefined ? parsed?.kind : undefined;
  if (kind === undefined) return readUnreviewed(state, { urn, type, notReviewed, plugin, id });
  const identity = { urn, type, kind, id: id === UNKNOWN ? undefined : id };
  return readManaged(state, identity, form === "digest", withSecrets);
}
