import * as pulumi from "@pulumi/pulumi";
import * as platform from "../../../provider/index";
import { tryInPreview } from "../../../provider/lookups/invoke";
import { findWrittenUids, trustWrittenUids } from "../../../provider/program/uidSources";
import { ProgramContext } from "../support/program";
import { GROUP_UID, ROOT_UID, specOf } from "../support/samples";
import { errorOf, failure, ScriptedServer } from "../support/server";

/* What lookups of one program share: the client, and answers to the same question. */

const context = new ProgramContext().install();

/** Begins another run, as the engine's own process does once. */
const newRun = () =>
  pulumi.runtime.setMocks({
    newResource: ({ inputs }) => ({ id: "id", state: inputs as Record<string, unknown> }),
    call: ({ inputs }) => inputs as Record<string, unknown>,
  });

const group = { uid: GROUP_UID, name: "team" };
const answerGroups = (): void =>
  void context.server.script(() => ({ json: { ...group, groups: [group], roles: [] } }));

describe("outside of a run", () => {
  test("equal concurrent lookups send one request, and later ones another", async () => {
    answerGroups();
    await Promise.all([platform.getGroups(), platform.getGroups(), platform.getGroups({})]);
    expect(context.server.requests).toHaveLength(1);
    await platform.getGroups();
    expect(context.server.requests).toHaveLength(2);
  });
});

describe("in a program's run", () => {
  beforeEach(async () => {
    await newRun();
    context.configure();
  });

  test("equal lookups send one request, whatever the order of their arguments", async () => {
    answerGroups();
    const first = await platform.getGroups({ childrenOf: ROOT_UID, limit: 3 });
    const second = await platform.getGroups({ limit: 3, childrenOf: ROOT_UID });
    expect(second).toStrictEqual(first);
    await platform.getGroup({ uid: GROUP_UID });
    await platform.getGroup({ uid: GROUP_UID });
    expect(context.server.requests).toHaveLength(2);
  });

  test("different lookups send a request each", async () => {
    answerGroups();
    await platform.getGroups();
    await platform.getGroups({ limit: 3 });
    await platform.getGroups({ uids: [ROOT_UID, GROUP_UID] });
    await platform.getGroups({ uids: [GROUP_UID, ROOT_UID] });
    await platform.getGroups({ name: "team" });
    await platform.getGroup({ name: "team" });
    await platform.getRoles();
    expect(context.server.requests).toHaveLength(7);
  });

  test("a failure rejects every waiting caller, and is then forgotten", async () => {
    context.server.script([failure(7, "no"), { json: group }]);
    const ask = () => platform.getGroup({ uid: GROUP_UID });
    const [one, other] = await Promise.all([errorOf(ask()), errorOf(ask())]);
    // In a run a message begins with the line of the program.
    expect(one.message.replace(/^test\/\S+\.test\.ts:\d+: /, "")).toBe(
      `getGroup: GET /iam/v2/groups/${GROUP_UID}: PERMISSION_DENIED (HTTP 403): no (PP3403)`,
    );
    expect(other.message).toBe(one.message);
    await expect(ask()).resolves.toMatchObject({ name: "team" });
    expect(context.server.requests).toHaveLength(2);
  });

  test("a lookup with other settings sends its own request, to the other server", async () => {
    answerGroups();
    const elsewhere = await ScriptedServer.start();
    elsewhere.script(() => ({ json: { groups: [] } }));
    await expect(platform.getGroups()).resolves.toHaveLength(1);
    context.configure({ "platform:baseUrl": elsewhere.url });
    await expect(platform.getGroups()).resolves.toHaveLength(0);
    context.configure({ "platform:token": "another" });
    await platform.getGroups();
    context.configure();
    await expect(platform.getGroups()).resolves.toHaveLength(1);
    await elsewhere.close();
    expect(context.server.requests.map(({ headers }) => headers.authorization)).toEqual([
      expect.not.stringContaining("another"),
      "Bearer another",
    ]);
  });

  test("another run sends a new request, though it is in the same process", async () => {
    answerGroups();
    await platform.getGroups();
    await newRun();
    context.configure();
    await platform.getGroups();
    expect(context.server.requests).toHaveLength(2);
  });

  test("what a preview asks on its own, it asks at the server of its run", async () => {
    const addressOfRun = () => tryInPreview((client) => Promise.resolve(client.addressAdvice), "not asked");
    const own = await addressOfRun();
    await newRun();
    context.configure({ "platform:baseUrl": "https://other.example" });
    expect([own, await addressOfRun()]).toEqual([
      expect.stringContaining(context.server.url),
      expect.stringContaining("https://other.example"),
    ]);
  });

  test("a provider of its own in one run keeps no other run from asking", async () => {
    pulumi.runtime.setMockOptions(pulumi.runtime.getMonitor(), "project", "stack", true);
    const written = () => findWrittenUids(specOf("Group"), { parentUid: ROOT_UID });
    expect(written()).toHaveLength(1);
    trustWrittenUids();
    expect(written()).toEqual([]);
    await newRun();
    pulumi.runtime.setMockOptions(pulumi.runtime.getMonitor(), "project", "stack", true);
    expect(written()).toHaveLength(1);
  });
});
