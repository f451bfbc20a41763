import { logLine } from "./text/printable";
import { createClient, readSettings, findWrongSetting } from "./settings/settings";
import type { SettingSources } from "./settings/settings";
import { kinds } from "./kinds";
import { createHandlerContext } from "./lifecycle/context";
import type { CreateResult } from "./lifecycle/create";
import { checkProgramArguments, handlersFor } from "./lifecycle/handlers";
import type { DiffResult, EngineFailure, Handlers } from "./lifecycle/handlers";
import { guardErrors, PartialFailure } from "./lifecycle/messages";
import type { ReadResult } from "./lifecycle/read";
import type { ResourceSpec } from "./fields/resourceSpec";
import { once, PROVIDER_TEXT, toPlainJson } from "./fields/values";
import type { Props } from "./fields/values";

/*
 * The entry of the engine's provider process. The text in every state names this module and these
 * exports ("pulumi-platform/dynamic", one export per kind) for as long as the state lives: neither
 * may ever be renamed.
 */

/** How the process hands over stack configuration: keys as in `platform:baseUrl`. */
interface Configuration {
  get(key: string): string | undefined;
}

/** The interface that the engine's Node process calls. */
interface DynamicProvider {
  configure(request: { config: Configuration }): Promise<void>;
  check(olds: Props, news: Props): Promise<{ inputs: Props; failures: EngineFailure[] }>;
  diff(id: string, olds: Props, news: Props): Promise<DiffResult>;
  create(inputs: Props): Promise<CreateResult>;
  read(id: string, olds: Props): Promise<ReadResult>;
  update(id: string, olds: Props, news: Props): Promise<{ outs: Props }>;
  delete(id: string, olds: Props): Promise<void>;
}

let configuration: Configuration = { get: () => undefined };

const sources = (): SettingSources => ({
  stack: (key) => configuration.get(`platform:${key}`),
  env: process.env,
});

/** Built at first use: where nothing is called, nothing needs to be configured. */
const connect = once(() => createClient(readSettings(sources())).client);

const warn = (line: string): void => void process.stderr.write(`platform: ${logLine(line)}\n`);

const context = createHandlerContext(connect, warn);

/** Found once: the engine checks every resource of a program. */
const wrongSetting = once(() => findWrongSetting(sources()));

/** As `guardErrors`; a resource that exists in part keeps the text that names its code. */
async function guard<T>(
  spec: ResourceSpec,
  stored: unknown,
  properties: readonly Props[],
  action: () => Promise<T> | T,
): Promise<T> {
  try {
    return await guardErrors(spec, properties, action);
  } catch (error) {
    if (error instanceof PartialFailure) {
      Object.assign(error, { properties: toPlainJson({ ...error.properties, [PROVIDER_TEXT]: stored }) });
    }
    throw error;
  }
}

function createProvider(spec: ResourceSpec): DynamicProvider {
  const handlers: Handlers = handlersFor(spec, context);
  return {
    // The engine awaits the first call only: what a later call is given is stored at once.
    configure: ({ config }) => {
      configuration = config;
      return Promise.resolve();
    },
    check: (olds, news) =>
      // What the program has not found itself is the value of an output, of which nobody here can say whether it is secret.
      guard(spec, undefined, [olds, news], () =>
        checkProgramArguments(handlers, olds, news, wrongSetting(), () => true),
      ),
    diff: (id, olds, news) =>
      guard(spec, undefined, [olds, news], () => {
        const difference = handlers.diff(olds, news, id);
        // The native plugin recorded it, without the text: an update that sends nothing writes the text, and a refresh works.
        const lacksText = olds[PROVIDER_TEXT] === undefined && difference.changes === false;
        return toPlainJson(lacksText ? { ...difference, changes: true } : difference);
      }),
    create: (inputs) =>
      guard(spec, inputs[PROVIDER_TEXT], [inputs], async () => toPlainJson(await handlers.create(inputs))),
    read: (id, olds) =>
      guard(spec, undefined, [olds], async () => toPlainJson(await handlers.read(id, olds))),
    update: (id, olds, news) =>
      guard(spec, news[PROVIDER_TEXT], [olds, news], async () => ({
        outs: toPlainJson(await handlers.update(id, olds, news)),
      })),
    delete: (id, olds) => guard(spec, undefined, [olds], () => handlers.delete(id, olds)),
  };
}

const providers: Readonly<Record<string, DynamicProvider>> = Object.fromEntries(
  kinds.map(({ spec }) => [spec.kind, createProvider(spec)]),
);

export = providers;
