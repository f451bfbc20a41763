import { Exchange } from "./exchange";
import { ACCESS_TOKEN, readTokenFile, parseToken } from "./tokenClaims";

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
   * come together share one. Resolves to whether `token()` gives a new one from now on: false where there is no exchange.
   *
   * @throws what `token()` throws when the exchange fails; the old token is kept.
   */
  refresh(): Promise<boolean>;
  /** When the token that `token()` gave last ends, where an exchange said so. */
  expiry?(): Date | undefined;
}

export interface TokenSourceOptions {
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
        token: () => Promise.resolve().then(() => parseToken(token, setting, ACCESS_TOKEN)),
        renew: () => Promise.resolve(false),
        refresh: () => Promise.resolve(false),
      };
    }
    case "tokenFile": {
      const { path, setting } = credentials;
      return {
        token: () => readTokenFile(path, setting, ACCESS_TOKEN),
        renew: async (refused) => (await readTokenFile(path, setting, ACCESS_TOKEN)) !== refused,
        refresh: () => Promise.resolve(false),
      };
    }
    case "exchange":
      return new Exchange(credentials, options);
  }
}
