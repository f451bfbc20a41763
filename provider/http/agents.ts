import { Agent as HttpAgent } from "node:http";
import { Agent as HttpsAgent } from "node:https";
import { getProxyForUrl } from "proxy-from-env";
import { registerCredential } from "../text/printable";
import { ConnectionError } from "./errors";
import { isLoopback } from "../text/address";
import type * as tunnelModule from "./tunnel";

/** The address of the proxy for a URL, by HTTPS_PROXY, HTTP_PROXY and NO_PROXY; loopback never has one. */
export function proxyFor(url: string): string | undefined {
  const proxy = isLoopback(new URL(url)) ? "" : getProxyForUrl(url);
  return proxy === "" ? undefined : proxy;
}

/** Masks the password as it is written, decoded, and as the header that carries it. */
function registerProxyPassword({ username, password }: URL): void {
  if (password === "") return;
  registerCredential(password);
  try {
    const plain = decodeURIComponent(password);
    registerCredential(plain);
    registerCredential(Buffer.from(`${decodeURIComponent(username)}:${plain}`).toString("base64"));
  } catch {
    // What is not percent-encoded UTF-8 is never sent.
  }
}

/** How connections to a server are made: directly, or through the proxy that the environment names. */
export function agentsFor(
  baseUrl: string,
  maxSockets: number,
): { httpAgent: HttpAgent; httpsAgent: HttpAgent } {
  const options = { keepAlive: true, maxSockets };
  const proxy = proxyFor(baseUrl);
  if (proxy === undefined) {
    // Said here, NODE_TLS_REJECT_UNAUTHORIZED cannot take it back.
    return {
      httpAgent: new HttpAgent(options),
      httpsAgent: new HttpsAgent({ ...options, rejectUnauthorized: true }),
    };
  }
  const { protocol, hostname } = new URL(baseUrl);
  const advice = `HTTP${protocol === "https:" ? "S" : ""}_PROXY names it: change that, or add ${hostname} to NO_PROXY`;
  const url = URL.canParse(proxy) ? new URL(proxy) : undefined;
  const isProxy = url !== undefined && /^https?:$/.test(url.protocol);
  // An "@" after the host is the end of a password that holds a slash: what stands before it is no host.
  if (!isProxy || /@|%40/.test(url.pathname + url.search + url.hash)) {
    const why = isProxy
      ? 'has an "@" after the host: percent-encode its password'
      : "is not an http or https URL";
    throw new ConnectionError(
      "PP2106",
      `the address of the proxy for ${hostname} ${why}; ${advice}`,
      "notSent",
      false,
    );
  }
  registerProxyPassword(url);
  // Loaded where there is a proxy only: it is a part of the start.
  // eslint-disable-next-line @typescript-eslint/no-require-imports
  const { TunnelAgent } = require("./tunnel") as typeof tunnelModule;
  const agent = new TunnelAgent(proxy, advice, options);
  return { httpAgent: agent, httpsAgent: agent };
}
