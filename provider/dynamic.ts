import { withCode } from "./errors/codedError";
import type { Client } from "./http/client";
import { logLine } from "./text/printable";
import { createClient, readSettings } from "./settings/settings";
import { kinds } from "./kinds";
import { KeyedMutex } from "./lifecycle/context";
import type { HandlerContext } from "./lifecycle/context";
import type { CreateResult } from "./lifecycle/create";
import { handlersFor } from "./lifecycle/handlers";
import type { DiffResult, Handlers } from "./lifecycle/handlers";
import { explain, HandlerError, registerSecretsOf, PartialFailure, showCode } from "./lifecycle/messages";
import { ProgramRecord } from "./lifecycle/programRecord";
import type { ReadResult } from "./lifecycle/read";
import type { ResourceSpec } from "./fields/resourceSpec";
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

/** What the engine prints of an argument that is wrong; the reason ends with its code. */
interface EngineFailure {
  readonly property: string;
  readonly reason: string;
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
let client: Client | undefined;

/** Built at first use: where nothing is called, nothing needs to be configured. */
function connect(): Client {
  if (!client) {
    const settings = readSettings({
      stack: (key) => configuration.get(`platform:${key}`),
      env: process.env,
    });
    ({ client } = createClient(settings));
  }
  return client;
}

const context: HandlerContext = {
  client: connect,
  mutex: new KeyedMutex(),
  program: new ProgramRecord(),
  now: Date.now,
  warn: (line) => process.stderr.write(`platform: ${logLine(line)}\n`),
  sleep: (ms) => new Promise((resolve) => setTimeout(resolve, ms)),
};

/** The engine takes plain JSON only; an `undefined` anywhere is an error there. */
function toPlainJson<T>(value: T): T {
  return JSON.parse(JSON.stringify(value)) as T;
}

/**
 * Whatever leaves this process as an error is one of ours: the engine prints stacks, and stores an
 * error that happens to have an `id` as a created resource.
 */
async function guardErrors<T>(
  spec: ResourceSpec,
  stored: unknown,
  properties: readonly Props[],
  action: () => Promise<T> | T,
): Promise<T> {
  try {
    registerSecretsOf(spec, ...properties);
    return await action();
  } catch (error) {
    const shown = showCode(error instanceof HandlerError ? error : explain(spec, spec.noun, error, []));
    if (shown instanceof PartialFailure) {
      Object.assign(shown, { properties: toPlainJson({ ...shown.properties, __provider: stored }) });
    }
    throw shown;
  }
}

function createProvider(spec: ResourceSpec): DynamicProvider {
  const handlers: Handlers = handlersFor(spec, context);
  return {
    // Only the first caller is awaited, so everything is captured before the first await.
    configure: ({ config }) => {
      configuration = config;
      return Promise.resolve();
    },
    check: (olds, news) =>
      guardErrors(spec, undefined, [olds, news], () => ({
        inputs: news,
        failures: handlers.check(olds, news).map(({ property, reason, code }) =>
          // Beside a property that has no value of its own the engine would print `{<nil>}`.
          property === "" || Object.hasOwn(news, property)
            ? { property, reason: withCode(reason, code) }
            : { property: "", reason: withCode(`${property} ${reason}`, code) },
        ),
      })),
    diff: (id, olds, news) =>
      guardErrors(spec, undefined, [olds, news], () => toPlainJson(handlers.diff(olds, news, id))),
    create: (inputs) =>
      guardErrors(spec, inputs["__provider"], [inputs], async () =>
        toPlainJson(await handlers.create(inputs)),
      ),
    read: (id, olds) =>
      guardErrors(spec, undefined, [olds], async () => toPlainJson(await handlers.read(id, olds))),
    update: (id, olds, news) =>
      guardErrors(spec, news["__provider"], [olds, news], async () => ({
        outs: toPlainJson(await handlers.update(id, olds, news)),
      })),
    delete: (id, olds) => guardErrors(spec, undefined, [olds], () => handlers.delete(id, olds)),
  };
}

const providers: Readonly<Record<string, DynamicProvider>> = Object.fromEntries(
  kinds.map(({ spec }) => [spec.kind, createProvider(spec)]),
);

export = providers;
