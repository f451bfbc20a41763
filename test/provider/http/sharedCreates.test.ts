import { hasUnknownOutcome } from "../../../provider/http/errors";
import { ROLE_BINDINGS } from "../../../provider/kinds/bindingKinds";
import { clientOf, detail, errorOf, failure, htmlPage, promised, ScriptedServer } from "../support/server";
import type { Recorded, Reply } from "../support/server";
import { GROUP_UID, ROOT_UID } from "../support/samples";

const server = ScriptedServer.ofSuite();

const BATCH = "/iam/v2/roleBindings:batchCreate";
const SINGLE = `/iam/v2/roleBindings/${GROUP_UID}`;
const isBatch = ({ path }: Recorded): boolean => path === BATCH;

interface Binding {
  readonly identityUid: string;
}
const bindings = (count: number): Binding[] =>
  Array.from({ length: count }, (_, index) => ({ identityUid: `identity-${index}` }));

/** What a request wants to make. */
function wanted({ path, body }: Recorded): Binding[] {
  if (path !== BATCH) return [body as Binding];
  const { requests } = body as { requests: { parent: string; roleBinding: Binding }[] };
  return requests.map(({ roleBinding }) => roleBinding);
}

const made = ({ identityUid }: Binding) => ({ uid: `made-${identityUid}`, identityUid });
const agree = (request: Recorded): Reply => {
  const answers = wanted(request).map(made);
  return { json: isBatch(request) ? { roleBindings: answers } : answers[0] };
};

/** What became of each, as a uid or the beginning of a message. */
const told = (outcomes: PromiseSettledResult<Record<string, unknown>>[]): string[] =>
  outcomes.map((outcome) =>
    outcome.status === "fulfilled"
      ? String(outcome.value["uid"])
      : (outcome.reason as Error).message.replace(/^\S+ \S+: /, ""),
  );

const create = (client: ReturnType<typeof clientOf>, index: number, parent = GROUP_UID) =>
  client.createShared(ROLE_BINDINGS, parent, { identityUid: `identity-${index}` });

/** What became of creations that come together. */
async function together(
  client: ReturnType<typeof clientOf>,
  count: number,
  reply: (request: Recorded) => Reply,
): Promise<PromiseSettledResult<Record<string, unknown>>[]> {
  server.script(reply);
  return Promise.allSettled(bindings(count).map((_, index) => create(client, index)));
}

describe("one batch", () => {
  test("names the parent with each resource, and returns the responses in order", async () => {
    expect(told(await together(clientOf(server), 3, agree))).toEqual(
      bindings(3).map((binding) => made(binding).uid),
    );
    expect(server.calls).toEqual([`POST ${BATCH}`]);
    expect(server.last().body).toMatchObject({
      parent: GROUP_UID,
      requests: bindings(3).map((roleBinding) => ({ parent: GROUP_UID, roleBinding })),
    });
  });

  test.each([
    ["a missing right", failure(7, "no")],
    ["a missing resource", failure(5, "no", detail("ResourceInfo", { resourceName: "identity-2" }))],
  ])(
    "a batch refused for %s is sent again one by one: only the cause has the error",
    async (_why, refusal) => {
      const outcomes = await together(clientOf(server), 4, (request) =>
        wanted(request).some(({ identityUid }) => identityUid === "identity-2") ? refusal : agree(request),
      );
      expect(outcomes.map(({ status }) => status)).toEqual([
        "fulfilled",
        "fulfilled",
        "rejected",
        "fulfilled",
      ]);
      expect(server.requests.map((request) => wanted(request).length)).toEqual([4, 1, 1, 1, 1]);
    },
  );

  test.each<[string, Reply]>([
    ["a cut connection", { cut: "before" }],
    ["an error of a proxy", { status: 502, text: htmlPage }],
    ["an answer that holds too few", { json: { roleBindings: [{ uid: "only" }] } }],
    ["an answer without uids", { json: { roleBindings: [{}, {}, {}] } }],
  ])("sends nothing again after %s: each create has an error that says so", async (_what, reply) => {
    const outcomes = await together(clientOf(server), 3, () => reply);
    expect(outcomes).toHaveLength(3);
    for (const outcome of outcomes) {
      expect(outcome.status === "rejected" && hasUnknownOutcome(outcome.reason)).toBe(true);
    }
    expect(server.calls).toEqual([`POST ${BATCH}`]);
  });

  test.each([
    ["a refused token", failure(16, "no"), "UNAUTHENTICATED"],
    ["a limit of requests", failure(8, "slow down"), "RESOURCE_EXHAUSTED"],
  ])("%s applies to all of them, and no create is sent alone", async (_what, reply, code) => {
    const outcomes = await together(clientOf(server), 3, () => reply);
    for (const text of told(outcomes)) expect(text).toContain(code);
    expect(server.calls).toEqual([`POST ${BATCH}`]);
  });

  test.each<[string, Reply]>([
    ["501", failure(12, "Method Not Allowed")],
    ["404", failure(5, "Not Found")],
    ["a proxy's 404", { status: 404, text: htmlPage }],
  ])("tries the method once at a server without it (%s)", async (_what, reply) => {
    const client = clientOf(server);
    for (const batches of [1, 0]) {
      const outcomes = await together(client, 2, (request) => (isBatch(request) ? reply : agree(request)));
      expect(outcomes).toMatchObject([{ status: "fulfilled" }, { status: "fulfilled" }]);
      expect(server.requests.filter(isBatch)).toHaveLength(batches);
      expect(server.calls).toHaveLength(batches + 2);
    }
  });
});

describe("creates", () => {
  test("that come together share requests of at most 25", async () => {
    const outcomes = await together(clientOf(server), 31, agree);
    expect(told(outcomes)).toEqual(bindings(31).map((binding) => made(binding).uid));
    expect(server.requests.map((request) => wanted(request).length)).toEqual([25, 6]);
  });

  test("that come one after another within a tenth of a second share a request", async () => {
    server.script(agree);
    const client = clientOf(server);
    const first = create(client, 0);
    await new Promise((resolve) => setImmediate(resolve));
    await Promise.all([first, create(client, 1)]);
    expect(server.calls).toEqual([`POST ${BATCH}`]);
  });

  test("of another parent have requests of their own, at the same time", async () => {
    const both = promised();
    server.script((request) => ({ ...agree(request), after: both.promise }));
    const client = clientOf(server);
    const all = [create(client, 0), create(client, 1, ROOT_UID)];
    await server.arrived(2);
    both.keep();
    await Promise.all(all);
    expect(server.mostAtOnce).toBe(2);
  });

  test("are not delayed by a failure or a slow response of others", async () => {
    const others = promised();
    server.script((request, count) =>
      count === 0
        ? { cut: "before" }
        : { ...agree(request), after: count === 1 ? others.promise : undefined },
    );
    const client = clientOf(server);
    expect(hasUnknownOutcome(await errorOf(create(client, 0)))).toBe(true);
    const slow = create(client, 1);
    await server.arrived(2);
    await expect(create(client, 2)).resolves.toMatchObject({ uid: "made-identity-2" });
    others.keep();
    await expect(slow).resolves.toMatchObject({ uid: "made-identity-1" });
  });

  test("without batching each create has its own request", async () => {
    const all = promised();
    server.script((request) => ({ ...agree(request), after: all.promise }));
    const client = clientOf(server, { batching: false });
    const making = [0, 1, 2].map((index) => create(client, index));
    await server.arrived(3);
    all.keep();
    await Promise.all(making);
    await client.createTogether(ROLE_BINDINGS, GROUP_UID, bindings(2));
    expect(server.calls).toEqual(Array(5).fill(`POST ${SINGLE}`));
  });
});
