import { AsyncLocalStorage } from "node:async_hooks";
import DataLoader from "dataloader";
import { CodedError, withCode } from "../errors/codedError";
import { diffInputs } from "../fields/diff";
import type { PropertyDifference } from "../fields/diff";
import { adviseOnNames } from "../fields/enumNames";
import { declaredFields } from "../fields/mergeLive";
import { listLeftOut } from "../fields/resourceSpec";
import type { ResourceSpec } from "../fields/resourceSpec";
import { getOrCompute, IMPORTED, once, toPlainJson, UNKNOWN } from "../fields/values";
import type { Json, Props } from "../fields/values";
import type { ConfigError } from "../http/errors";
// Loads every kind and every lookup.
import "../index";
import { kinds } from "../kinds";
import { createHandlerContext } from "../lifecycle/context";
import { checkProgramArguments, handlersFor } from "../lifecycle/handlers";
import type { DiffResult, EngineFailure, Handlers } from "../lifecycle/handlers";
import { guardErrors, PartialFailure } from "../lifecycle/messages";
import { lookups, OF_PREVIEW, runLookup, warningOfPreview } from "../lookups/invoke";
import type { RunSession } from "../lookups/invoke";
import { findAbsent } from "../lookups/lookup";
import { parseType } from "../program/resource";
import { describeAbsent, uidsOfArguments } from "../program/uidSources";
import { settingDefinitions } from "../settings/definitions";
import type { SettingDefinition } from "../settings/definitions";
import { listMisspeltSettings } from "../settings/environment";
import { createClient, readSettings, findWrongSetting } from "../settings/settings";
import type { SettingSources } from "../settings/settings";
import { printable } from "../text/printable";
import { asSecret, containsMark, withMarks, withoutMarks } from "./markedValues";

/*
 * The operations of the native plugin, over properties as the engine sends them: with the marks of secrets. What a resource
 * does is in lifecycle/, as for the dynamic form.
 */

/** A resource that the engine asks about. */
export interface RequestedResource {
  readonly urn: string;
  readonly type: string;
  readonly id?: string;
}

export type LogLevel = "info" | "warning";

/** Tells a person one line, about a resource if it has a URN. */
export type Log = (level: LogLevel, line: string, urn: string | undefined) => void;

export interface ResourceDifference extends DiffResult {
  readonly properties: readonly PropertyDifference[];
}

interface HandledKind {
  readonly spec: ResourceSpec;
  readonly handlers: Handlers;
}

const definitions: readonly SettingDefinition[] = Object.values(settingDefinitions);

/** Properties as operations take them. */
const plain = (props: Props): Props => withoutMarks(props) as Props;

const fieldsOf = ({ fields, outputs }: ResourceSpec) => ({ ...fields, ...outputs });

/** What a preview knows of a resource that will be written: its arguments. What the server adds is unknown. */
function foresee({ outputs = {} }: ResourceSpec, inputs: Props): Props {
  return { ...inputs, ...Object.fromEntries(Object.keys(outputs).map((key) => [key, UNKNOWN])) };
}

/** Likely mistakes in legal arguments; a secret one is never quoted. */
function listWarnings(spec: ResourceSpec, inputs: Props): string[] {
  return Object.entries(spec.fields).flatMap(([key, field]) => {
    const value = inputs[key];
    if (value === undefined || containsMark(value)) return [];
    return [...adviseOnNames(field, value), ...(spec.inputWarnings?.[key]?.(value) ?? [])].map(
      (line) => `${key}: ${line}`,
    );
  });
}

/** The engine asks about many resources at a time: the uids of so long are asked for together. */
const COLLECTED_MS = 20;

/** One provider of a program: the process has one. */
export class PlatformProvider {
  private configuration: Props = {};
  private isExplicit = false;
  /** Found once: the engine checks every resource of a program. */
  private readonly wrongSetting = once(() => findWrongSetting(this.sources()));
  /** Built at first use: where nothing is called, nothing needs to be configured. */
  private readonly connect = once((): RunSession => {
    const { client } = createClient(readSettings(this.sources()), (line) => this.tell("info", line));
    return { client, responses: new Map(), keepsResponses: true };
  });
  /** What a preview asks the server on its own. */
  private readonly connectBriefly = once(
    () => createClient({ ...readSettings(this.sources()), ...OF_PREVIEW }).client,
  );
  /** By kind, what to check where nobody has a uid; undefined of one that somebody has, or that cannot be asked for. */
  private readonly absent = new Map<string, DataLoader<string, string | undefined>>();
  private readonly toldOfAll = new Set<string>();
  /** The resource of the operation that is running, for what it tells a person. */
  private readonly current = new AsyncLocalStorage<string>();
  private readonly kinds: ReadonlyMap<string, HandledKind>;

  constructor(private readonly log: Log) {
    const context = createHandlerContext(
      () => this.connect().client,
      (line) => this.tell("warning", line),
    );
    this.kinds = new Map(
      kinds.map(({ spec }) => [spec.kind, { spec, handlers: handlersFor(spec, context) }]),
    );
  }

  private tell(level: LogLevel, line: string): void {
    this.log(level, line, this.current.getStore());
  }

  private sources(): SettingSources {
    const stack = (key: string) => {
      const value = this.configuration[key];
      return value === undefined || value === null
        ? undefined
        : typeof value === "string"
          ? value
          : JSON.stringify(value);
    };
    return { stack, env: this.environment() };
  }

  /** What is wrong with the settings. What a preview does not know yet is not checked. */
  private findWrongSetting(): ConfigError | undefined {
    return Object.values(this.configuration).includes(UNKNOWN) ? undefined : this.wrongSetting();
  }

  /** Runs an operation of a resource, with the properties that the engine sent. */
  private run<T>(
    { urn, type }: RequestedResource,
    sent: readonly Props[],
    operation: (kind: HandledKind, props: readonly Props[]) => Promise<T> | T,
  ): Promise<T> {
    const parsed = parseType(type);
    const kind = parsed?.form === "native" ? this.kinds.get(parsed.kind) : undefined;
    if (kind === undefined) {
      throw new CodedError(
        "PP1106",
        `this version of the plugin has no resource type ${printable(type)}: install the version that the program was written for`,
      );
    }
    const props = sent.map(plain);
    return this.current.run(urn, () =>
      guardErrors(kind.spec, props, () => operation(kind, props)).catch((error: unknown) => {
        if (error instanceof PartialFailure) {
          Object.assign(error, { properties: withMarks(fieldsOf(kind.spec), error.properties, sent) });
        }
        throw error;
      }),
    );
  }

  /** The settings, with those marked that are secret. A wrong one fails where it is needed, as in the stack configuration. */
  checkConfig(news: Props): Props {
    const secret = new Set<string | undefined>(
      definitions.filter(({ isSecret }) => isSecret).map(({ key }) => key),
    );
    return Object.fromEntries(
      Object.entries(news).map(([key, value]) => [key, secret.has(key) ? asSecret(value ?? null) : value]),
    );
  }

  /** Whether settings differ. No difference replaces a resource: its address may only have another name. */
  diffConfig(olds: Props, news: Props): boolean {
    const [before, after] = [plain(olds), plain(news)];
    return definitions.some(({ key = "" }) => before[key] !== after[key]);
  }

  /** @param name of the provider: one that the engine made for a program begins with `default`. */
  configure(args: Props, name = "default"): void {
    this.configuration = plain(args);
    this.isExplicit = !name.startsWith("default");
    const keys = Object.keys(args).map((key) => `platform:${key}`);
    for (const line of listMisspeltSettings(keys, this.environment())) this.tell("warning", line);
  }

  /** The environment; without its credentials for a provider of the program that has one of its own. */
  private environment(): NodeJS.ProcessEnv {
    const { token, tokenFile, identity } = settingDefinitions;
    const credentials = [token, tokenFile, identity];
    const hasOwn = credentials.some(({ key }) => this.configuration[key] !== undefined);
    if (!this.isExplicit || !hasOwn) return process.env;
    const left = credentials.map(({ variable }): string => variable);
    return Object.fromEntries(Object.entries(process.env).filter(([key]) => !left.includes(key)));
  }

  check(
    subject: RequestedResource,
    olds: Props,
    news: Props,
  ): Promise<{ inputs: Props; failures: EngineFailure[] }> {
    return this.run(subject, [olds, news], ({ spec, handlers }, [before = {}, inputs = {}]) => {
      const leftOut = Object.keys(before).length === 0 ? listLeftOut(spec, inputs) : [];
      for (const line of [...leftOut, ...listWarnings(spec, news)]) this.tell("warning", line);
      const checked = checkProgramArguments(handlers, before, inputs, this.findWrongSetting(), (property) =>
        containsMark(news[property]),
      );
      return { ...checked, inputs: withMarks(spec.fields, checked.inputs, [news]) };
    });
  }

  /** Says, in a preview, which uids nobody has: the update would fail. A secret one is never asked for. */
  private async warnOfAbsent(spec: ResourceSpec, news: Props): Promise<void> {
    if (Object.values(this.configuration).includes(UNKNOWN)) return;
    const shown = Object.entries(news).filter(([, value]) => !containsMark(value));
    const asked = uidsOfArguments(spec, Object.fromEntries(shown)).map(async (uid) => {
      const advice = await this.absentOf(uid.kind).load(uid.value);
      if (advice === undefined) return;
      const { property, reason, code } = describeAbsent({ ...uid, advice }, 0);
      this.tell("warning", withCode(`${property}: ${reason}`, code));
    });
    await Promise.all(asked);
  }

  private absentOf(kind: string): DataLoader<string, string | undefined> {
    return getOrCompute(
      this.absent,
      kind,
      () =>
        new DataLoader((uids) => this.findAbsent(kind, uids), {
          batchScheduleFn: (dispatch) => void setTimeout(dispatch, COLLECTED_MS),
        }),
    );
  }

  private async findAbsent(kind: string, uids: readonly string[]): Promise<(string | undefined)[]> {
    try {
      const client = this.connectBriefly();
      const spec = this.kinds.get(kind)?.spec;
      const absent = spec === undefined ? [] : await findAbsent(client, spec, uids);
      return uids.map((uid) => (absent.includes(uid) ? client.addressAdvice : undefined));
    } catch (error) {
      const line = warningOfPreview(error);
      if (line !== undefined && !this.toldOfAll.has(line)) this.log("warning", line, undefined);
      if (line !== undefined) this.toldOfAll.add(line);
      return uids.map(() => undefined);
    }
  }

  diff(subject: RequestedResource, olds: Props, news: Props): Promise<ResourceDifference> {
    return this.run(subject, [olds, news], ({ spec, handlers }, [before = {}, inputs = {}]) => ({
      ...handlers.diff(before, inputs, subject.id),
      properties: diffInputs(spec, before, inputs).properties,
    }));
  }

  create(subject: RequestedResource, news: Props, isPreview: boolean): Promise<{ id: string; outs: Props }> {
    return this.run(subject, [news], async ({ spec, handlers }, [inputs = {}]) => {
      if (isPreview) await this.warnOfAbsent(spec, news);
      const { id, outs } = isPreview
        ? { id: "", outs: foresee(spec, inputs) }
        : toPlainJson(await handlers.create(inputs));
      return { id, outs: withMarks(fieldsOf(spec), outs, [news]) };
    });
  }

  /** An import has no recorded inputs: it takes for arguments what a program would declare. */
  read(
    subject: RequestedResource,
    state: Props,
    recordedInputs: Props | undefined,
  ): Promise<{ id?: string; outs: Props; inputs: Props }> {
    const sent = [state, recordedInputs ?? {}];
    return this.run(subject, sent, async ({ spec, handlers }, [olds = {}]) => {
      const { id, props = {}, inputs = {} } = toPlainJson(await handlers.read(subject.id ?? "", olds));
      const found = { outs: props, inputs };
      if (recordedInputs === undefined) {
        found.inputs = declaredFields(spec.fields, inputs);
        const added = Object.entries(props).filter(([key]) => !Object.hasOwn(spec.fields, key));
        found.outs = { ...found.inputs, ...Object.fromEntries(added) };
      }
      const isImported = recordedInputs === undefined || olds[IMPORTED] === true;
      const outs = isImported ? { ...found.outs, [IMPORTED]: true } : found.outs;
      return {
        ...(id === undefined ? {} : { id }),
        outs: withMarks(fieldsOf(spec), outs, sent),
        inputs: withMarks(spec.fields, found.inputs, sent),
      };
    });
  }

  update(subject: RequestedResource, olds: Props, news: Props, isPreview: boolean): Promise<Props> {
    return this.run(subject, [olds, news], async ({ spec, handlers }, [before = {}, inputs = {}]) => {
      if (isPreview) await this.warnOfAbsent(spec, news);
      const outs = isPreview
        ? foresee(spec, inputs)
        : toPlainJson(await handlers.update(subject.id ?? "", before, inputs));
      return withMarks(fieldsOf(spec), outs, [news]);
    });
  }

  delete(subject: RequestedResource, olds: Props): Promise<void> {
    return this.run(subject, [olds], ({ handlers }, [before = {}]) =>
      handlers.delete(subject.id ?? "", before),
    );
  }

  /** Answers a lookup. A function of the engine returns an object: a list is its member `items`. */
  async invoke(token: string, args: Props): Promise<Props> {
    const lookup = lookups.get(token.replace(/^platform:index:/, ""));
    if (lookup === undefined)
      throw new CodedError(
        "PP1106",
        `this version of the plugin has no function ${printable(token)}: install the version that the program was written for`,
      );
    const found = toPlainJson(await runLookup(lookup, plain(args), () => this.connect())) as Json;
    const { kind } = lookup.spec ?? {};
    for (const { uid } of [found].flat() as Props[])
      if (kind !== undefined && typeof uid === "string") this.absentOf(kind).prime(uid, undefined);
    const result = (Array.isArray(found) ? { items: found } : found) as Props;
    if (!containsMark(args)) return result;
    return Object.fromEntries(Object.entries(result).map(([key, value]) => [key, asSecret(value ?? null)]));
  }
}
