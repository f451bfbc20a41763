import { startEmulator } from "../../../emulator";
import type { Emulator } from "../../../emulator";
import type { Client } from "../../../provider/http/client";
import { kinds } from "../../../provider/kinds";
import type { Declarations } from "../../support/engine";
import { spreadOf } from "../../support/properties";
import { declared, samples, surroundings } from "../../support/samples";
import { HandlerStack } from "../support/handlerStack";
import type { Held } from "../support/handlerStack";
import { clientOf, tokensOf } from "../support/server";

/* Reads that share requests, against the emulator: what comes out must be what single requests give. */

let emulator: Emulator;
beforeEach(async () => {
  emulator = await startEmulator();
});
afterEach(() => emulator.close());

const connect = (): Client => clientOf(emulator, { tokens: tokensOf(() => Promise.resolve(emulator.token)) });

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
  const stack = new HandlerStack(emulator, copies);
  const made: Held[] = [];
  for (const name of Object.keys(copies)) made.push(await stack.make(name));
  for (const bindingResponse of ["both", "flat", "hydrated"] as const) {
    emulator.settings({ bindingResponse });
    for (const { kind, collection, listing } of sharing) {
      const uids = made.filter((one) => one.kind === kind && one.id.includes("/")).map(({ id }) => id);
      expect(uids.length).toBeGreaterThanOrEqual(4);
      for (const uid of spreadOf(uids, 1, 0)) {
        const single = await connect().getResource(collection, uid);
        const client = await pagingBelow(uid.slice(0, uid.lastIndexOf("/")), collection);
        await expect(client.readShared(collection, uid, listing?.query)).resolves.toEqual(single);
        expect(emulator.requests).toMatchObject([{ method: "GET", path: collection }]);
      }
    }
  }
});
