import { writeFileSync } from "node:fs";
import { createServer, request } from "node:http";
import type { IncomingHttpHeaders, Server } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { startEmulator } from "../../../../emulator";
import type { Emulator } from "../../../../emulator";
import { ChangedResources } from "../../../../provider/access/drift/stateComparison";
import type { DriftReport } from "../../../../provider/access/report/report";
import { parseStateExport } from "../../../../provider/access/documents/stateExport";
import type { StateExport } from "../../../../provider/access/documents/stateExport";
import type { DriftRequest } from "../../../../provider/access/drift/drift";
import { defaultRuleOptions, findingsOf } from "../../../../provider/access/rules";
import { toRules } from "../../../../provider/access/rules/ownRules";
import { createSuppressor, readDriftPolicy } from "../../../../provider/cli/policy/reviewPolicy";
import { EventReceiver, main, reportChanges } from "../../../../provider/cli/commands/watch/watch";
import { brief, clientOf } from "../../../support/driftMatrix";
import { call } from "../../../support/wire";
import { runCommand } from "../support";
import { temporaryFolder } from "../../../support/folders";

describe("pulumi-platform watch", () => {
  let emulator: Emulator;
  let receiver: EventReceiver;
  let url: string;
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
    const type = "pulumi-nodejs:dynamic/platform:Role";
    const row = { urn: `urn:pulumi:test::test::${type}::reader`, type, custom: true, id: role };
    const inputs = { parentUid: org, ...body };
    const resources = [{ ...row, inputs, outputs: inputs }];
    state = parseStateExport(JSON.stringify({ version: 3, deployment: { resources } }), "export.json");
    const client = clientOf(emulator);
    receiver = new EventReceiver({
      verify: { issuer: emulator.url, group: org },
      // Never by itself: the test says when it is quiet.
      settleMs: 600_000,
      run: async (touched) => void reports.push(await reportChanges(client, touched, [state])),
      log: (line) => said.push(line),
    });
    await new Promise<void>((done) => receiver.server.listen(0, "127.0.0.1", () => done()));
    url = `http://127.0.0.1:${(receiver.server.address() as AddressInfo).port}`;
    await call(emulator, "POST", `/events/v2/subscriptions/${org}`, { sink: "https://sink.example.com" });
    emulator.settings({ deliverTo: url });
  });

  afterAll(async () => {
    await receiver.close();
    await emulator.close();
  });

  test("lists suppressed findings separately, and reports no entry about other objects as unused", async () => {
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
    const report = await reportChanges(clientOf(emulator), touched, [state], { suppress });
    await allow(["CAP_REPO_LIST"]);
    await settle();
    expect(report).toMatchObject({
      findings: [],
      suppressed: [{ uid: role, suppression: { reason: "tried out" } }],
      policy: { unused: [], expired: [] },
    });
  });

  test("asks rules of one's own about what changed, but none that needs the whole organisation", async () => {
    const touched = new ChangedResources();
    touched.add({ name: "iam.roles.updated", subject: role });
    const rule = {
      name: "of-acme",
      severity: "low",
      why: "x",
      fix: "y",
      find: () => [{ message: "found" }],
    } as const;
    const ownRules = toRules(
      [
        { ...rule, id: "ACME1" },
        { ...rule, id: "ACME2", name: "of-all", needsWhole: true },
      ],
      "rules.cjs",
    );
    const ask: DriftRequest["rules"] = (comparison) =>
      findingsOf(comparison, defaultRuleOptions(Date.now()), ownRules);
    const report = await reportChanges(clientOf(emulator), touched, [state], { rules: ask, ownRules });
    expect(report.findings.map(({ id }) => id)).toEqual(["ACME1"]);
    expect(report.ownRules).toHaveLength(2);
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
    const requests = ["a", "b"].map((name) => ({
      parent: org,
      roleBinding: { identityUid: `${org}/${"0".repeat(15)}${name}`, roleUid: role },
    }));
    const identities = await Promise.all(
      ["one", "two"].map((name) =>
        call(emulator, "POST", `/iam/v2/identities/${org}`, {
          name,
          claimMatch: { issuer: "https://a.example.com", subject: name },
        }),
      ),
    );
    const owner = (await call(emulator, "GET", "/iam/v2/roles?name=owner"))["roles"] as { uid: string }[];
    await settle();
    await call(emulator, "POST", "/iam/v2/roleBindings:batchCreate", {
      parent: org,
      requests: requests.map((request, i) => ({
        ...request,
        roleBinding: { identityUid: identities[i]?.["uid"], roleUid: owner[0]?.uid },
      })),
    });
    const [report] = await settle();
    expect(report && brief(report).map(({ kind, what }) => [kind, what])).toEqual([
      ["RoleBinding", "unmanaged"],
      ["RoleBinding", "unmanaged"],
    ]);
  });

  test("refuses a forged, a malformed and a too large event, and starts no run", async () => {
    const headers = {
      "Ce-Id": "1",
      "Ce-Type": "dev.chainguard.api.iam.roles.deleted.v1",
      "Ce-Subject": role,
    };
    const forged = await fetch(url, { method: "POST", headers, body: "{}" });
    const bearer = { ...headers, Authorization: "Bearer a.b.c" };
    const signed = await fetch(url, { method: "POST", headers: bearer, body: "{}" });
    const large = await fetch(url, { method: "POST", headers, body: "x".repeat(6 * 1024 * 1024) }).catch(
      () => undefined,
    );
    const get = await fetch(url);
    expect([forged.status, signed.status, get.status]).toEqual([401, 401, 405]);
    expect(large?.status ?? 401).toBe(401);
    expect(await settle()).toEqual([]);
    expect(said.join("\n")).toContain("an event was not taken (401)");
  });

  /** Deliveries of the platform as they came over the wire, kept instead of being received. */
  async function capture(
    make: () => Promise<unknown>,
  ): Promise<{ headers: Record<string, string>; body: Buffer }[]> {
    const kept: { headers: Record<string, string>; body: Buffer }[] = [];
    const sink: Server = createServer((incoming, response) => {
      const chunks: Buffer[] = [];
      incoming.on("data", (chunk: Buffer) => chunks.push(chunk));
      incoming.on("end", () => {
        kept.push({ headers: eventHeaders(incoming.headers), body: Buffer.concat(chunks) });
        response.writeHead(204).end();
      });
    });
    await new Promise<void>((done) => sink.listen(0, "127.0.0.1", done));
    emulator.settings({ deliverTo: `http://127.0.0.1:${(sink.address() as AddressInfo).port}` });
    await make();
    await emulator.waitForDeliveries();
    emulator.settings({ deliverTo: url });
    await new Promise((done) => sink.close(done));
    return kept;
  }

  const eventHeaders = (headers: IncomingHttpHeaders): Record<string, string> =>
    Object.fromEntries(
      Object.entries(headers).flatMap(([name, value]): [string, string][] =>
        typeof value === "string" && /^(ce-|authorization$)/.test(name) ? [[name, value]] : [],
      ),
    );

  const deliver = async (headers: Record<string, string>, body: Buffer): Promise<number> =>
    (await fetch(url, { method: "POST", headers, body: new Uint8Array(body) })).status;

  test("refuses an invalid bearer token before it reads the body", async () => {
    const answered = await new Promise<number | undefined>((done, failed) => {
      const headers = { Authorization: "Bearer a.b.c", "Ce-Id": "1" };
      const sending = request(url, { method: "POST", headers: { ...headers, "Content-Length": 4_000_000 } });
      sending.on("response", (response) => done(response.statusCode));
      sending.on("error", failed);
      // The body never comes: only headers are sent.
      sending.flushHeaders();
    });
    expect(answered).toBe(401);
  });

  test("ignores a repeated delivery, and refuses one with other headers", async () => {
    const [first, ...more] = await capture(() =>
      call(emulator, "POST", `/iam/v2/roles/${org}`, { name: "replayed", capabilities: ["CAP_REPO_LIST"] }),
    );
    expect(more).toEqual([]);
    if (first === undefined) throw new Error("no event was delivered");
    const { headers, body } = first;
    // The server answers without reading so much, which a client may see as a broken connection.
    const large = await deliver(headers, Buffer.alloc(6 * 1024 * 1024)).catch(() => 413);
    expect(large).toBe(413);
    expect(await deliver(headers, body)).toBe(204);
    expect(await settle()).toHaveLength(1);
    expect(await deliver(headers, body)).toBe(204);
    said.length = 0;
    for (const [name, value] of [
      ["ce-id", "another"],
      ["ce-subject", org],
      ["ce-type", "dev.chainguard.api.iam.group.deleted.v1"],
      ["ce-extra", "x"],
    ] as const) {
      expect({ name, status: await deliver({ ...headers, [name]: value }, body) }).toEqual({
        name,
        status: 401,
      });
    }
    expect(said).toHaveLength(4);
    for (const line of said) expect(line).toContain("with other headers: it is a replay");
    expect(await settle()).toEqual([]);
  });

  test("a failed run keeps its events for the next run, and says so", async () => {
    const runs: string[][] = [];
    const lines: string[] = [];
    let fails = true;
    const own = new EventReceiver({
      verify: { issuer: emulator.url, group: org },
      settleMs: 600_000,
      run: (touched) => {
        runs.push([...touched.uids.values()].flatMap((uids) => [...uids]));
        return fails ? Promise.reject(new Error("no connection")) : Promise.resolve();
      },
      log: (line) => lines.push(line),
    });
    await new Promise<void>((done) => own.server.listen(0, "127.0.0.1", () => done()));
    emulator.settings({ deliverTo: `http://127.0.0.1:${(own.server.address() as AddressInfo).port}` });
    const make = async (name: string) => {
      const body = { name, capabilities: ["CAP_REPO_LIST"] };
      const made = await call(emulator, "POST", `/iam/v2/roles/${org}`, body);
      await emulator.waitForDeliveries();
      await own.waitUntilIdle();
      return String(made["uid"]);
    };
    try {
      const first = await make("first");
      expect(lines).toEqual(["a run failed: no connection; the next run checks its 1 events again (PP9001)"]);
      const second = await make("second");
      fails = false;
      const third = await make("third");
      expect(runs).toEqual([[first], [first, second], [first, second, third]]);
      await own.waitUntilIdle();
      expect(runs).toHaveLength(3);
    } finally {
      emulator.settings({ deliverTo: url });
      await own.close();
    }
  });

  test.each([
    [[], "nothing to compare"],
    [
      ["--state", "x.json", "--rules", "none.mjs"],
      "none.mjs: the rules cannot be read: there is no such file in ",
    ],
    [["--state", "x.json"], "--group is missing"],
    [["--state", "x.json", "--group", "0".repeat(40)], "--issuer must be the address"],
  ])("%j ends with 2", async (argv, message) => {
    const { code, stderr } = await runCommand(main, argv, {});
    expect({ code, stderr }).toEqual({ code: 2, stderr: expect.stringContaining(message) });
  });
});
