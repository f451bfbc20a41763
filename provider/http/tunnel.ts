import { HttpsProxyAgent } from "https-proxy-agent";
import type { ClientRequest } from "node:http";
import { ProxyError } from "./errors";

/**
 * Reaches every server through a tunnel (CONNECT): the proxy sees a host name, never a header of ours. What it
 * responds in place of a tunnel is an error, never taken for the server's response.
 */
export class TunnelAgent extends HttpsProxyAgent<string> {
  constructor(
    proxy: string,
    private readonly advice: string,
    options: { keepAlive: boolean; maxSockets: number },
  ) {
    // Of the proxy itself, where its address is https.
    super(proxy, { ...options, rejectUnauthorized: true });
    this.on("proxyConnect", ({ statusCode }: { statusCode: number }) => {
      if (statusCode !== 200) throw this.refusal(statusCode);
    });
  }

  override async connect(
    request: ClientRequest,
    options: Parameters<HttpsProxyAgent<string>["connect"]>[1],
  ): ReturnType<HttpsProxyAgent<string>["connect"]> {
    try {
      return await super.connect(
        request,
        options.secureEndpoint ? { ...options, rejectUnauthorized: true } : options,
      );
    } catch (error) {
      if (error instanceof ProxyError) throw error;
      const { code } = error as NodeJS.ErrnoException;
      const shown = code === undefined ? "" : ` (${code})`;
      const message = `the proxy ${this.proxy.host} cannot be reached${shown}; ${this.advice}`;
      throw new ProxyError(message, true, true);
    }
  }

  private refusal(status: number): ProxyError {
    const advice =
      status === 407
        ? `it wants a user name and a password; put them into the address of the proxy, or ${this.advice}`
        : this.advice;
    return new ProxyError(
      `the proxy ${this.proxy.host} refused the connection (HTTP ${status}); ${advice}`,
      [429, 502, 503, 504].includes(status),
    );
  }
}
