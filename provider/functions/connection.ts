import * as pulumi from "../engine/program/sdk";
import type { Client } from "../api/client";
import type * as settingsModule from "../settings/settings";
import type * as createClientModule from "../settings/createClient";

/**
 * The responses of this run: the same lookup is sent once. Failures are forgotten, and outside of
 * a program's run so is every response.
 */
export class RequestCache {
  private readonly responses = new Map<string, Promise<unknown>>();

  constructor(private readonly keeps: boolean) {}

  share<T>(question: string, ask: () => Promise<T>): Promise<T> {
    const known = this.responses.get(question);
    if (known) return known as Promise<T>;
    const response = ask();
    this.responses.set(question, response);
    const forget = () => void this.responses.delete(question);
    response.then(this.keeps ? undefined : forget, forget);
    return response;
  }
}

/** What the lookups of one run with the same settings share. */
export interface Session {
  readonly client: Client;
  readonly cache: RequestCache;
}

/** By the run's connection to the engine: one process may run several programs, or one program again. */
const sessions = new WeakMap<object, Map<string, Session>>();
const NO_RUN = {};

/**
 * The settings and the HTTP library take a noticeable part of a program's start, so the first lookup loads them, not the
 * package; `import()` is no way to do that under test runners that have their own loader.
 */
function load(): Pick<typeof settingsModule, "readSettings"> &
  Pick<typeof createClientModule, "createClient"> {
  /* eslint-disable @typescript-eslint/no-require-imports -- see above */
  const { readSettings } = require("../settings/settings") as typeof settingsModule;
  const { createClient } = require("../settings/createClient") as typeof createClientModule;
  /* eslint-enable @typescript-eslint/no-require-imports */
  return { readSettings, createClient };
}

/** The session of the program that is running, by its stack configuration and environment as they are now. */
export function connect(): Session {
  const { readSettings, createClient } = load();
  const config = new pulumi.Config("platform");
  const settings = readSettings({ stack: (key) => config.get(key), env: process.env });
  const run = pulumi.getMonitor() ?? NO_RUN;
  const ofRun = sessions.get(run) ?? new Map<string, Session>();
  sessions.set(run, ofRun);
  const key = JSON.stringify(settings);
  const session = ofRun.get(key) ?? {
    client: createClient(settings).client,
    cache: new RequestCache(run !== NO_RUN),
  };
  ofRun.set(key, session);
  return session;
}
