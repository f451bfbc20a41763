import * as pulumi from "./sdk";
import { withCode } from "../errors/codedError";
import type { ErrorCode } from "../errors/registry";
import { adviseOnNames, holdsNames } from "../fields/enumNames";
import type { FieldSpec } from "../fields/fieldSpec";
import { createOnlyOutputs } from "../fields/resourceSpec";
import type { ResourceSpec } from "../fields/resourceSpec";
import { PROVIDER_TEXT, WRONG_ARGUMENTS } from "../fields/values";
import { mapSecrets } from "../fields/walk";
import { lineOf, reportWrongArguments } from "./argumentErrors";
import { listMisspeltSettings, readEnvironment } from "../settings/environment";
import { recordResource, refuseSameName, warnOfNew } from "./ownership";
import { isLater, rememberId } from "./uidSources";

/**
 * What the engine stores as a resource's provider: a constant text that loads the code by name. No
 * code, no path and no secret is in it, so upgrading the package changes no resource.
 */
export function providerText(kind: string): string {
  return `exports.handler=()=>require("pulumi-platform/dynamic").${kind}`;
}

/** The two forms of a resource: code that the engine's Node process loads, or the plugin of this package. */
type Form = "dynamic" | "native";

const tokenPrefixes = { dynamic: "pulumi-nodejs:dynamic/platform:", native: "platform:index:" } as const;

/** The form and the kind of a type token of this package; undefined for any other. */
export function parseType(type: string): { readonly form: Form; readonly kind: string } | undefined {
  const form = (["dynamic", "native"] as const).find((each) => type.startsWith(tokenPrefixes[each]));
  return form && { form, kind: type.slice(tokenPrefixes[form].length) };
}

/**
 * Arguments that were not given cost nothing in the program and in state, yet read as an output that
 * resolves to undefined.
 */
function declareOutputs(prototype: object, spec: ResourceSpec): void {
  for (const key of [...Object.keys(spec.fields), ...Object.keys(spec.outputs ?? {})]) {
    Object.defineProperty(prototype, key, {
      configurable: true,
      get: () => pulumi.output(undefined),
      set(this: object, value: unknown) {
        Object.defineProperty(this, key, { value, configurable: true, enumerable: true, writable: true });
      },
    });
  }
}

/**
 * Arguments with the secret ones marked, so that the engine stores them encrypted. Only the secret
 * member of an object is: the others stay readable in a preview.
 */
const withSecrets = (
  fields: ResourceSpec["fields"],
  args: Readonly<Record<string, unknown>>,
): Record<string, unknown> =>
  mapSecrets(fields, args, pulumi.secret, (object, map) =>
    isLater(object) ? pulumi.output(object as object).apply(map) : map(object),
  );

/**
 * The options of a resource with those of its kind: which outputs are secret, whether a replacement deletes first, and the
 * type of its other form, so that a program that changes its import keeps its resources.
 */
function withOptionsOf(
  spec: ResourceSpec,
  form: Form,
  given: pulumi.CustomResourceOptions | undefined,
): pulumi.CustomResourceOptions | undefined {
  const other = `${tokenPrefixes[form === "native" ? "dynamic" : "native"]}${spec.kind}`;
  const opts = given?.id === undefined ? pulumi.mergeOptions(given, { aliases: [{ type: other }] }) : given;
  const additionalSecretOutputs = Object.entries(spec.outputs ?? {})
    .filter(([, field]) => field.secret)
    .map(([key]) => key);
  const options = pulumi.mergeOptions(opts, { additionalSecretOutputs });
  return spec.deletion?.beforeReplace === "always" ? { deleteBeforeReplace: true, ...options } : options;
}

/** The engine's library makes a text of each argument but outputs: it fails for an object with a key `toString`. */
function hasText(value: unknown): boolean {
  try {
    return pulumi.Output.isInstance(value) || typeof String(value) === "string";
  } catch {
    return false;
  }
}

function properties(
  spec: ResourceSpec,
  form: Form,
  name: string,
  args: object | undefined,
  opts: pulumi.CustomResourceOptions | undefined,
): Record<string, unknown> {
  const ofForm = form === "native" ? {} : { [PROVIDER_TEXT]: providerText(spec.kind) };
  // The engine's library makes a property of each output of the server's that is named here.
  const outputs = Object.fromEntries(Object.keys(spec.outputs ?? {}).map((key) => [key, undefined]));
  if (opts?.id !== undefined) {
    const all = Object.fromEntries(Object.keys(spec.fields).map((key) => [key, undefined]));
    return { ...all, ...outputs, ...ofForm };
  }
  const given: unknown = args;
  if (given === null || typeof given !== "object") {
    const wanted = `new ${spec.kind}(${JSON.stringify(name)}, { … })`;
    refuse(spec, name, `the arguments are missing: write ${wanted}`, "PP1101");
  }
  const conflicts = recordResource(spec, name, { ...given });
  // The plugin asks for the uids of every language itself.
  const asksForUids = form === "dynamic";
  const checked = reportWrongArguments(spec, name, { ...given }, conflicts, asksForUids);
  const set = Object.fromEntries(
    Object.entries(checked)
      .filter(([key, value]) => value !== undefined && key !== PROVIDER_TEXT)
      // An output takes note of a failure at once, and the engine's library only later: Node would warn of that.
      .map(([key, value]) => [
        key,
        (value instanceof Promise && key !== WRONG_ARGUMENTS) || !hasText(value)
          ? pulumi.output(value)
          : value,
      ]),
  );
  return Object.assign(withSecrets(spec.fields, set), outputs, ofForm);
}

/** Ends the program at a resource, with its line. */
function refuse({ kind }: ResourceSpec, name: string, problem: string, code: ErrorCode): never {
  const place = lineOf(new Error());
  throw new pulumi.RunError(withCode(`${place}${kind} ${JSON.stringify(name)}: ${problem}`, code));
}

const getWarningsOfRun = pulumi.createPerRun(() => ({ ofSettings: false }));

function warnOfSettings(): void {
  const warnings = getWarningsOfRun();
  if (warnings.ofSettings) return;
  warnings.ofSettings = true;
  const env = readEnvironment();
  for (const line of listMisspeltSettings(Object.keys(pulumi.allConfig()), env)) void pulumi.log.warn(line);
  // An empty variable is treated as absent.
  if (
    !env.PLATFORM_TOKEN &&
    !env.PLATFORM_TOKEN_FILE &&
    new pulumi.Config("platform").getSecret("token") !== undefined
  ) {
    void pulumi.log.warn(
      "platform:token: the engine hands refresh and destroy the stack configuration of the last update, so a token in it may be stale; prefer PLATFORM_TOKEN",
    );
  }
}

/** Not tied to the resource in the log: a message that waits for a resource is lost when its making fails. */
function warnOfInputs(spec: ResourceSpec, name: string, args: Readonly<Record<string, unknown>>): void {
  const place = new Error();
  for (const [key, field] of Object.entries(spec.fields)) {
    const linesFor = spec.inputWarnings?.[key];
    if (args[key] === undefined || (linesFor === undefined && !holdsNames(field))) continue;
    const given = pulumi.output(args[key]);
    pulumi.all([given, pulumi.isSecret(given)]).apply(([value, isSecret]) => {
      if (isSecret) return;
      const unknown = adviseOnNames(field, value).map((line) => withCode(line, "PP1013"));
      for (const line of [...unknown, ...(linesFor?.(value) ?? [])]) {
        void pulumi.log.warn(`${lineOf(place)}${spec.kind} ${JSON.stringify(name)}: ${key}: ${line}`);
      }
    });
  }
}

/**
 * One provider process records what the resources of a program own. A second provider is a second process, which would
 * delete what the first one owns, and gets no stack configuration.
 */
function refuseOwnProvider(spec: ResourceSpec, name: string, resource: pulumi.CustomResource): void {
  const { __prov: provider } = resource as unknown as { readonly __prov?: pulumi.ProviderResource };
  if (provider === undefined) return;
  refuse(
    spec,
    name,
    "the options provider and providers must not be set: remove them; to use another address or credential, use another stack",
    "PP1102",
  );
}

/**
 * The engine imports a dynamic resource without its properties, and so without the text that names its code: nothing of
 * this package would run, and the engine's own process fails with an error of JavaScript.
 */
function refuseImport(
  spec: ResourceSpec,
  name: string,
  opts: pulumi.CustomResourceOptions | undefined,
): void {
  if (opts?.import === undefined || opts.id !== undefined) return;
  const [kind, label] = [spec.kind, JSON.stringify(name)];
  const takeOver =
    createOnlyOutputs(spec).length > 0
      ? "a new one has to be created"
      : `to take over what exists, write new ${kind}(${label}, adopt("<uid>", { … }))`;
  refuse(
    spec,
    name,
    `the option import does not work for dynamic resources: remove it; ${takeOver}; to read it only, ${kind}.get(${label}, "<uid>")`,
    "PP1105",
  );
}

/** The base of every kind. */
export abstract class PlatformResource extends pulumi.CustomResource {
  /** @internal */
  static readonly form: Form = "dynamic";

  protected constructor(
    spec: ResourceSpec,
    name: string,
    args: object | undefined,
    opts: pulumi.CustomResourceOptions | undefined,
  ) {
    const { form } = new.target;
    if (form === "dynamic") refuseImport(spec, name, opts);
    const type = `${tokenPrefixes[form]}${spec.kind}`;
    const takeName = opts?.id === undefined ? refuseSameName(type, spec.kind, name, opts?.parent) : undefined;
    super(type, name, properties(spec, form, name, args, opts), withOptionsOf(spec, form, opts));
    takeName?.();
    rememberId(spec, name, this.id, args && { ...args });
    // The plugin says for every language what it can see in one resource, and has a process for each provider.
    if (args !== undefined) warnOfNew(spec, name, { ...args }, this.id, form === "dynamic");
    if (form === "native") return;
    refuseOwnProvider(spec, name, this);
    warnOfSettings();
    if (args !== undefined) warnOfInputs(spec, name, { ...args });
  }

  /** The uid of the resource: the same as `id`. */
  get uid(): pulumi.Output<pulumi.ID> {
    return this.id;
  }
}

/** The class of a kind whose resources the plugin manages. */
export function native<C extends abstract new (...args: never) => PlatformResource>(kind: C): C {
  return Object.assign(class extends (kind as unknown as typeof PlatformResource) {}, {
    form: "native",
  }) as unknown as C;
}

/** The constructor of a kind with these arguments. */
export interface ResourceClass<Args> {
  /** @internal */
  readonly spec: ResourceSpec;
  new (name: string, args: Args, opts?: pulumi.CustomResourceOptions): PlatformResource;
  /** Reads one that this program does not manage, by its uid. */
  get<Resource>(
    this: new (name: string, args: Args, opts?: pulumi.CustomResourceOptions) => Resource,
    name: string,
    uid: pulumi.Input<string>,
    opts?: pulumi.CustomResourceOptions,
  ): Resource;
}

/**
 * The class of a kind: `class Group extends resource<GroupArgs>(group) {}`. An interface of the same name declares the
 * outputs: with them in a type of its base, linters would not take the class for one of Pulumi's resources.
 */
export function resource<Args extends object>(
  kind: ResourceSpec & { readonly fields: { readonly [K in keyof Required<Args>]: FieldSpec } },
): ResourceClass<Args> {
  class DescribedResource extends PlatformResource {
    static readonly spec = kind;

    constructor(name: string, args: Args | undefined, opts?: pulumi.CustomResourceOptions) {
      super(kind, name, args, opts);
    }

    static get(name: string, uid: pulumi.Input<string>, opts?: pulumi.CustomResourceOptions) {
      return new this(name, undefined, { ...opts, id: uid });
    }
  }
  declareOutputs(DescribedResource.prototype, kind);
  return DescribedResource as unknown as ResourceClass<Args>;
}
