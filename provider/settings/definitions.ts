/** One setting: where it is read from, and what docs/settings.md says about it. */
export interface SettingDefinition {
  /** The key in the stack configuration, without `platform:`. */
  readonly key?: string;
  /** The environment variable. */
  readonly variable?: string;
  readonly type: string;
  /** The limits of a whole number. */
  readonly min?: number;
  readonly max?: number;
  /** The value where the setting is absent, or how it is derived. */
  readonly fallback?: string | number | boolean;
  readonly isSecret?: true;
  readonly text: string;
}

/** Every setting. A name that is not in this list cannot be read: see `inStack` and `inEnvironment`. */
export const settingDefinitions = {
  baseUrl: {
    key: "baseUrl",
    variable: "PLATFORM_BASE_URL",
    type: "address",
    text: "The address of the API, required. `http` is allowed on loopback only.",
  },
  allowInsecure: {
    key: "allowInsecure",
    type: "`true` or `false`",
    fallback: false,
    text: "`true` allows `http` to any host: the network then sees the token.",
  },
  timeout: {
    key: "timeout",
    variable: "PLATFORM_TIMEOUT",
    type: "duration: `500ms`, `30s`, `2m`; at most `60m`",
    fallback: "60s",
    text: "The limit for one attempt, to the last byte of the response.",
  },
  maxRetries: {
    key: "maxRetries",
    variable: "PLATFORM_MAX_RETRIES",
    type: "whole number",
    min: 0,
    max: 20,
    fallback: 5,
    text: "How often a request is repeated after its first attempt.",
  },
  maxConcurrency: {
    key: "maxConcurrency",
    variable: "PLATFORM_MAX_CONCURRENCY",
    type: "whole number",
    min: 1,
    max: 256,
    fallback: 8,
    text: "How many requests are under way at once.",
  },
  batching: {
    key: "batching",
    variable: "PLATFORM_BATCHING",
    type: "`true` or `false`",
    fallback: true,
    text: "`false`: each read and each create has a request of its own.",
  },
  log: {
    variable: "PLATFORM_LOG",
    type: "`debug`",
    text: "`debug` prints a line per request, never a secret.",
  },
  token: {
    key: "token",
    variable: "PLATFORM_TOKEN",
    type: "string",
    isSecret: true,
    text: "An access token.",
  },
  tokenFile: {
    key: "tokenFile",
    variable: "PLATFORM_TOKEN_FILE",
    type: "path",
    text: "A file that holds an access token. It is read again for each request.",
  },
  identity: {
    key: "identity",
    variable: "PLATFORM_IDENTITY",
    type: "uid",
    text: "The identity to assume: an OIDC token is exchanged for an access token of it.",
  },
  oidcToken: {
    variable: "PLATFORM_OIDC_TOKEN",
    type: "string",
    isSecret: true,
    text: "The OIDC token that is exchanged.",
  },
  oidcTokenFile: {
    key: "oidcTokenFile",
    variable: "PLATFORM_OIDC_TOKEN_FILE",
    type: "path",
    text: "A file that holds the OIDC token. It is read again for each exchange.",
  },
  issuerUrl: {
    key: "issuerUrl",
    variable: "PLATFORM_ISSUER_URL",
    type: "address",
    text: "The token issuer of your deployment, required for an exchange.",
  },
  audience: {
    key: "audience",
    variable: "PLATFORM_AUDIENCE",
    type: "string",
    fallback: "the API's address",
    text: "What the access token of an exchange is for.",
  },
  oidcAudience: {
    key: "oidcAudience",
    variable: "PLATFORM_OIDC_AUDIENCE",
    type: "string",
    fallback: "the issuer's host",
    text: "What the OIDC token of GitHub Actions is for: the audience that the identity's `claimMatch` expects, if it names one.",
  },
} as const satisfies Readonly<Record<string, SettingDefinition>>;

type Definitions = (typeof settingDefinitions)[keyof typeof settingDefinitions];

export type StackKey = Extract<Definitions, { key: string }>["key"];
export type EnvironmentVariable = Extract<Definitions, { variable: string }>["variable"];
