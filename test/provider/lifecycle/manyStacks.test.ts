import diagnostics from "node:diagnostics_channel";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { startEmulator } from "../../../emulator";
import { Client } from "../../../provider/http/client";
import { isQuick } from "../../support/properties";
import { tokensOf } from "../support/server";
import { handlersAt } from "../support/handlerStack";

/* What the provider processes of many stacks do to one server, one after another, without the engine between. */

const STACKS = isQuick ? 8 : 14;
const RESOURCES = isQuick ? 50 : 100;
/** The stack after which the heap has its size. */
const SETTLED = 4;

setFlagsFromString("--expose-gc");
const collectGarbage = runInNewContext("gc") as () => void;

function heap(): number {
  collectGarbage();
  collectGarbage();
  return process.memoryUsage().heapUsed;
}

test(`${STACKS} stacks of ${RESOURCES} resources leave neither memory nor connections behind`, async () => {
  const root = "a".repeat(40);
  const child = (n: number) => `${root}/${n.toString(16).padStart(16, "0")}`;
  // Creates of equal bindings would wait for each other.
  const subjects = Array.from({ length: RESOURCES }, (_, index) => child(2 + index));
  const emulator = await startEmulator({
    seed: {
      groups: [{ uid: root, name: "root" }],
      roles: [{ uid: child(1), name: "role", capabilities: ["CAP_REPO_LIST"] }],
      identities: subjects.map((uid, index) => ({ uid, name: `someone ${index}` })),
    },
  });
  const open = new Set<unknown>();
  let connections = 0;
  const count = (message: unknown) => {
    const { socket } = message as { socket: { once(event: "close", done: () => void): void } };
    if (open.has(socket)) return;
    open.add(socket);
    connections += 1;
    socket.once("close", () => open.delete(socket));
  };
  diagnostics.subscribe("http.server.request.start", count);
  const heaps = new Map<number, number>();
  const opened: number[] = [];
  try {
    const client = new Client({
      baseUrl: emulator.url,
      timeoutMs: 60_000,
      maxRetries: 0,
      maxConcurrency: 8,
      tokens: tokensOf(() => Promise.resolve(emulator.token)),
    });
    for (let stack = 0; stack < STACKS; stack += 1) {
      const { create, read, remove } = bindingsOf(client);
      const made = await Promise.all(
        subjects.map((identityUid) => create({ parentUid: root, identityUid, roleUid: child(1) })),
      );
      const live = await Promise.all(made.map(({ id }) => read(id)));
      expect(live.every(({ id }, index) => id === made[index]?.id)).toBe(true);
      await Promise.all(made.map(({ id }) => remove(id)));
      // Its log grows on purpose.
      emulator.clearRequests();
      emulator.clearEvents();
      if (stack === SETTLED || stack === STACKS - 1) heaps.set(stack, heap());
      opened.push(connections);
    }
    expect(emulator.state()["roleBindings"] ?? []).toEqual([]);
  } finally {
    diagnostics.unsubscribe("http.server.request.start", count);
    await emulator.close();
  }
  expect(opened.at(-1)).toBeLessThanOrEqual(8);
  const growth = (heaps.get(STACKS - 1) ?? NaN) - (heaps.get(SETTLED) ?? NaN);
  expect(growth).toBeLessThan(1_500_000);
});

function bindingsOf(client: Client) {
  // Each run of the engine has a process of its own, which knows nothing of the one before.
  const run = () => handlersAt("RoleBinding", client);
  const [up, destroy] = [run(), run()];
  return {
    create: (inputs: { parentUid: string; identityUid: string; roleUid: string }) => up.create(inputs),
    read: (id: string) => up.read(id, {}),
    remove: (id: string) => destroy.delete(id, {}),
  };
}
