import { writeFileSync } from "node:fs";
import { connect, createServer } from "node:net";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { startEmulator } from "../../../../emulator";
import type { Emulator } from "../../../../emulator";
import { ChangedResources } from "../../../../provider/access/drift/stateComparison";
import type { DriftReport } from "../../../../provider/access/report/report";
import type { StateExport } from "../../../../provider/access/documents/stateExport";
import type { DriftRequest } from "../../../../provider/access/drift/drift";
import { defaultRuleOptions, findingsOf } from "../../../../provider/access/rules";
import { toRules } from "../../../../provider/access/rules/ownRules";
import { createSuppressor, readDriftPolicy } from "../../../../provider/cli/policy/accessPolicy";
import { EventReceiver, main, reportChanges } from "../../../../provider/cli/commands/watch/watch";
import { stateOf } from "../../../support/driftDocuments";
import { brief } from "../../access/drift/driftMatrix";
import { clientOf } from "../../support/server";
import { call, environmentOf } from "../../../support/wire";
import { exportText } from "../../../../scripts/lib/documents.cjs";
import { deliver, startDeliveries } from "../../../support/hostileClients";
import { ending, runCommand } from "../support";
import { temporaryFolder } from "../../../support/folders";

const ISSUER = "--issuer=https://issuer.example.com";

/** Has a receiver listen; returns its port. */
async function listen({ server }: EventReceiver): Promise<number> {
  await new Promise<void>((done) => server.listen(0, "127.0.0.1", () => done()));
  return (server.address() as AddressInfo).port;
}

describe("pulumi-platform watch", () => {
  let emulator: Emulator;
  let receiver: EventReceiver;
  let org: string;
  let role: string;
  let state: StateExport;
  const reports: DriftReport[] = [];
  const said: string[] = [];

  const settle = async () => {
    await emulator.waitForDeliveries();
    await receiver.waitUntilIdle();
    return reports.splice(0);
  };

  beforeAll(async () => {
    emulator = await startEmulator();
    org = String((await call(emulator, "POST", "/iam/v2/groups", { name: "org" }))["uid"]);
    const body = { name: "reader", capabilities: ["CAP_REPO_LIST"] };
    role = String((await call(emulator, "POST", `/iam/v2/roles/${org}`, body))["uid"]);
    state = stateOf([{ kind: "Role", uid: role, inputs: { parentUid: org, ...body } }]);
    const client = clientOf(emulator);
    receiver = new EventReceiver({
      verify: { issuer: emulator.url, group: org },
      // Never by itself: the test says when it is quiet.
      settleMs: 600_000,
      run: async (touched) => void reports.push(await reportChanges(client, touched, [state])),
      log: (line) => said.push(line),
    });
    const port = await listen(receiver);
    await call(emulator, "POST", `/events/v2/subscriptions/${org}`, { sink: "https://sink.example.com" });
    emulator.settings({ deliverTo: `http://127.0.0.1:${port}` });
  });

  afterAll(async () => {
    await receiver.close();
    await emulator.close();
  });

  test("asks rules of one's own, lists suppressed findings separately, and reports no entry about other objects as unused", async () => {
    const policy = join(temporaryFolder(), "policy.yaml");
    const touched = new ChangedResources();
    touched.add({ name: "iam.roles.updated", subject: role });
    const allow = (capabilities: string[]) =>
      call(emulator, "PATCH", `/iam/v2/roles/${role}?updateMask=capabilities`, { capabilities });
    await allow(["CAP_REPO_LIST", "CAP_REPO_UPDATE"]);
    const [finding] = (await reportChanges(clientOf(emulator), touched, [state], {})).findings;
    writeFileSync(
      policy,
      `allow:
  - { kind: changed, match: { uid: "${role}" }, fingerprint: ${finding?.fingerprint ?? ""}, reason: tried out, acceptedBy: grace, expires: 2099-12-31 }
  - { kind: deleted, match: { name: other }, reason: not touched here }
`,
    );
    const suppress = createSuppressor(readDriftPolicy(policy), new Date());
    const rule = {
      name: "of-acme",
      severity: "low",
      why: "x",
      fix: "y",
      find: () => [{ message: "found" }],
    } as const;
    const whole = { ...rule, id: "ACME2", name: "of-all", needsWhole: true } as const;
    const ownRules = toRules([{ ...rule, id: "ACME1" }, whole], "rules.cjs");
    const rules: DriftRequest["rules"] = (comparison) =>
      findingsOf(comparison, defaultRuleOptions(Date.now()), ownRules);
    const given = { suppress, rules, ownRules };
    const report = await reportChanges(clientOf(emulator), touched, [state], given);
    await allow(["CAP_REPO_LIST"]);
    await settle();
    expect(report).toMatchObject({
      // No rule that needs the whole organisation is asked.
      findings: [{ id: "ACME1" }],
      ownRules: [{ id: "ACME1" }, { id: "ACME2" }],
      suppressed: [{ uid: role, suppression: { reason: "tried out" } }],
      policy: { unused: [], expired: [] },
    });
  });

  test("a burst of events leads to one run for the changed objects, which names the actors", async () => {
    await call(emulator, "PATCH", `/iam/v2/roles/${role}?updateMask=capabilities`, {
      capabilities: ["CAP_REPO_LIST", "CAP_REPO_UPDATE"],
    });
    await call(emulator, "PATCH", `/iam/v2/roles/${role}?updateMask=description`, { description: "x" });
    const body = { name: "ci", claimMatch: { issuer: "https://a.example.com", subject: "ci" } };
    const identity = await call(emulator, "POST", `/iam/v2/identities/${org}`, body);
    const grant = { identityUid: identity["uid"], roleUid: role };
    const binding = await call(emulator, "POST", `/iam/v2/roleBindings/${org}`, grant);
    const [report, ...more] = await settle();
    expect(more).toEqual([]);
    if (report === undefined) throw new Error("no run");
    expect(report).toMatchObject({ complete: true, incomplete: [] });
    expect(
      brief(report)
        .map(({ kind, what, direction }) => `${kind} ${what} ${direction}`)
        .sort(),
    ).toEqual(["Identity unmanaged widened", "Role changed widened", "RoleBinding unmanaged widened"]);
    expect(report.findings.find(({ uid }) => uid === binding["uid"])).toMatchObject({
      message: "Role binding ci → reader at org is not managed by any stack",
      details: ["access is widened"],
    });
    expect(report.differences.find(({ uid }) => uid === binding["uid"])).toMatchObject({
      actor: expect.stringMatching(/^by \S+ at 20/),
    });

    await call(emulator, "DELETE", `/iam/v2/roleBindings/${String(binding["uid"])}`);
    await call(emulator, "DELETE", `/iam/v2/roles/${role}`);
    const [gone] = await settle();
    expect(gone && brief(gone).map(({ kind, what }) => [kind, what])).toEqual([["Role", "deleted"]]);
  });

  test("finds the bindings of one batch", async () => {
    const { roles } = (await call(emulator, "GET", "/iam/v2/roles?name=owner")) as {
      roles: { uid: string }[];
    };
    const requests = [];
    for (const name of ["one", "two"]) {
      const claimMatch = { issuer: "https://a.example.com", subject: name };
      const { uid } = await call(emulator, "POST", `/iam/v2/identities/${org}`, { name, claimMatch });
      requests.push({ parent: org, roleBinding: { identityUid: uid, roleUid: roles[0]?.uid } });
    }
    await settle();
    await call(emulator, "POST", "/iam/v2/roleBindings:batchCreate", { parent: org, requests });
    const [report] = await settle();
    const binding = ["RoleBinding", "unmanaged"];
    expect(report && brief(report).map(({ kind, what }) => [kind, what])).toEqual([binding, binding]);
  });

  // What else a stranger can send, `createEventHandler.test.ts` has.
  test("checks what each delivery names, a repeated one too, and the events of a failed run again, at the end too", async () => {
    const runs: number[] = [];
    const lines: string[] = [];
    let fails = false;
    const deliveries = await startDeliveries();
    const own = new EventReceiver({
      verify: { issuer: deliveries.emulator.url, group: deliveries.group },
      settleMs: 600_000,
      run: ({ uids }) => {
        runs.push([...uids.values()].flatMap((all) => [...all]).length);
        return fails ? Promise.reject(new Error("no connection")) : Promise.resolve();
      },
      log: (line) => lines.push(line),
    });
    try {
      const port = await listen(own);
      const take = async (delivery: Parameters<typeof deliver>[1]) => {
        const status = await deliver(port, delivery);
        await own.waitUntilIdle();
        return [status, ...runs.splice(0)];
      };
      const first = await deliveries.next();
      expect(await take(first)).toEqual([204, 1]);
      expect(await take(first)).toEqual([204, 1]);
      fails = true;
      expect(await take(await deliveries.next())).toEqual([204, 1]);
      const again = "the next run checks its events again (PP9001)";
      expect(lines).toEqual([`a run failed: no connection; ${again}`]);
      // The next run needs no further event.
      await own.waitUntilIdle();
      expect(runs.splice(0)).toEqual([1]);
      expect(await take(await deliveries.next())).toEqual([204, 2]);
      fails = false;
      expect(await take(await deliveries.next())).toEqual([204, 3]);
      await own.waitUntilIdle();
      expect(runs).toEqual([]);
      // What was accepted before the end is checked, or said.
      fails = true;
      expect(await deliver(port, await deliveries.next())).toBe(204);
      await own.close();
      expect(runs).toEqual([1]);
      expect(lines.slice(-2)).toEqual([
        "a run failed: no connection (PP9001)",
        expect.stringMatching(/^the last events were not checked: run .*pulumi-platform drift$/),
      ]);
    } finally {
      await own.close();
      await deliveries.close();
    }
  });

  test("compares by its states what events name, also what waits when a signal ends it", async () => {
    const body = { name: "writer", capabilities: ["CAP_REPO_LIST"] };
    const uid = String((await call(emulator, "POST", `/iam/v2/roles/${org}`, body))["uid"]);
    const file = join(temporaryFolder(), "state.json");
    writeFileSync(
      file,
      exportText([{ kind: "Role", name: "writer", uid, inputs: { parentUid: org, ...body } }]),
    );
    const free = createServer();
    await new Promise<void>((done) => free.listen(0, "127.0.0.1", () => done()));
    const { port } = free.address() as AddressInfo;
    await new Promise((done) => free.close(done));
    const place = ["--listen", `127.0.0.1:${port}`, "--settle", "600s"];
    const argv = ["--state", file, "--group", org, "--issuer", emulator.url, ...place, "-o", "json"];
    const running = runCommand(main, argv, environmentOf(emulator));
    const isOpen = () =>
      new Promise<boolean>((done) => {
        const socket = connect(port, "127.0.0.1", () => done(true));
        socket.on("connect", () => socket.destroy()).on("error", () => setTimeout(done, 20, false));
      });
    while (!(await isOpen()));
    emulator.settings({ deliverTo: `http://127.0.0.1:${port}` });
    const capabilities = ["CAP_REPO_LIST", "CAP_REPO_DELETE"];
    await call(emulator, "PATCH", `/iam/v2/roles/${uid}?updateMask=capabilities`, { capabilities });
    await emulator.waitForDeliveries();
    process.emit("SIGINT");
    const { code, stdout, stderr } = await running;
    expect([code, stderr]).toEqual([0, `listening on http://127.0.0.1:${port}\n`]);
    expect((JSON.parse(stdout) as DriftReport).differences).toMatchObject([{ uid, kind: "changed" }]);
  });

  test("events that do not end are compared after ten times the pause", async () => {
    const deliveries = await startDeliveries();
    const verify = { issuer: deliveries.emulator.url, group: deliveries.group };
    const run = () => Promise.resolve();
    const own = new EventReceiver({ verify, settleMs: 600_000, run, log: (line) => said.push(line) });
    try {
      const port = await listen(own);
      const now = jest.spyOn(performance, "now");
      const timer = jest.spyOn(globalThis, "setTimeout");
      const delayAt = async (time: number) => {
        now.mockReturnValue(time);
        await deliver(port, await deliveries.next());
        return timer.mock.calls.at(-1)?.[1];
      };
      expect([await delayAt(0), await delayAt(500_000)]).toEqual([600_000, 600_000]);
      expect([await delayAt(5_900_000), await delayAt(6_100_000)]).toEqual([100_000, 0]);
    } finally {
      jest.restoreAllMocks();
      await own.close();
      await deliveries.close();
    }
  });

  test.each([
    [[], "nothing to compare"],
    [["--state", "x.json"], "--group is missing"],
    [
      ["--state", "x.json", "--group", "0".repeat(40)],
      "--issuer is missing: give the address of the platform's issuer, or set PLATFORM_ISSUER_URL",
    ],
    [
      ["--state", "x.json", "--group", "0".repeat(40), "--issuer", "issuer.example"],
      "--issuer must be the address",
    ],
    [["--state", "x.json", "--group", "0".repeat(40), ISSUER, "--settle=-1s"], "--settle must be a time"],
    ...["8787", "localhost:65536", ":1"].map((place): [string[], string] => [
      ["--state", "x.json", "--group", "0".repeat(40), ISSUER, "--listen", place],
      `--listen must be a host and a port, as in 127.0.0.1:8787, not "${place}"`,
    ]),
  ])("%j ends with 2", async (argv, message) => {
    expect(await runCommand(main, argv, {})).toMatchObject(ending(2, message));
  });
});
