import { once } from "node:events";
import { createServer } from "node:http";
import { connect } from "node:net";
import type { AddressInfo, Socket } from "node:net";
import { setTimeout as wait } from "node:timers/promises";
import { startEmulator } from "../../emulator";
import type { Emulator } from "../../emulator";
import { call, create } from "./wire";

/** A delivery as it came over the wire. */
export interface Delivery {
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer;
}

/** An organisation whose events are delivered to a sink of the test. */
export interface Deliveries {
  readonly emulator: Emulator;
  readonly group: string;
  /** Makes an event, and returns how it is delivered. */
  readonly next: () => Promise<Delivery>;
  readonly close: () => Promise<void>;
}

export async function startDeliveries(): Promise<Deliveries> {
  const kept: Delivery[] = [];
  const sink = createServer((incoming, response) => {
    const chunks: Buffer[] = [];
    incoming.on("data", (chunk: Buffer) => chunks.push(chunk));
    incoming.on("end", () => {
      const relevant = Object.entries(incoming.headers).filter(([name]) =>
        /^(ce-|authorization$|content-type$)/.test(name),
      );
      kept.push({
        headers: Object.fromEntries(relevant) as Record<string, string>,
        body: Buffer.concat(chunks),
      });
      response.writeHead(204).end();
    });
  });
  sink.listen(0, "127.0.0.1");
  await once(sink, "listening");
  const emulator = await startEmulator({
    deliverTo: `http://127.0.0.1:${(sink.address() as AddressInfo).port}`,
  });
  const group = await create(emulator, "/iam/v2/groups", { name: "org" });
  await call(emulator, "POST", `/events/v2/subscriptions/${group}`, { sink: "https://sink.example.com" });
  return {
    emulator,
    group,
    next: async () => {
      await emulator.waitForDeliveries();
      kept.length = 0;
      const body = { name: "role", capabilities: ["CAP_REPO_LIST"] };
      await call(emulator, "POST", `/iam/v2/roles/${group}`, body);
      await emulator.waitForDeliveries();
      const [delivery] = kept;
      if (delivery === undefined) throw new Error("no event was delivered");
      return delivery;
    },
    close: async () => {
      await emulator.close();
      sink.closeAllConnections();
      sink.close();
    },
  };
}

/** The status of the last response of a socket, or how the connection ended without one. */
async function statusOf(socket: Socket): Promise<number | "closed"> {
  let text = "";
  socket.on("data", (chunk: Buffer) => (text += chunk.toString("latin1")));
  // A server that refuses a body closes the connection while the client still writes.
  socket.on("error", () => undefined);
  await new Promise((done) => socket.once("close", done));
  const statuses = [...text.matchAll(/^HTTP\/1\.1 (\d{3})/gm)].map(([, status]) => Number(status));
  return statuses.at(-1) ?? "closed";
}

const head = (method: string, headers: Readonly<Record<string, string | number>>): string =>
  [`${method} / HTTP/1.1`, "Host: receiver", ...Object.entries(headers).map(([k, v]) => `${k}: ${v}`)].join(
    "\r\n",
  ) + "\r\n\r\n";

const close = { Connection: "close" };
const UNSIGNED = { "Ce-Id": "1", "Ce-Type": "x", "Ce-Source": "x", "Ce-Subject": "x" };
const MiB = 1024 * 1024;

/** What a client does with its connection; `delivery` is one that the receiver would take. */
interface HostileClient {
  readonly name: string;
  readonly status: number | "closed";
  readonly send: (socket: Socket, delivery: Delivery) => void | Promise<void>;
}

const signed = (
  method: string,
  { headers }: Delivery,
  more: Readonly<Record<string, string | number>>,
): string => head(method, { ...headers, ...close, ...more });

/** Writes until the receiver closes the connection. */
async function writeForever(socket: Socket, chunk: string, pauseMs: number): Promise<void> {
  while (!socket.destroyed) {
    socket.write(chunk);
    await wait(pauseMs);
  }
}

/** A client that writes a text, and then waits, or does what is given. */
const client = (
  name: string,
  status: HostileClient["status"],
  text: (delivery: Delivery) => string,
  then: HostileClient["send"] = () => undefined,
): HostileClient => ({
  name,
  status,
  send: async (socket, delivery) => {
    await new Promise<void>((done) => socket.write(text(delivery), () => done()));
    await then(socket, delivery);
  },
});
const length = (bytes: number) => ({ "Content-Length": bytes });
const chunked = { "Transfer-Encoding": "chunked" };
const post = (more: Readonly<Record<string, string | number>>) => (delivery: Delivery) =>
  signed("POST", delivery, more);
const unsigned = (more: Readonly<Record<string, string | number>>) => () =>
  head("POST", { ...UNSIGNED, ...more });
const destroy = (socket: Socket) => void socket.destroy();
const SECOND_TOKEN = "\r\nAuthorization: Bearer a.b.c\r\n\r\n{}";

/** Each has a valid token, unless its name says otherwise. */
export const hostileClients: readonly HostileClient[] = [
  { name: "disconnects at once, without a token", status: "closed", send: destroy },
  client("disconnects after the headers", "closed", post(length(1000)), destroy),
  client("disconnects within the body", "closed", post(length(1000)), async (socket) => {
    socket.write("{");
    await wait(200);
    socket.resetAndDestroy();
  }),
  client("ends its side within the body", 400, post(length(1000)), (socket) => void socket.end("{")),
  client(
    "disconnects before the response, without a token",
    "closed",
    () => `${unsigned(length(2))()}{}`,
    destroy,
  ),
  ...["GET", "HEAD", "DELETE"].map((method) =>
    client(`sends ${method}`, 405, (delivery) => signed(method, delivery, {})),
  ),
  client("sends GET with a body that never comes", 405, (delivery) =>
    signed("GET", delivery, length(4 * MiB)),
  ),
  client("announces a large body without a token", 401, unsigned(length(1e12))),
  client("sends an endless body without a token", 401, unsigned(chunked), (socket) =>
    writeForever(socket, "1\r\nx\r\n", 20),
  ),
  client("expects 100-continue, without a token", 401, unsigned({ Expect: "100-continue", ...length(5) })),
  client(
    "asks for another protocol, without a token",
    401,
    unsigned({ Connection: "Upgrade", Upgrade: "websocket" }),
  ),
  client("sends a token that is no token", 401, unsigned({ Authorization: "Bearer a.b.c", ...length(5) })),
  client("sends two tokens", 400, (delivery) => post(length(2))(delivery).replace("\r\n\r\n", SECOND_TOKEN)),
  client("announces a large body", 413, post(length(6 * MiB))),
  client("sends a large body in chunks", 413, post(chunked), async (socket) => {
    // No more than the limit is sent, so that the response is not lost with what is unread.
    for (let sent = 0; sent < 5; sent += 1) socket.write(`100000\r\n${"x".repeat(MiB)}\r\n`);
    await writeForever(socket, "1\r\nx\r\n", 20);
  }),
  client(
    "announces more than it sends",
    408,
    (delivery) => post(length(delivery.body.length + 1))(delivery),
    (socket, { body }) => void socket.write(body),
  ),
  client("sends a byte now and then", 408, post(length(MiB)), (socket) => writeForever(socket, "x", 100)),
  client(
    "sends another body, of another type",
    401,
    (delivery) => `${post({ "content-type": "text/html", ...length(6) })(delivery)}<html>`,
  ),
];

async function connectTo(port: number): Promise<Socket> {
  const socket = connect(port, "127.0.0.1");
  await once(socket, "connect");
  return socket;
}

/** What each client gets, with all of them connected at the same time. */
export async function attack(port: number, delivery: Delivery): Promise<Record<string, number | "closed">> {
  const results = await Promise.all(
    hostileClients.map(async ({ name, send }) => {
      const socket = await connectTo(port);
      const status = statusOf(socket);
      await send(socket, delivery);
      const result = await status;
      socket.destroy();
      return [name, result] as const;
    }),
  );
  return Object.fromEntries(results);
}

/** What each of them has to get. */
export const refusals = Object.fromEntries(hostileClients.map(({ name, status }) => [name, status]));

/** Delivers an event as the platform does. */
export async function deliver(port: number, { headers, body }: Delivery): Promise<number> {
  const response = await fetch(`http://127.0.0.1:${port}/`, {
    method: "POST",
    headers,
    body: new Uint8Array(body),
  });
  return response.status;
}
