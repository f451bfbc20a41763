import pRetry from "p-retry";
import type { ExchangeCredentials, TokenSource, TokenSourceOptions } from "./auth";
import { claimsOf, timeClaim } from "./claims";
import { holdCredential } from "./credentials";
import type { Code } from "./errors";
import { ApiError, AuthenticationError, ConfigError, ConnectionError, printable } from "./errors";
import { OIDC_TOKEN, readTokenFile, validToken } from "./tokenText";
import { Transport } from "./transport";
import type { Answer } from "./transport";

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

/** Codes that pass, for an exchange and for a refresh (contract, section 10). */
const PASSING: ReadonlySet<Code> = new Set<Code>(["UNAVAILABLE"]);
const PASSING_REFRESH: ReadonlySet<Code> = new Set<Code>(["UNAVAILABLE", "DEADLINE_EXCEEDED", "INTERNAL"]);

/** A `Date` header has whole seconds. */
const DATE_RESOLUTION_MS = 1000;
const LONGEST_MARGIN_MS = 60_000;

const text = (value: unknown): string => (typeof value === "string" ? value : "");

/**
 * Access tokens for an OIDC token: kept in memory, renewed before they end, one exchange in flight.
 *
 * How long a token lives is measured between the answer's own `Date` and `expiry`, so this machine's clock may be wrong.
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
      return (await this.next(true)).token;
    } catch (error) {
      // The issuer may be back before the token ends.
      if (session && performance.now() < session.endsAt && error instanceof ConnectionError)
        return session.token;
      throw error;
    }
  }

  async renew(refused: string): Promise<boolean> {
    if (this.session === undefined || this.session.token === refused) await this.next(false);
    return true;
  }

  async refresh(): Promise<boolean> {
    // One that is under way may have begun before what it is to know of.
    await this.underWay?.catch(() => undefined);
    await this.next(false);
    return true;
  }

  expiry(): Date | undefined {
    return this.session?.expiry;
  }

  /** The session after this one: the one that is being made, or else a new one. */
  private next(byRefreshToken: boolean): Promise<Session> {
    this.underWay ??= this.make(byRefreshToken)
      .then((session) => (this.session = session))
      .finally(() => (this.underWay = undefined));
    return this.underWay;
  }

  private async make(byRefreshToken: boolean): Promise<Session> {
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
    const asked = performance.now();
    const { answer, body } = await this.post(
      "/sts/exchange_refresh_token",
      refreshToken,
      {},
      PASSING_REFRESH,
    );
    const member = (name: string): JsonObject => (body[name] ?? {}) as JsonObject;
    return this.sessionOf(asked, answer, {
      token: member("token")["token"],
      expiry: member("token")["expiry"],
      refreshToken: text(member("refreshToken")["token"]) || refreshToken,
    });
  }

  private async exchangeOidcToken(oidcToken: string): Promise<Session> {
    const { audience, identity } = this.credentials;
    const asked = performance.now();
    try {
      const form = { aud: audience, identity };
      const { answer, body } = await this.post("/sts/exchange", oidcToken, form, PASSING);
      return this.sessionOf(asked, answer, body);
    } catch (error) {
      throw this.explained(error, oidcToken);
    }
  }

  private async post(
    path: string,
    bearer: string,
    form: Record<string, string>,
    passing: ReadonlySet<Code>,
  ): Promise<{ answer: Answer; body: JsonObject }> {
    return this.retried(passing, async (attempt) => {
      const call = { method: "POST", path } as const;
      const answer = await this.issuer.send({
        ...call,
        body: new URLSearchParams(form).toString(),
        headers: {
          Authorization: `Bearer ${bearer}`,
          "Content-Type": "application/x-www-form-urlencoded",
        },
        attempt,
      });
      return { answer, body: this.issuer.read(call, answer) };
    });
  }

  /** Twice more, after 100 to 200 ms (contract, section 10). */
  private retried<T>(passing: ReadonlySet<Code>, attempt: (count: number) => Promise<T>): Promise<T> {
    return pRetry(attempt, {
      retries: 2,
      minTimeout: 100,
      factor: 1,
      randomize: true,
      shouldRetry: ({ error }) =>
        error instanceof ConnectionError
          ? error.passing
          : error instanceof ApiError && passing.has(error.code),
    });
  }

  private sessionOf(
    asked: number,
    answer: Answer,
    { token, refreshToken, expiry }: { token?: unknown; refreshToken?: unknown; expiry?: unknown },
  ): Session {
    if (typeof token !== "string" || !/^[\x21-\x7e]+$/.test(token)) {
      throw this.issuer.foreign({ method: "POST", path: "/sts/exchange" }, "its answer holds no token");
    }
    holdCredential(token);
    holdCredential(text(refreshToken));
    const ends = Date.parse(text(expiry));
    const date = Date.parse(answer.header("date") ?? "");
    const sinceAsked = performance.now() - asked;
    const life = ends - (Number.isNaN(date) ? Date.now() - sinceAsked : date + DATE_RESOLUTION_MS);
    // Without a time that makes sense it is used until it is refused.
    const isKnown = life > 0;
    return {
      token,
      refreshToken: text(refreshToken),
      expiry: Number.isNaN(ends) ? undefined : new Date(ends),
      renewAt: isKnown ? asked + life - Math.min(life / 4, LONGEST_MARGIN_MS) : Infinity,
      endsAt: isKnown ? asked + life : Infinity,
    };
  }

  private async oidcToken(): Promise<string> {
    const { oidc } = this.credentials;
    switch (oidc.kind) {
      case "token":
        return validToken(oidc.token, oidc.setting, OIDC_TOKEN);
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
      const { value } = await this.retried(PASSING, async (attempt) => {
        const headers = { Authorization: `Bearer ${requestToken}` };
        const query = `?${searchParams.toString()}`;
        return github.read(call, await github.send({ ...call, query, headers, attempt }));
      });
      if (typeof value === "string" && value !== "") return validToken(value, "its answer", OIDC_TOKEN);
      throw github.foreign(call, "its answer holds no token");
    } catch (error) {
      if (!(error instanceof ApiError)) throw unsent(error);
      throw new AuthenticationError(
        `asking GitHub Actions for an OIDC token: ${sayingOf(error)}; has the job the permission "id-token: write"?`,
      );
    }
  }

  /** Told by the names of the settings: whoever reads it sees no request of an exchange. */
  private explained(error: unknown, oidcToken: string): unknown {
    if (!(error instanceof ApiError)) return unsent(error);
    const { issuerUrl, identity, oidc } = this.credentials;
    const what = `exchanging the OIDC token of ${oidc.setting} at ${issuerUrl} for identity ${identity}: ${sayingOf(error)}`;
    if (error.code === "RESOURCE_EXHAUSTED") return error;
    if (error.status >= 500 && error.code !== "UNIMPLEMENTED") {
      return new ConnectionError(what, "nothing", true);
    }
    if (!error.fromApi || error.code === "NOT_FOUND" || error.code === "UNIMPLEMENTED") {
      return new ConfigError(`${what}; is platform:issuerUrl (or PLATFORM_ISSUER_URL) right?`);
    }
    return new AuthenticationError(`${what}; ${trustAdvice(oidcToken)}`);
  }
}

/** Whatever became of the exchange: the request that needed the token was never sent. */
function unsent(error: unknown): unknown {
  return error instanceof ConnectionError
    ? new ConnectionError(error.message, "nothing", error.passing)
    : error;
}

function sayingOf(error: ApiError): string {
  const said = error.serverMessage === "" ? "" : `: ${error.serverMessage}`;
  return `${error.code} (HTTP ${error.status})${said}`;
}

/** What the issuer compares with what the identity trusts: nothing of it is secret. */
function trustAdvice(oidcToken: string): string {
  const claims = claimsOf(oidcToken);
  if (!claims) return "the token is no JSON web token, as an OIDC token is";
  const { iss, sub, aud } = claims;
  const shown = (value: unknown): string => printable(JSON.stringify(value ?? null), 200);
  const ends = timeClaim(claims, "exp");
  const end = ends === undefined ? "" : `, and ends ${ends.toISOString()}`;
  return `does the identity trust exactly this? The token is of issuer ${shown(iss)}, subject ${shown(sub)}, for audience ${shown(aud)}${end}`;
}
