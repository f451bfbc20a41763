import { list, messageType, object, text, timestamp } from "../gateway/fields";
import type { Method } from "../gateway/routes";
import { emptyMessage } from "./common";
import * as tables from "./exports";
import type { CustomMethod, KindTable } from "./kindTable";
import { standardMethods } from "./methods";

/** Every kind of resource. */
export const kindTables: readonly KindTable[] = Object.values(tables);

const rawToken = messageType({
  token: text(),
  refreshToken: text(),
  expiry: timestamp(),
});

const exchangeRequest = messageType({
  aud: list(text()),
  identity: text(),
  identityProvider: text(),
  scopes: list(text()),
  cap: list(text()),
});

/** Methods that belong to no kind of resource. */
const methodsWithoutKind: readonly CustomMethod[] = [
  {
    rpc: "ping.v2.PingService/Ping",
    verb: "GET",
    pattern: "/ping/v2/ping",
    request: emptyMessage,
    response: messageType({ response: text() }),
    isPublic: true,
    run: () => ({ response: "pong" }),
  },
  ...(["POST", "GET"] as const).map((verb): CustomMethod => ({
    rpc: "oidc.SecurityTokenService/Exchange",
    verb,
    pattern: "/sts/exchange",
    request: exchangeRequest,
    response: rawToken,
    isPublic: true,
    run: (call, { tokens }) => tokens.exchange(call),
  })),
  {
    rpc: "oidc.SecurityTokenService/ExchangeRefreshToken",
    verb: "POST",
    pattern: "/sts/exchange_refresh_token",
    request: exchangeRequest,
    response: messageType({
      token: object(rawToken),
      refreshToken: object(rawToken),
    }),
    isPublic: true,
    run: (call, { tokens }) => tokens.refresh(call),
  },
];

function withEvent(method: CustomMethod): Method {
  return {
    ...method,
    run(call, platform) {
      const message = method.run(call, platform);
      if (method.event) platform.events.publishCall(method.event, call, message);
      return { message };
    },
  };
}

/** Custom methods come first, because their paths also match those with a uid. */
export const allMethods: readonly Method[] = [
  ...kindTables.flatMap(({ custom = [] }) => custom).map(withEvent),
  ...methodsWithoutKind.map(withEvent),
  ...kindTables.flatMap(standardMethods),
];
