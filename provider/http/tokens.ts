import { readFile } from "node:fs/promises";
import { describeFileError } from "../text/files";
import { tryParseJson } from "../text/plain";
import type { JsonObject } from "./client";
import { registerCredential, printable } from "../text/printable";
import { ApiError, AuthenticationError, ConfigError, ConnectionError, printableMessage } from "./errors";
import { dateOf, Transport } from "./transport";
import type { HttpResponse } from "./transport";

/** Where the OIDC token for an exchange comes from. `setting` is the name that messages give. */
export type OidcSource =
  | { readonly kind: "token"; readonly token: string; readonly setting: string }
  | { readonly kind: "file"; readonly path: string; readonly setting: string }
  /** GitHub Actions mints one for each exchange: `requestUrl` returns it to the bearer `requestToken`. */
  | {
      readonly kind: "github";
      readonly requestUrl: string;
      readonly requestToken: string;
      /** What the token is to be for. */
      readonly audience: string;
      readonly setting: string;
    };

/** An OIDC token that is exchanged for an access token of an identity. */
export interface ExchangeCredentials {
  readonly kind: "exchange";
  /** Absolute, without a trailing slash. */
  readonly issuerUrl: string;
  /** The setting that decides it. */
  readonly issuerSetting: string;
  /** What the access token is to be for. */
  readonly audience: string;
  /** The uid of the identity to assume. */
  readonly identity: string;
  readonly oidc: OidcSource;
  /** As in "PLATFORM_IDENTITY with PLATFORM_OIDC_TOKEN_FILE". */
  readonly setting: string;
}

/** Where the bearer token comes from. `setting` is the name that messages give. */
export type Credentials =
  | { readonly kind: "token"; readonly token: string; readonly setting: string }
  | { readonly kind: "tokenFile"; readonly path: string; readonly setting: string }
  | ExchangeCredentials;

/** Gives the token for a request. Never keeps what could have gone stale. */
export interface TokenSource {
  token(): Promise<string>;
  /** Whether another token may be had after a 401 for `refused`. */
  renew(refused: string): Promise<boolean>;
  /**
   * Exchanges anew now, however young the token is: what an exchange grants is settled when it is made, so a token
   * may know nothing of a root group that was made since. The exchange begins after the call; calls that
   * come together share one. Left out where there is no exchange.
   *
   * @throws what `token()` throws when the exchange fails; the old token is kept.
   */
  refresh?(): Promise<void>;
  /** When the token that `token()` gave last ends, where an exchange said so. */
  expiry?(): Date | undefined;
  /** The setting that holds the token; undefined where it is exchanged. */
  readonly setting?: string;
}

interface TokenSourceOptions {
  /** For one attempt of an exchange. */
  readonly timeoutMs: number;
  /** Takes one line a request. */
  readonly log?: (line: string) => void;
}

/** The source for credentials; nothing is read or exchanged before the first `token()`. */
export function tokenSource(
  credentials: Credentials,
  options: TokenSourceOptions = { timeoutMs: 60_000 },
): TokenSource {
  switch (credentials.kind) {
    case "token": {
      const { token, setting } = credentials;
      return {
        setting,
        token: () => Promise.resolve().then(() => parseToken(token, setting, ACCESS_TOKEN)),
        renew: () => Promise.resolve(false),
      };
    }
    case "tokenFile": {
      const { path, setting } = credentials;
      return {
        setting,
        token: () => readTokenFile(path, setting, ACCESS_TOKEN),
        renew: async (refused) => (await readTokenFile(path, setting, ACCESS_TOKEN)) !== refused,
      };
    }
    case "exchange":
      return new Exchange(credentials, options);
  }
}

/**
 * Refuses a token that no server takes, where it is given itself and in no file. Whether it has expired is for the server to
 * say: this machine's clock may be wrong.
 */
export function checkGivenToken(credentials: Credentials): void {
  const { kind, ...given } = credentials.kind === "exchange" ? credentials.oidc : credentials;
  if (kind !== "token" || !("token" in given)) return;
  const wanted = credentials.kind === "token" ? ACCESS_TOKEN : OIDC_TOKEN;
  parseToken(given.token, given.setting, wanted);
}

/** An access token, and until when to use it. Times are those of `performance.now()`. */
interface Session {
  readonly token: string;
  readonly refreshToken: string;
  /** As the issuer says it. */
  readonly expiry: Date | undefined;
  /** From here on another one is asked for. */
  readonly renewAt: number;
  /** From here on it is not sent any more. */
  readonly endsAt: number;
}

/** A `Date` header has whole seconds. */
const DATE_RESOLUTION_MS = 1000;
const LONGEST_MARGIN_MS = 60_000;

const text = (value: unknown): string => (typeof value === "string" ? value : "");

/**
 * Access tokens for an OIDC token: kept in memory, renewed before they end, one exchange in flight.
 *
 * How long a token lives is measured between the response's own `Date` and `expiry`, so this machine's clock may be wrong.
 */
class Exchange implements TokenSource {
  private readonly issuer: Transport;
  private session: Session | undefined;
  private underWay: Promise<Session> | undefined;

  constructor(
    private readonly credentials: ExchangeCredentials,
    private readonly options: TokenSourceOptions,
  ) {
    this.issuer = new Transport({
      ...options,
      baseUrl: credentials.issuerUrl,
      name: "the token issuer",
      setting: credentials.issuerSetting,
      maxSockets: 1,
    });
  }

  async token(): Promise<string> {
    const { session } = this;
    if (session && performance.now() < session.renewAt) return session.token;
    try {
      return (await this.nextSession(true)).token;
    } catch (error) {
      // Whatever the reason may be gone before the token ends.
      if (session === undefined || performance.now() >= session.endsAt) throw error;
      this.options.log?.(
        `the token in use is kept, since it could not be renewed: ${printableMessage(error)}`,
      );
      return session.token;
    }
  }

  async renew(refused: string): Promise<boolean> {
    if (this.session === undefined || this.session.token === refused) await this.nextSession(false);
    return true;
  }

  async refresh(): Promise<void> {
    // One that is under way may have begun before what it is to know of.
    await this.underWay?.catch(() => undefined);
    await this.nextSession(false);
  }

  expiry(): Date | undefined {
    return this.session?.expiry;
  }

  /** The session after this one: the one that is being made, or else a new one. */
  private nextSession(byRefreshToken: boolean): Promise<Session> {
    this.underWay ??= this.createSession(byRefreshToken)
      .then((session) => (this.session = session))
      .finally(() => (this.underWay = undefined));
    return this.underWay;
  }

  private async createSession(byRefreshToken: boolean): Promise<Session> {
    const refreshToken = byRefreshToken ? text(this.session?.refreshToken) : "";
    if (refreshToken !== "") {
      try {
        return await this.exchangeRefreshToken(refreshToken);
      } catch {
        // Whatever the reason: a new exchange either works or tells its own.
      }
    }
    return await this.exchangeOidcToken(await this.oidcToken());
  }

  private async exchangeRefreshToken(refreshToken: string): Promise<Session> {
    const sentAt = performance.now();
    const { response, body } = await this.post("/sts/exchange_refresh_token", refreshToken, {});
    const member = (name: string): JsonObject => (body[name] ?? {}) as JsonObject;
    return this.sessionOf(sentAt, response, {
      token: member("token")["token"],
      expiry: member("token")["expiry"],
      refreshToken: text(member("refreshToken")["token"]) || refreshToken,
    });
  }

  private async exchangeOidcToken(oidcToken: string): Promise<Session> {
    const { audience, identity } = this.credentials;
    const sentAt = performance.now();
    try {
      const form = { aud: audience, identity };
      const { response, body } = await this.post("/sts/exchange", oidcToken, form);
      return this.sessionOf(sentAt, response, body);
    } catch (error) {
      throw this.explainFailure(error, oidcToken);
    }
  }

  private async post(
    path: string,
    bearer: string,
    form: Record<string, string>,
  ): Promise<{ response: HttpResponse; body: JsonObject }> {
    const call = { method: "POST", path } as const;
    const response = await this.issuer.send({
      ...call,
      body: new URLSearchParams(form).toString(),
      headers: { Authorization: `Bearer ${bearer}`, "Content-Type": "application/x-www-form-urlencoded" },
      attempt: 1,
    });
    return { response, body: this.issuer.read(call, response) };
  }

  private sessionOf(
    sentAt: number,
    response: HttpResponse,
    { token, refreshToken, expiry }: { token?: unknown; refreshToken?: unknown; expiry?: unknown },
  ): Session {
    if (typeof token !== "string" || !/^[\x21-\x7e]+$/.test(token)) {
      throw this.issuer.unexpectedResponse(
        { method: "POST", path: "/sts/exchange" },
        "its response has no token",
      );
    }
    registerCredential(token);
    registerCredential(text(refreshToken));
    const ends = Date.parse(text(expiry));
    const life = ends - dateOf(response) - DATE_RESOLUTION_MS;
    // Without a time that makes sense it is used until it is refused.
    const isKnown = life > 0;
    return {
      token,
      refreshToken: text(refreshToken),
      expiry: Number.isNaN(ends) ? undefined : new Date(ends),
      renewAt: isKnown ? sentAt + life - Math.min(life / 4, LONGEST_MARGIN_MS) : Infinity,
      endsAt: isKnown ? sentAt + life : Infinity,
    };
  }

  private async oidcToken(): Promise<string> {
    const { oidc } = this.credentials;
    switch (oidc.kind) {
      case "token":
        return parseToken(oidc.token, oidc.setting, OIDC_TOKEN);
      case "file":
        return readTokenFile(oidc.path, oidc.setting, OIDC_TOKEN);
      case "github":
        return this.githubToken(oidc);
    }
  }

  private async githubToken({
    requestUrl,
    requestToken,
    audience,
    setting,
  }: Extract<ExchangeCredentials["oidc"], { kind: "github" }>): Promise<string> {
    const { origin, pathname, searchParams } = new URL(requestUrl);
    searchParams.set("audience", audience);
    const github = new Transport({
      ...this.options,
      baseUrl: origin,
      name: "the token service of GitHub Actions",
      setting,
      maxSockets: 1,
    });
    const call = { method: "GET", path: pathname } as const;
    try {
      const headers = { Authorization: `Bearer ${requestToken}` };
      const query = `?${searchParams.toString()}`;
      const { value } = github.read(call, await github.send({ ...call, query, headers, attempt: 1 }));
      if (typeof value === "string" && value !== "") return parseToken(value, "its response", OIDC_TOKEN);
      throw github.unexpectedResponse(call, "its response has no token");
    } catch (error) {
      if (!(error instanceof ApiError)) throw asNotSent(error);
      const what = `requesting an OIDC token from GitHub Actions: ${describeError(error)}`;
      if (isServerFailure(error)) throw new ConnectionError(error.errorCode, what, "notSent", true);
      throw new AuthenticationError("PP2008", `${what}; give the job the permission "id-token: write"`);
    }
  }

  /** Told by the names of the settings: whoever reads it sees no request of an exchange. */
  private explainFailure(error: unknown, oidcToken: string): unknown {
    if (!(error instanceof ApiError)) return asNotSent(error);
    const { issuerUrl, issuerSetting, identity, oidc } = this.credentials;
    const what = `exchanging the OIDC token of ${oidc.setting} at ${issuerUrl} for identity ${identity}: ${describeError(error)}`;
    if (error.code === "RESOURCE_EXHAUSTED") return error;
    if (isServerFailure(error)) return new ConnectionError(error.errorCode, what, "notSent", true);
    if (!error.fromApi || error.code === "NOT_FOUND" || error.code === "UNIMPLEMENTED") {
      return new ConfigError("PP2010", `${what}; check ${issuerSetting}`);
    }
    return new AuthenticationError("PP2009", `${what}; ${trustHint(oidcToken)}`);
  }
}

/** Whether asking again may help: the request that needs the token does so. */
function isServerFailure({ status, code }: ApiError): boolean {
  return code === "UNAVAILABLE" || (status >= 500 && code !== "UNIMPLEMENTED");
}

/** Whatever became of the exchange: the request that needed the token was never sent. */
function asNotSent(error: unknown): unknown {
  return error instanceof ConnectionError
    ? new ConnectionError(error.errorCode, error.message, "notSent", error.isTransient)
    : error;
}

function describeError(error: ApiError): string {
  const said = error.serverMessage === "" ? "" : `: ${error.serverMessage}`;
  return `${error.code} (HTTP ${error.status})${said}`;
}

/** What the issuer compares with what the identity trusts: nothing of it is secret. */
function trustHint(oidcToken: string): string {
  const claims = decodeClaims(oidcToken);
  if (!claims) return "the token is not a JSON web token";
  const { iss, sub, aud } = claims;
  const shown = (value: unknown): string => printable(JSON.stringify(value ?? null), 200);
  const ends = timeClaim(claims, "exp");
  const end = ends === undefined ? "" : `, expires ${ends.toISOString()}`;
  return `compare what the identity trusts with what the token says: issuer ${shown(iss)}, subject ${shown(sub)}, audience ${shown(aud)}${end}`;
}

/** What a token says about itself. Nothing is verified: for showing, for choosing words and for caution, never to allow anything. */
export type Claims = Readonly<Record<string, unknown>>;

/** The claims of a JSON web token; undefined for a text that is none, as an opaque token is. */
export function decodeClaims(token: string): Claims | undefined {
  const body = /^[\w-]+\.([\w-]+)\.[\w-]*$/.exec(token)?.[1];
  if (body === undefined) return undefined;
  const claims = tryParseJson(Buffer.from(body, "base64url").toString("utf8"));
  return claims !== null && typeof claims === "object" && !Array.isArray(claims)
    ? (claims as Claims)
    : undefined;
}

/** A claim that is a time, as a date; undefined where there is none, or none that a date can hold. */
export function timeClaim(claims: Claims | undefined, name: "exp" | "iat" | "nbf"): Date | undefined {
  const seconds = claims?.[name];
  if (typeof seconds !== "number") return undefined;
  const date = new Date(seconds * 1000);
  return Number.isNaN(date.getTime()) ? undefined : date;
}

const credentialError = (message: string): ConfigError => new ConfigError("PP2007", message, "CREDENTIAL");

/** Names for the messages about a text that must be a token. */
interface TokenKind {
  /** As in "the access token". */
  readonly what: string;
  /** The settings that name a file with it. */
  readonly fileSettings: string;
  /** The setting for the token itself. */
  readonly setting: string;
}

const ACCESS_TOKEN: TokenKind = {
  what: "the access token",
  fileSettings: "PLATFORM_TOKEN_FILE or platform:tokenFile",
  setting: "PLATFORM_TOKEN",
};
const OIDC_TOKEN: TokenKind = {
  what: "the OIDC token",
  fileSettings: "PLATFORM_OIDC_TOKEN_FILE or platform:oidcTokenFile",
  setting: "PLATFORM_OIDC_TOKEN",
};

/**
 * The token that a text holds, without the white space around it.
 *
 * @throws ConfigError naming the setting, never repeating the text.
 */
function parseToken(token: string, setting: string, wanted: TokenKind): string {
  const trimmed = token.trim();
  if (trimmed === "") throw credentialError(`${setting} is empty: it must hold ${wanted.what}`);
  if (/^(\.{0,2}\/|~|[A-Za-z]:[\\/])/.test(trimmed)) {
    throw credentialError(`${setting} holds a path, not a token: name the file with ${wanted.fileSettings}`);
  }
  if (/^bearer\s/i.test(trimmed)) {
    throw credentialError(
      `${setting} begins with "Bearer", which is not part of the token: leave Bearer out`,
    );
  }
  if (!/^[\x21-\x7e]+$/.test(trimmed)) {
    throw credentialError(`${setting} holds spaces, line breaks or other characters that no token has`);
  }
  return trimmed;
}

/**
 * The token that a file holds now: it is read anew at each call.
 *
 * @throws ConfigError naming the setting, and the path unless that looks like a token itself.
 */
async function readTokenFile(path: string, setting: string, wanted: TokenKind): Promise<string> {
  let content: string;
  try {
    content = await readFile(path, "utf8");
  } catch (error) {
    if (/^[\w-]{20,}(\.[\w-]+)*$/.test(path.trim())) {
      throw credentialError(
        `${setting} seems to hold a token: it must name a file; a token itself goes into ${wanted.setting}`,
      );
    }
    throw credentialError(
      `${setting} names a file that cannot be read (${describeFileError(error)}): ${path}`,
    );
  }
  return parseToken(content, `the file that ${setting} names`, wanted);
}
