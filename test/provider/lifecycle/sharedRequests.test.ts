import { startEmulator } from "../../../emulator";
import type { Emulator } from "../../../emulator";
import { Client } from "../../../provider/http/client";
import type { ClientOptions } from "../../../provider/http/client";
import type { Handlers } from "../../../provider/lifecycle/handlers";
import type { Props } from "../../../provider/fields/values";
import { kinds } from "../../../provider/kinds";
import type { Declarations } from "../../support/engine";
import { declared, samples, surroundings } from "../../support/samples";
import { tokensOf } from "../support/server";
import { handlersAt } from "../support/handlerStack";

/* Reads that share requests, against the emulator: what comes out must be what single requests give. */

let emulator: Emulator;
beforeEach(async () => {
  emulator = await startEmulator();
});
afterEach(() => emulator.close());

function connect(options: Partial<ClientOptions> = {}): Client {
  return new Client({
    baseUrl: emulator.url,
    timeoutMs: 60_000,
    maxRetries: 0,
    maxConcurrency: 8,
    tokens: tokensOf(() => Promise.resolve(emulator.token)),
    ...options,
  });
}

function handlers(kind: string, client: Client): Handlers {
  return handlersAt(kind, client);
}

interface Made {
  readonly kind: string;
  readonly id: string;
  readonly outs: Props;
}

/** Makes what is declared, in order. The text `${name}` stands for the id of what was made before. */
async function make(declarations: Declarations): Promise<Map<string, Made>> {
  const made = new Map<string, Made>();
  const client = connect({ batching: false });
  for (const [name, { kind, args }] of Object.entries(declarations)) {
    const text = JSON.stringify(args).replace(/\$\{(.+?)\}/g, (_, of: string) => made.get(of)?.id ?? "");
    made.set(name, { kind, ...(await handlers(kind, client).create(JSON.parse(text) as Props)) });
  }
  return made;
}

/** Four organisations with one of each sample. */
const copies: Declarations = Object.fromEntries(
  [1, 2, 3, 4].flatMap((n) => {
    const one: Declarations = {
      ...surroundings,
      ...Object.assign({}, ...samples.map((sample) => declared(sample.label, sample, sample.args))),
    };
    return Object.entries(one).map(([name, { kind, args }]) => {
      const text = JSON.stringify(args).replace(/\$\{(.+?)\}/g, (_, of: string) => `\${${of}-${n}}`);
      return [`${name}-${n}`, { kind, args: JSON.parse(text) as Record<string, unknown> }];
    });
  }),
);

/** A client that has read so much below one parent that it lists a page of its children with the next read. */
async function pagingBelow(parent: string, collection: string): Promise<Client> {
  const client = connect();
  const missing = [1, 2, 3, 4].map((n) => client.readShared(collection, `${parent}/00000000000000f${n}`));
  await Promise.allSettled(missing);
  emulator.clearRequests();
  return client;
}

const sharing = kinds.map(({ spec }) => spec).filter(({ listing }) => listing?.contents === "complete");

test("every kind that shares reads gets the same result from pages as from single requests, in every form of responses", async () => {
  const made = [...(await make(copies)).values()];
  for (const bindingResponse of ["both", "flat", "hydrated"] as const) {
    emulator.settings({ bindingResponse });
    for (const { kind, collection, listing } of sharing) {
      const uids = made.filter((one) => one.kind === kind && one.id.includes("/")).map(({ id }) => id);
      expect(uids.length).toBeGreaterThanOrEqual(4);
      for (const uid of uids) {
        const single = await connect().getResource(collection, uid);
        const client = await pagingBelow(uid.slice(0, uid.lastIndexOf("/")), collection);
        await expect(client.readShared(collection, uid, listing?.query)).resolves.toEqual(single);
        expect(emulator.requests).toMatchObject([{ method: "GET", path: collection }]);
      }
    }
  }
});
