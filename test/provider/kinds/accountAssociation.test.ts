import type { Handlers } from "../../../provider/lifecycle/handlers";
import { PartialFailure } from "../../../provider/lifecycle/messages";
import type { Props } from "../../../provider/fields/values";
import { mergeLive } from "../../../provider/fields/mergeLive";
import { GROUP_UID, sampleOf, specOf, withValue } from "../support/samples";
import { handlersAt } from "../support/handlerStack";
import { clientOf, errorOf, ScriptedServer } from "../support/server";
import type { Reply } from "../support/server";

const KIND = "AccountAssociation";
const ADDRESS = `/iam/v2/accountAssociations/${GROUP_UID}`;
const CHECK = `POST ${ADDRESS}:checkAccountAssociation`;

const server = ScriptedServer.ofSuite();

let clock: number;
let slept: number[];
beforeEach(() => {
  clock = Date.parse("2026-03-01T00:00:00Z");
  jest.spyOn(performance, "now").mockImplementation(() => clock);
  slept = [];
});

/** The handlers, with a calendar clock that is set back: it tells no duration. */
const handlers = (): Handlers =>
  handlersAt(KIND, clientOf(server), {
    now: () => -clock,
    sleep: (ms) => {
      slept.push(ms);
      clock += ms;
      return Promise.resolve();
    },
  });

const inputs = sampleOf(KIND);
const bare = { parentUid: GROUP_UID, name: "accounts", amazon: { account: "123456789012" } };
const waiting = { ...bare, awaitReady: ["amazon"] };
const stored = (props: Props): Reply => ({
  json: { ...props, parentUid: undefined, awaitReady: undefined, uid: GROUP_UID },
});
const ready: Reply = { json: { status: "CHECK_STATUS_READY", reason: "", message: "" } };
const notReady: Reply = {
  json: { status: "CHECK_STATUS_NOT_READY", reason: "PROPAGATING", message: "no trust yet" },
};

async function partial(promise: Promise<unknown>): Promise<PartialFailure> {
  const error: Error = await errorOf(promise);
  if (error instanceof PartialFailure) return error;
  throw error;
}

test.each<[string, Props, number]>([
  ["amazon", { account: "12345" }, 1],
  ["amazon", { account: "123456789012" }, 0],
  ["google", { projectNumber: "my-project" }, 1],
  ["google", { projectNumber: "42" }, 0],
])("an unusual number of %s %j is warned about: %i", (key, value, count) => {
  expect(specOf(KIND).inputWarnings?.[key]?.(value)).toHaveLength(count);
});

describe("the name of an installation", () => {
  const path = ["github", "appInstallations"];
  const installed = (...installations: Props[]): Props =>
    withValue(inputs, path, { "12345": { installations } });

  test.each([
    ["another", { installationId: "1", name: "acme" }, { installationId: "1", name: "acme-renamed" }],
    ["one that the program did not give", { installationId: "1" }, { installationId: "1", name: "acme" }],
    ["none", { installationId: "1", name: "acme" }, { installationId: "1", name: "" }],
  ])("%s at the server is not drift", (_name, ours, theirs) => {
    const olds = installed(ours, { installationId: "2" });
    const live = installed({ installationId: "2" }, theirs);
    expect(mergeLive(specOf(KIND), olds, live).inputs).toEqual(olds);
  });

  test("does not hide a change of the installation", () => {
    const olds = installed({ installationId: "1", name: "acme" });
    const live = installed({ installationId: "2", name: "acme" });
    expect(mergeLive(specOf(KIND), olds, live).inputs).toEqual(live);
  });

  const named = (name?: string): Props =>
    installed({ installationId: "1", ...(name && { name }) }, { installationId: "2" });

  test.each([
    ["takes it", named("other"), named("other")],
    ["keeps the one before", named("other"), named("acme")],
    ["keeps none", named("other"), named()],
    ["chooses one that the program does not give", named(), named("acme")],
  ])("is sent when the program changes it, and no error where the server %s", async (_how, news, live) => {
    const olds = named("acme");
    expect(handlers().diff(olds, news).changes).toBeUndefined();
    server.script([stored(live)]);
    await expect(handlers().update(GROUP_UID, olds, news)).resolves.toEqual(news);
    expect(server.last().query.get("updateMask")).toBe("github.appInstallations");
    server.script([stored(live)]);
    await expect(handlers().create(news)).resolves.toMatchObject({ outs: news });
  });
});

describe("waiting until accounts are ready", () => {
  test("checks each account, and then only those that are not ready", async () => {
    const news = { ...inputs, awaitReady: ["amazon", "google", "amazon", "azure"] };
    const answers: Record<string, Reply[]> = {
      ACCOUNT_PROVIDER_TYPE_AMAZON: [notReady, ready],
      ACCOUNT_PROVIDER_TYPE_GOOGLE: [ready],
      ACCOUNT_PROVIDER_TYPE_AZURE: [notReady, notReady, notReady, notReady, notReady, ready],
    };
    server.script(({ path, body }) => {
      if (!path.endsWith(":checkAccountAssociation")) return stored(news);
      return answers[(body as { providerType: string }).providerType]?.shift() ?? { status: 599 };
    });
    await expect(handlers().create(news)).resolves.toEqual({ id: GROUP_UID, outs: news });
    expect(Object.values(answers).flat()).toEqual([]);
    expect(slept).toEqual([1000, 2000, 4000, 8000, 10_000]);
  });

  test("ends after a minute with the server's words; the association stays, and the next run asks again", async () => {
    server.script(({ path }) => (path.endsWith(":checkAccountAssociation") ? notReady : stored(waiting)));
    const error = await partial(handlers().create(waiting));
    expect(error).toMatchObject({ errorCode: "PP4013", id: GROUP_UID });
    expect(error.reasons).toEqual([
      `account association "accounts" ${GROUP_UID}: awaitReady failed: not ready after 60 s: amazon: PROPAGATING: no trust yet`,
    ]);
    expect(error.properties).toEqual({ ...waiting, awaitReady: null });
    expect(slept.reduce((sum, ms) => sum + ms, 0)).toBe(60_000);

    server.script(({ path }) => (path.endsWith(":checkAccountAssociation") ? ready : stored(waiting)));
    const again = handlers();
    expect(again.diff(error.properties, waiting)).toMatchObject({ changes: undefined, replaces: [] });
    await expect(again.update(GROUP_UID, error.properties, waiting)).resolves.toEqual(waiting);
    expect(server.calls).toEqual([CHECK]);
  });

  test("is done after each update, though the list is the same", async () => {
    const news = { ...waiting, amazon: { account: "210987654321" } };
    server.script([stored(news), notReady, ready]);
    await expect(handlers().update(GROUP_UID, waiting, news)).resolves.toEqual(news);
    expect(server.calls).toEqual([`PATCH ${ADDRESS}`, CHECK, CHECK]);
  });

  test("is skipped if nothing changed, or if it is switched off", async () => {
    server.script([]);
    await handlers().update(GROUP_UID, waiting, waiting);
    await expect(handlers().update(GROUP_UID, waiting, bare)).resolves.toEqual(bare);
    expect(server.calls).toEqual([]);
  });
});
