import pRetry from "p-retry";
import type { ExchangeCredentials, TokenSource, TokenSourceOptions } from "./auth";
import { decodeClaims, timeClaim, OIDC_TOKEN, readTokenFile, parseToken } from "./tokenClaims";
import { registerCredential } from "../text/printable";
import type { Code } from "./errors";
import {
  ApiError,
  AuthenticationError,
  ConfigError,
  ConnectionError,
  printable,
  printableMessage,
} from "./errors";
import { Transport } from "./transport";
import type { HttpResponse } from "./transport";

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

type JsonObject = Record<string, unknown>;

/** Codes of transient failures, of an exchange and of a refresh. */
const TRANSIENT: ReadonlySet<Code> = new Set<Code>(["UNAVAILABLE"]);
const TRANSIENT_REFRESH: ReadonlySet<Code> = new Set<Code>(["UNAVAILABLE", "DEADLINE_EXCEEDED", "INTERNAL"]);

/** A `Date` header has whole seconds. */
const DATE_RESOLUTION_MS = 1000;
const LONGEST_MARGIN_MS = 60_000;

const text = (value: unknown): string => (typeof value === "string" ? value : "");

/**
 * Access tokens for an OIDC token: kept in memory, renewed before they end, one exchange in flight.
 *
 * How long a token lives is measured between the response's own `Date` and `expiry`, so this machine's clock may be wrong.
 */
export class Exchange implements TokenSource {
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
      setting: "platform:issuerUrl (or PLATFORM_ISSUER_URL)",
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

  async refresh(): Promise<boolean> {
    // One that is under way may have begun before what it is to know of.
    await this.underWay?.catch(() => undefined);
    await this.nextSession(false);
    return true;
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
    const { response, body } = await this.post(
      "/sts/exchange_refresh_token",
      refreshToken,
      {},
      TRANSIENT_REFRESH,
    );
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
      const { response, body } = await this.post("/sts/exchange", oidcToken, form, TRANSIENT);
      return this.sessionOf(sentAt, response, body);
    } catch (error) {
      throw this.explainFailure(error, oidcToken);
    }
  }

  private async post(
    path: string,
    bearer: string,
    form: Record<string, string>,
    transientCodes: ReadonlySet<Code>,
  ): Promise<{ response: HttpResponse; body: JsonObject }> {
    return this.sendWithRetry(transientCodes, async (attempt) => {
      const call = { method: "POST", path } as const;
      const response = await this.issuer.send({
        ...call,
        body: new URLSearchParams(form).toString(),
        headers: {
          Authorization: `Bearer ${bearer}`,
          "Content-Type": "application/x-www-form-urlencoded",
        },
        attempt,
      });
      return { response, body: this.issuer.read(call, response) };
    });
  }

  /** Tries twice more, after 100 to 200 ms. */
  private sendWithRetry<T>(
    transientCodes: ReadonlySet<Code>,
    attempt: (count: number) => Promise<T>,
  ): Promise<T> {
    return pRetry(attempt, {
      retries: 2,
      minTimeout: 100,
      factor: 1,
      randomize: true,
      shouldRetry: ({ error }) =>
        error instanceof ConnectionError
          ? error.isTransient
          : error instanceof ApiError && transientCodes.has(error.code),
    });
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
    const date = Date.parse(response.header("date") ?? "");
    const sinceAsked = performance.now() - sentAt;
    const life = ends - (Number.isNaN(date) ? Date.now() - sinceAsked : date + DATE_RESOLUTION_MS);
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
      const { value } = await this.sendWithRetry(TRANSIENT, async (attempt) => {
        const headers = { Authorization: `Bearer ${requestToken}` };
        const query = `?${searchParams.toString()}`;
        return github.read(call, await github.send({ ...call, query, headers, attempt }));
      });
      if (typeof value === "string" && value !== "") return parseToken(value, "its response", OIDC_TOKEN);
      throw github.unexpectedResponse(call, "its response has no token");
    } catch (error) {
      if (!(error instanceof ApiError)) throw asNotSent(error);
      throw new AuthenticationError(
        "PP2008",
        `requesting an OIDC token from GitHub Actions: ${describeError(error)}; give the job the permission "id-token: write"`,
      );
    }
  }

  /** Told by the names of the settings: whoever reads it sees no request of an exchange. */
  private explainFailure(error: unknown, oidcToken: string): unknown {
    if (!(error instanceof ApiError)) return asNotSent(error);
    const { issuerUrl, identity, oidc } = this.credentials;
    const what = `exchanging the OIDC token of ${oidc.setting} at ${issuerUrl} for identity ${identity}: ${describeError(error)}`;
    if (error.code === "RESOURCE_EXHAUSTED") return error;
    if (error.status >= 500 && error.code !== "UNIMPLEMENTED") {
      return new ConnectionError(error.errorCode, what, "notSent", true);
    }
    if (!error.fromApi || error.code === "NOT_FOUND" || error.code === "UNIMPLEMENTED") {
      return new ConfigError("PP2010", `${what}; check platform:issuerUrl (or PLATFORM_ISSUER_URL)`);
    }
    return new AuthenticationError("PP2009", `${what}; ${trustHint(oidcToken)}`);
  }
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
  return `compare the token with what the identity trusts: issuer ${shown(iss)}, subject ${shown(sub)}, audience ${shown(aud)}${end}`;
}
