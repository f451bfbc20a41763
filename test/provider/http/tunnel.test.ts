import { once } from "node:events";
import { createServer, get } from "node:http";
import type { IncomingMessage, Server } from "node:http";
import { connect } from "node:net";
import type { AddressInfo, Socket } from "node:net";
import type { Duplex } from "node:stream";
import { ProxyError } from "../../../provider/http/errors";
import { TunnelAgent } from "../../../provider/http/tunnel";

/* A tunnel on real sockets; test/engine/connections.test.ts has the built command use one. */

const servers: Server[] = [];

async function listening(server: Server): Promise<string> {
  servers.push(server);
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return `127.0.0.1:${(server.address() as AddressInfo).port}`;
}

/** A proxy that makes tunnels, or responds to each request for one with this status. */
async function proxy(status = 200): Promise<string> {
  const server = createServer();
  server.on("connect", ({ url = "" }: IncomingMessage, client: Duplex) => {
    client.on("error", () => undefined);
    if (status !== 200) return client.end(`HTTP/1.1 ${status} No\r\n\r\n`);
    const onward: Socket = connect(Number(url.split(":")[1]), "127.0.0.1", () => {
      client.write("HTTP/1.1 200 OK\r\n\r\n");
      onward.pipe(client).pipe(onward);
    });
    return onward.on("error", () => client.destroy());
  });
  return listening(server);
}

async function ask(host: string, address: string): Promise<unknown> {
  const agent = new TunnelAgent(`http://${host}`, "change it", { keepAlive: false, maxSockets: 1 });
  try {
    const [response] = (await once(get(`http://${address}/`, { agent }), "response")) as [IncomingMessage];
    response.resume();
    return response.statusCode;
  } catch (error) {
    return error;
  } finally {
    agent.destroy();
  }
}

afterAll(() => {
  for (const server of servers) {
    server.closeAllConnections();
    server.close();
  }
});

test("a request goes through the tunnel, and its status is the server's", async () => {
  const address = await listening(createServer((_request, response) => response.writeHead(407).end()));
  expect(await ask(await proxy(), address)).toBe(407);
});

test.each<[number, string, boolean]>([
  [407, "it wants a user name and a password; put them into the address of the proxy, or change it", false],
  [404, "change it", false],
  [201, "change it", false],
  ...[429, 502, 503, 504].map((status) => [status, "change it", true] satisfies [number, string, boolean]),
])("a proxy that responds %d to the request for a tunnel", async (status, advice, isTransient) => {
  const error = await ask(await proxy(status), "127.0.0.1:9");
  expect(error).toBeInstanceOf(ProxyError);
  const refused = expect.stringMatching(/^the proxy 127.0.0.1:\d+ refused the connection /) as string;
  expect(error).toMatchObject({ message: refused, isTransient, isClosed: false });
  expect((error as Error).message).toMatch(new RegExp(` \\(HTTP ${status}\\); ${advice}$`));
});

test("a proxy that cannot be reached is named", async () => {
  const server = createServer();
  const host = await listening(server);
  server.close();
  const error = await ask(host, "127.0.0.1:9");
  expect(error).toBeInstanceOf(ProxyError);
  expect(error).toMatchObject({
    message: expect.stringMatching(
      /^the proxy 127.0.0.1:\d+ cannot be reached \(ECONNREFUSED\); change it$/,
    ) as string,
    isTransient: true,
    isClosed: true,
  });
});
