import * as pulumi from "@pulumi/pulumi";
import type * as authModule from "../api/auth";
import type * as clientModule from "../api/client";
import { readSettings } from "../config";

/**
 * A client for one lookup of a program, from its stack configuration and environment. The HTTP
 * library takes a noticeable part of a program's start, so it is loaded by the first lookup, not with
 * the package; `import()` is no way to do that under test runners that have their own loader.
 */
export function connect(): clientModule.Client {
  const config = new pulumi.Config("platform");
  const settings = readSettings({ stack: (key) => config.get(key), env: process.env });
  /* eslint-disable @typescript-eslint/no-require-imports -- see above */
  const { Client } = require("../api/client") as typeof clientModule;
  const { tokenSource } = require("../api/auth") as typeof authModule;
  /* eslint-enable @typescript-eslint/no-require-imports */
  return new Client({
    ...settings,
    tokens: tokenSource(settings.credentials),
    log: settings.debug ? (line) => process.stderr.write(`platform: ${line}\n`) : undefined,
  });
}
