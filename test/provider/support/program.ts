import * as pulumi from "@pulumi/pulumi";
import { ScriptedServer, TOKEN } from "./server";

/** A program's surroundings: a stack configuration that names a scripted server, and no environment. */
export class ProgramContext {
  private scripted: ScriptedServer | undefined;
  private readonly environment = { ...process.env };

  get server(): ScriptedServer {
    if (!this.scripted) throw new Error("the server is not started");
    return this.scripted;
  }

  /** Call once in the body of a test file. */
  install(): this {
    beforeAll(async () => {
      this.scripted = await ScriptedServer.start();
    });
    beforeEach(() => {
      for (const key of Object.keys(process.env)) {
        if (key.startsWith("PLATFORM_")) Reflect.deleteProperty(process.env, key);
      }
      this.configure();
    });
    afterEach(() => {
      process.env = { ...this.environment };
    });
    afterAll(() => this.server.close());
    return this;
  }

  configure(settings: Readonly<Record<string, string>> = {}): void {
    pulumi.runtime.setAllConfig({
      "platform:baseUrl": this.server.url,
      "platform:token": TOKEN,
      "platform:maxRetries": "0",
      ...settings,
    });
  }
}

interface OutputParts<T> {
  promise(): Promise<T>;
  allResources(): Promise<unknown>;
  readonly isKnown: Promise<boolean>;
  readonly isSecret: Promise<boolean>;
}

/** The value of an output, or the error that it ends in. */
export function resolved<T>(output: pulumi.Output<T>): Promise<T> {
  const parts = output as unknown as OutputParts<T>;
  // Each part ends in the same error; one is enough.
  for (const part of [parts.isKnown, parts.isSecret, parts.allResources()]) part.catch(() => undefined);
  return parts.promise();
}
