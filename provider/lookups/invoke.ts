import { getLookupsOfRun, lineOf } from "../program/argumentErrors";
import { rememberUids } from "../program/uidSources";
import * as pulumi from "../program/sdk";
import type * as settingsModule from "../settings/settings";
import { CodedError, errorCodeOf, errorMessage, withCode } from "../errors/codedError";
import type { ErrorCode } from "../errors/registry";
import { getOrCompute } from "../fields/values";
import type { Client } from "../http/client";
import type { ResourceSpec } from "../fields/resourceSpec";
import { ApiError, ConfigError, describeDetails, isRefusalOfApi } from "../http/errors";
import { logLines } from "../text/printable";
import { checkArguments, querySizeProblem } from "./arguments";
import type { ArgumentTable, LookupInputs } from "./arguments";

/** What the lookups of one run with the same settings share. */
export interface RunSession {
  readonly client: Client;
  /** The same lookup is sent once. */
  readonly responses: Map<string, Promise<unknown>>;
  /** Outside of a program's run, every response is forgotten. */
  readonly keepsResponses: boolean;
}

/** By their settings. */
const getSessionsOfRun = pulumi.createPerRun(() => new Map<string, RunSession>());

/**
 * The settings and the HTTP library take a noticeable part of a program's start, so the first lookup loads them, not the
 * package; `import()` is no way to do that under test runners that have their own loader.
 */
function load(): typeof settingsModule {
  // eslint-disable-next-line @typescript-eslint/no-require-imports -- see above
  return require("../settings/settings") as typeof settingsModule;
}

function settingsOfRun(): settingsModule.SettingSources {
  const config = new pulumi.Config("platform");
  return { stack: (key) => config.get(key), env: process.env };
}

/** The session of the program that is running, by its stack configuration and environment as they are now. */
function sessionOfRun(): RunSession {
  const { readSettings, createClient } = load();
  const settings = readSettings(settingsOfRun());
  return getOrCompute(getSessionsOfRun(), JSON.stringify(settings), () => ({
    client: createClient(settings).client,
    responses: new Map(),
    keepsResponses: pulumi.getMonitor() !== undefined,
  }));
}

/** What a preview asks on its own: once, and briefly. */
export const OF_PREVIEW = { maxRetries: 0, timeoutMs: 5000 };

const getPreviewClientOfRun = pulumi.createPerRun((): { client?: Client } => ({}));

/** What a run has said of requests that failed, by code, and the lookups that may still say something: one cause is said once. */
const getCodesSaidInRun = pulumi.createPerRun(() => new Set<ErrorCode>());
/** What failed for all lookups alike. The runtime prints one error object once, whoever throws it. */
const getSharedErrorsOfRun = pulumi.createPerRun(() => new Map<ErrorCode, LookupError>());
/** The settings, the connection, the address and the token are the same for all lookups. */
const isSharedCause = (code: ErrorCode): boolean =>
  code.startsWith("PP2") || ["PP3401", "PP3404", "PP3407"].includes(code);

/** Whether this run says it for the first time. */
function sayFirst(error: unknown): boolean {
  const codes = getCodesSaidInRun();
  const isFirst = !codes.has(errorCodeOf(error));
  codes.add(errorCodeOf(error));
  return isFirst;
}

/**
 * Asks the server what a preview can do without. That the token may not read is not said; what would fail the update as
 * well is a warning, unless a lookup fails for it too.
 */
export async function tryInPreview<T>(ask: (client: Client) => Promise<T>, otherwise: T): Promise<T> {
  try {
    const { readSettings, createClient } = load();
    const ofRun = getPreviewClientOfRun();
    ofRun.client ??= createClient({ ...readSettings(settingsOfRun()), ...OF_PREVIEW }).client;
    return await ask(ofRun.client);
  } catch (error) {
    const line = warningOfPreview(error);
    if (line === undefined || pulumi.isMocked()) return otherwise;
    await Promise.allSettled(getLookupsOfRun().underWay);
    if (sayFirst(error)) void pulumi.log.warn(line);
    return otherwise;
  }
}

/** What a preview says where the server does not answer what it asks on its own; undefined where an update may well work. */
export function warningOfPreview(error: unknown): string | undefined {
  const isRefused = isRefusalOfApi(error) && error.code !== "UNAUTHENTICATED";
  // The first resource's check says what is wrong with a setting that is there.
  const isSaid = error instanceof ConfigError && !load().isMissingSetting(error);
  if (isRefused || isSaid) return undefined;
  const line = `the API cannot be asked: ${errorMessage(error)}; an update would fail, and no uid is looked up`;
  return withCode(logLines(line), errorCodeOf(error));
}

/**
 * A lookup that found nothing or several objects, or got wrong arguments. The message names what to do; the engine prints
 * it without a stack.
 */
export class LookupError extends pulumi.RunError {
  override readonly name = "LookupError";
  readonly code = "LOOKUP";

  constructor(
    readonly errorCode: ErrorCode,
    message: string,
  ) {
    super(withCode(logLines(message), errorCode));
    // An unhandled rejection is printed with its stack.
    this.stack = this.message;
  }
}

/** What a lookup is called, what it takes, and how it runs. */
export interface Lookup<A extends object, R> {
  readonly call: string;
  /** The kind of what it returns. */
  readonly spec?: ResourceSpec;
  readonly takes: ArgumentTable<A>;
  /** What is wrong with arguments that are right one by one. */
  readonly problem?: (args: A) => string | undefined;
  readonly run: (client: Client, args: A) => Promise<R>;
}

/**
 * Runs a lookup: the same one sends its requests once in a program's run. Whatever goes wrong names the call and prints
 * without a stack.
 *
 * @param place The call, for its line in the program.
 */
export async function runLookup<A extends object, R>(
  lookup: Lookup<A, R>,
  args: A,
  findSession: () => RunSession = sessionOfRun,
  place?: Error,
): Promise<R> {
  try {
    const checked = checkArguments(lookup.call, lookup.takes, args);
    const problem = lookup.problem?.(checked) ?? querySizeProblem(lookup.takes, checked);
    if (problem !== undefined) throw new CodedError("PP1201", problem);
    const { client, responses, keepsResponses } = findSession();
    const question = `${lookup.call} ${JSON.stringify(checked)}`;
    let response = responses.get(question) as Promise<R> | undefined;
    if (response === undefined) {
      response = lookup.run(client, checked);
      responses.set(question, response);
      const forget = () => void responses.delete(question);
      response.then(keepsResponses ? undefined : forget, forget);
    }
    // Each caller gets a copy, so that one cannot change the result of another.
    return structuredClone(await response);
  } catch (error) {
    sayFirst(error);
    const code = errorCodeOf(error);
    const describe = (line: string) =>
      [`${line}${lookup.call}: ${errorMessage(error)}`, ...listErrorDetails(error)].join("\n  ");
    // Outside of a program's run there is no program whose line it could be.
    if (place === undefined || pulumi.getMonitor() === undefined) throw new LookupError(code, describe(""));
    silenceLateHandling();
    const shared = getSharedErrorsOfRun();
    const failure = shared.get(code) ?? new LookupError(code, describe(lineOf(place)));
    if (isSharedCause(code)) shared.set(code, failure);
    // The check of a resource finds the same.
    if (error instanceof ConfigError) getLookupsOfRun().wrongSetting = error.errorCode;
    throw failure;
  }
}

/** The runtime handles the promises that a program exports at its end: without a listener, Node warns of that below the error. */
function silenceLateHandling(): void {
  const event = "rejectionHandled";
  if (process.listenerCount(event) === 0) process.on(event, () => undefined);
}

/** A lookup as programs call it: without arguments, with some that may all be left out, or with some that must be given. */
type Call<A, R> = keyof A extends never ? () => R : Partial<A> extends A ? (args?: A) => R : (args: A) => R;

/** Names a function after its lookup, for stack traces. */
function withName<F extends (...args: never) => unknown>(name: string, call: F): F {
  return Object.defineProperty(call, "name", { value: name });
}

/** Every lookup that has functions, by its name. */
export const lookups = new Map<string, Lookup<object, unknown>>();

/** The two functions of a lookup: `output` takes outputs of resources, and returns one. */
export function functionsOf<A extends object, R>(
  lookup: Lookup<A, R>,
): {
  readonly call: Call<A, Promise<R>>;
  readonly output: Call<LookupInputs<A>, pulumi.Output<R>>;
} {
  lookups.set(lookup.call, lookup as unknown as Lookup<object, unknown>);
  const run = async (args: A, place: Error) => {
    const running = runLookup(lookup, args, sessionOfRun, place);
    const { underWay } = getLookupsOfRun();
    underWay.add(running);
    const found = await running.finally(() => underWay.delete(running));
    if (lookup.spec !== undefined) rememberUids(lookup.spec, found);
    return found;
  };
  const call = (args = {} as A) => {
    getLookupsOfRun().areCalled = true;
    return run(args, new Error());
  };
  const output = (args = {} as LookupInputs<A>) => {
    const place = new Error();
    getLookupsOfRun().areCalled = true;
    return pulumi.all([args as object]).apply(([resolved]) => run(resolved as A, place));
  };
  return {
    call: withName(lookup.call, call),
    output: withName(`${lookup.call}Output`, output),
  };
}

/** A line for each detail that the message does not contain. */
function listErrorDetails(error: unknown): string[] {
  if (!(error instanceof ApiError)) return [];
  const lines = describeDetails(error).filter((line) => !error.serverMessage.includes(line));
  return error.requestId === "" ? lines : [...lines, `request id: ${error.requestId}`];
}
