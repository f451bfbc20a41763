import { createHash } from "node:crypto";
import type { IncomingHttpHeaders, Server } from "node:http";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { api, emulator, org, startForEach } from "./api";
import { claimsSignedByIssuer } from "./jwt";

interface Received {
  headers: IncomingHttpHeaders;
  raw: string;
}

let server: Server;
let deliverTo: string;
let received: Received[];
let statuses: number[];

beforeAll(async () => {
  server = createServer((request, response) => {
    let raw = "";
    request.setEncoding("utf8");
    request.on("data", (chunk: string) => (raw += chunk));
    request.on("end", () => {
      received.push({ headers: request.headers, raw });
      response.writeHead(statuses.shift() ?? 204).end();
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  deliverTo = `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook`;
});
afterAll(() => {
  server.closeAllConnections();
  server.close();
});

startForEach(() => ({ deliverTo }));
beforeEach(async () => {
  received = [];
  statuses = [];
  await api.make("/events/v2/subscriptions", org, { sink: "https://sink.test/x" });
  await emulator.waitForDeliveries();
  received = [];
  emulator.clearEvents();
});

/** The events since the last call: type (without prefix and version), subject and group. */
async function newEvents(): Promise<string[]> {
  await emulator.waitForDeliveries();
  const events = emulator.events.map(({ type, subject, group }) => {
    const name = /^dev\.chainguard\.api\.(.+)\.v1$/.exec(type)?.[1] ?? type;
    const place = (uid: string): string => uid.replaceAll(org, "ORG");
    return `${name} ${place(subject)} ${place(group)}`;
  });
  emulator.clearEvents();
  return events;
}

const bodyOf = ({ raw }: Received): Record<string, unknown> =>
  (JSON.parse(raw) as { body: Record<string, unknown> }).body;

describe("a delivery", () => {
  test("is a CloudEvent in binary mode with a signed token", async () => {
    const created = await api.make("/registry/v2/repos", org, { name: "app" });
    await emulator.waitForDeliveries();
    const [{ headers, raw }] = received as [Received];
    expect(headers).toMatchObject({
      "content-type": "application/json",
      "ce-specversion": "1.0",
      "ce-id": expect.stringMatching(/./),
      "ce-source": emulator.url,
      "ce-type": "dev.chainguard.api.platform.registry.repo.created.v1",
      "ce-subject": created.uid,
      "ce-time": "2026-01-28T12:54:21.189Z",
      "ce-group": org,
      "ce-audience": "customer",
      "x-emulator-sink": "https://sink.test/x",
    });
    expect(JSON.parse(raw)).toEqual({
      actor: { subject: expect.stringMatching(/^[0-9a-f]{40}$/), act: {} },
      body: created,
    });
    const token = headers.authorization!.replace("Bearer ", "");
    expect(await claimsSignedByIssuer(token, emulator.url)).toMatchObject({
      iss: emulator.url,
      aud: "customer",
      sub: `webhook:${org}`,
      webhook: { digest: `sha256:${createHash("sha256").update(raw).digest("hex")}` },
    });
    expect(emulator.events).toMatchObject([{ state: "delivered", attempts: 1, status: 204 }]);
    expect(JSON.stringify(emulator.events)).not.toContain(token);
  });

  test("is tried again with the same id, three times at most, and no request fails for it", async () => {
    statuses = [500, 503];
    await api.make("/registry/v2/repos", org, { name: "a" });
    await emulator.waitForDeliveries();
    expect(new Set(received.map(({ headers }) => headers["ce-id"])).size).toBe(1);
    expect(emulator.events).toMatchObject([{ state: "delivered", attempts: 3 }]);
    statuses = [500, 500, 500, 500];
    await api.make("/registry/v2/repos", org, { name: "b" });
    await emulator.waitForDeliveries();
    expect(emulator.events[1]).toMatchObject({ state: "failed", attempts: 3, status: 500 });
  });

  test("goes only to this machine, or to the sinks", () => {
    for (const wrong of ["http://example.com", "https://127.0.0.1", "nowhere"]) {
      expect(() => emulator.settings({ deliverTo: wrong })).toThrow(/deliverTo/);
    }
    emulator.settings({ deliverTo: "sinks" });
  });
});

describe("the events of", () => {
  test.each<[string, string, object]>([
    ["iam.identity", "/iam/v2/identities", { name: "i", claimMatch: { issuer: "i", subject: "s" } }],
    ["iam.roles", "/iam/v2/roles", { name: "r", capabilities: ["CAP_REPO_LIST"] }],
    ["platform.registry.repo", "/registry/v2/repos", { name: "p" }],
    ["events.subscription", "/events/v2/subscriptions", { sink: "https://s.test" }],
  ])("%s name the resource, and on delete the request", async (name, collection, body) => {
    const isChanged = "name" in body;
    const { uid } = await api.make(collection, org, body);
    if (isChanged) await api.patch(`${collection}/${uid}`, { description: "d" });
    await api.delete(`${collection}/${uid}`);
    await emulator.waitForDeliveries();
    const mine = emulator.events.filter(({ sink }) => sink === "https://sink.test/x");
    const actions = isChanged ? ["created", "updated", "deleted"] : ["created", "deleted"];
    expect(mine.map(({ type }) => type)).toEqual(
      actions.map((action) => `dev.chainguard.api.${name}.${action}.v1`),
    );
    expect(mine.every(({ subject, group }) => subject === uid && group === org)).toBe(true);
    expect((mine.at(-1)!.body as { body: object }).body).toEqual({ uid });
    expect((mine[0]!.body as { body: object }).body).toMatchObject({ uid, ...body });
  });

  test("role bindings come one by one or as a batch", async () => {
    const { uid: identityUid } = await api.make("/iam/v2/identities", org, {
      name: "i",
      servicePrincipal: 13,
    });
    const roleUid = await api.builtInRole("viewer");
    await newEvents();
    const { uid } = await api.make("/iam/v2/roleBindings", org, { identityUid, roleUid });
    await api.patch(`/iam/v2/roleBindings/${uid}`, { roleUid });
    await api.delete(`/iam/v2/roleBindings/${uid}`);
    await api.delete(`/iam/v2/roleBindings/${uid}`);
    const requests = [{ roleBinding: { identityUid } }, { roleBinding: { identityUid } }];
    await api.post("/iam/v2/roleBindings:batchCreate", { parent: org, roleUid, requests });
    const place = uid.replace(org, "ORG");
    expect(await newEvents()).toEqual([
      `iam.rolebindings.created ${place} ORG`,
      `iam.rolebindings.updated ${place} ORG`,
      `iam.rolebindings.deleted ${place} ORG`,
      "iam.rolebindings.created.batch ORG ORG",
    ]);
    expect(bodyOf(received.at(-1)!).roleBindings).toHaveLength(2);
  });

  test("identity providers and their tokens contain no secret", async () => {
    const defaultRole = await api.builtInRole("viewer");
    const oidc = { issuer: "https://idp.test", clientId: "c", clientSecret: "canary" };
    const { uid } = await api.make("/iam/v2/identityProviders", org, { name: "idp", defaultRole, oidc });
    const path = `/iam/v2/identityProviders/${uid}`;
    await api.patch(path, { oidc: { clientSecret: "canary-2" } });
    const scim = async (verb: string, body: object = {}): Promise<string> =>
      (await api.post(`${path}:${verb}`, body)).body.etag;
    let etag = await scim("generateScimToken");
    etag = await scim("regenerateScimToken", { etag });
    await scim("setScimEnabled", { etag });
    await scim("revokeScimToken");
    await api.make("/iam/v2/externalGroupRoleMappings", uid, {
      externalGroupId: "g",
      roleUid: defaultRole,
      scope: org,
    });
    const mapping = emulator.state().externalGroupRoleMappings![0]!.uid as string;
    await emulator.waitForDeliveries();
    expect(received.at(-1)!.headers).toMatchObject({ "ce-identityprovider": uid, "ce-group": org });
    await api.post("/iam/v2/externalGroupRoleMappings:batchDelete", { parent: uid, names: [mapping] });
    const idp = uid.replace(org, "ORG");
    expect(await newEvents()).toEqual([
      `iam.identity_providers.created ${idp} ORG`,
      `iam.identity_providers.updated ${idp} ORG`,
      `iam.identity_providers.scim_token.generated ${idp} ORG`,
      `iam.identity_providers.scim_token.regenerated ${idp} ORG`,
      `iam.identity_providers.scim_enabled.updated ${idp} ORG`,
      `iam.identity_providers.scim_token.revoked ${idp} ORG`,
      `iam.external_group_role_mappings.created ${mapping.replace(org, "ORG")} ORG`,
      `iam.external_group_role_mappings.deleted.batch ${idp} ORG`,
    ]);
    const all = received.map(({ raw }) => raw).join();
    expect(all).not.toMatch(/canary|cgscim_/);
  });
});

test("closing the emulator aborts deliveries that are under way", async () => {
  const stuck = createServer(() => undefined);
  await new Promise<void>((resolve) => stuck.listen(0, "127.0.0.1", resolve));
  emulator.settings({ deliverTo: `http://127.0.0.1:${(stuck.address() as AddressInfo).port}` });
  await api.make("/registry/v2/repos", org, { name: "a" });
  await new Promise<void>((resolve) => stuck.once("connection", () => resolve()));
  await emulator.close();
  await emulator.waitForDeliveries();
  expect(emulator.events).toMatchObject([{ state: "failed" }]);
  stuck.closeAllConnections();
  stuck.close();
});
