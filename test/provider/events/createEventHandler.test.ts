import { createServer } from "node:http";
import type { RequestListener, Server } from "node:http";
import type { AddressInfo } from "node:net";
import { EventReceiver } from "../../../provider/cli/commands/watch/watch";
import { createEventHandler } from "../../../provider/events";
import type { EventHandlerOptions, PlatformEvent } from "../../../provider/events";
import { attack, deliver, refusals, startDeliveries } from "../../support/hostileClients";
import type { Deliveries } from "../../support/hostileClients";

let deliveries: Deliveries;
let servers: Server[] = [];
let lines: string[];
let events: PlatformEvent[];

beforeAll(async () => {
  deliveries = await startDeliveries();
});
afterAll(() => deliveries.close());
beforeEach(() => {
  lines = [];
  events = [];
});
afterEach(async () => {
  for (const server of servers) {
    server.closeAllConnections();
    await new Promise((done) => server.close(done));
  }
  servers = [];
});

async function listen(server: Server): Promise<number> {
  servers.push(server);
  await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
  return (server.address() as AddressInfo).port;
}

const handler = (more: Partial<EventHandlerOptions> = {}): RequestListener =>
  createEventHandler({
    issuer: deliveries.emulator.url,
    group: deliveries.group,
    onEvent: (event) => void events.push(event),
    log: (line) => lines.push(line),
    ...more,
  });

/** Each receiver of events of this package. */
const receivers: [string, () => Server][] = [
  ["createEventHandler", () => createServer(handler({ timeoutSeconds: 2 }))],
  [
    "watch",
    () => {
      const verify = { issuer: deliveries.emulator.url, group: deliveries.group, timeoutSeconds: 2 };
      const run = () => Promise.resolve();
      return new EventReceiver({ verify, settleMs: 1, run, log: (line) => lines.push(line) }).server;
    },
  ],
];

test.each(receivers)("%s refuses every hostile client, then takes an event", async (_, create) => {
  const port = await listen(create());
  const delivery = await deliveries.next();
  expect(await attack(port, delivery)).toEqual(refusals);
  expect(await deliver(port, delivery)).toBe(204);
  const token = delivery.headers["authorization"] ?? "";
  expect(lines.join("\n")).not.toContain(token.slice("Bearer ".length));
  for (const line of lines) expect(line).not.toMatch(/(?<!\(400\)): its client disconnected/);
  // Whoever only waits is slow, and whoever has gone is not.
  expect(lines.filter((line) => line.includes("(408)"))).toHaveLength(2);
  for (const line of lines) expect(line).toMatch(/^an event was not taken \(\d{3}\): .+ \(PP800[12]\)$/);
});

const failure = new Error("disk\n::error::full");
const failing = (): void => {
  throw failure;
};

test.each<[string, EventHandlerOptions["onEvent"]]>([
  ["throws", failing],
  ["rejects", () => Promise.reject(failure)],
  // eslint-disable-next-line @typescript-eslint/prefer-promise-reject-errors -- JavaScript can reject with anything
  ["rejects without an error", () => Promise.reject(undefined)],
])("an event whose handler %s is delivered again", async (_, fail) => {
  let isBroken = true;
  const onEvent = (event: PlatformEvent) => (isBroken ? fail(event) : void events.push(event));
  const port = await listen(createServer(handler({ onEvent })));
  const delivery = await deliveries.next();
  expect(await deliver(port, delivery)).toBe(503);
  expect(lines).toEqual([expect.stringMatching(/^an event was not taken \(503\): .+ \(PP8005\)$/)]);
  isBroken = false;
  expect(await deliver(port, delivery)).toBe(204);
  expect(events).toHaveLength(1);
});

test("a body that a parser has read is an error of the receiver", async () => {
  const handle = handler();
  const server = createServer((request, response) => {
    request.resume().on("end", () => handle(request, response));
  });
  expect(await deliver(await listen(server), await deliveries.next())).toBe(503);
  expect(lines).toEqual([expect.stringContaining("its body was read before")]);
});

test.each<[Partial<Record<keyof EventHandlerOptions, unknown>>, string]>([
  [{ onEvent: undefined }, "onEvent must be a function"],
  [{ log: "stderr" }, "log must be a function"],
  ...[0, -1, NaN, Infinity, 3601, "30"].map((timeoutSeconds): [object, string] => [
    { timeoutSeconds },
    "timeoutSeconds must be a number of seconds",
  ]),
])("options with %j are refused before the first event", (options, message) => {
  expect(() => handler(options as Partial<EventHandlerOptions>)).toThrow(TypeError);
  expect(() => handler(options as Partial<EventHandlerOptions>)).toThrow(message);
});
