import { list, messageType, object, text, timestamp } from "../gateway/descriptor";
import type { Method } from "../gateway/routes";
import { emptyMessage } from "./common";

const rawToken = messageType("chainguard.platform.oidc.RawToken", {
  token: text(),
  refreshToken: text(),
  expiry: timestamp(),
});

const exchangeRequest = messageType("chainguard.platform.oidc.ExchangeRequest", {
  aud: list(text()),
  identity: text(),
  identityProvider: text(),
  scopes: list(text()),
  cap: list(text()),
});

/** Methods that belong to no kind of resource. */
export const methodsWithoutKind: readonly Method[] = [
  {
    rpc: "ping.v2.PingService/Ping",
    verb: "GET",
    pattern: "/ping/v2/ping",
    request: emptyMessage,
    response: messageType("chainguard.platform.ping.v2.Response", { response: text() }),
    isPublic: true,
  },
  ...(["POST", "GET"] as const).map((verb): Method => ({
    rpc: "oidc.SecurityTokenService/Exchange",
    verb,
    pattern: "/sts/exchange",
    request: exchangeRequest,
    response: rawToken,
    isPublic: true,
  })),
  {
    rpc: "oidc.SecurityTokenService/ExchangeRefreshToken",
    verb: "POST",
    pattern: "/sts/exchange_refresh_token",
    request: exchangeRequest,
    response: messageType("chainguard.platform.oidc.TokenPair", {
      token: object(rawToken),
      refreshToken: object(rawToken),
    }),
    isPublic: true,
  },
];
