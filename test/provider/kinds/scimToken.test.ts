import type { Emulator, LoggedRequest } from "../../../emulator";
import type { Props } from "../../../provider/fields/values";
import { startSeededEmulator } from "../support/seededEmulator";
import { HandlerStack } from "../support/handlerStack";
import { errorOf } from "../support/server";
import { call } from "../../support/wire";

/* A token of SCIM, and the switch of its provider, at a server that answers as the API does. */

const oidc = { issuer: "https://login.example.com", clientId: "platform", pkceEnabled: true };
const surroundings = {
  org: { kind: "Group", args: { name: "org" } },
  reader: {
    kind: "Role",
    args: { parentUid: "${org}", name: "reader", capabilities: ["CAP_REPO_LIST"] },
  },
  login: {
    kind: "IdentityProvider",
    args: { parentUid: "${org}", name: "login", defaultRole: "${reader}", oidc },
  },
};
const LATER = new Date(Date.now() + 100 * 86_400_000).toISOString();
const stale = { status: 409, body: { code: 10, message: "etag", details: [] } };

let emulator: Emulator;
let ids: Readonly<Record<string, string>>;
let stack: HandlerStack;
let provider: string;
let path: string;

beforeAll(async () => {
  ({ emulator, ids } = await startSeededEmulator(surroundings));
  provider = ids["login"] ?? "";
  path = `/iam/v2/identityProviders/${provider}`;
});
beforeEach(() => {
  emulator.reset();
  emulator.clearRequests();
  stack = new HandlerStack(emulator, {});
});
afterEach(() => emulator.clearFaults());
afterAll(() => emulator.close());

const token = () => stack.handlersOf("ScimToken");
const create = (args: Props = {}) => token().create({ parentUid: provider, ...args });
const posts = (verb: string): LoggedRequest[] =>
  emulator.requests.filter((one) => one.method === "POST" && one.path === `${path}:${verb}`);
const fail = (verb: string, failure: object) =>
  emulator.addFault({ method: "POST", path: new RegExp(`:${verb}$`), count: 1, ...failure });

test("a token is returned at its creation, kept by a read, and rotated by each trigger alone", async () => {
  const { id, outs } = await create({ rotate: "one", overlap: "30m" });
  expect(id).toBe(provider);
  expect(outs).toMatchObject({
    token: expect.stringMatching(/^cgscim_[0-9a-f]{64}$/) as unknown,
    endpointUrl: expect.stringContaining("/scim/") as unknown,
    tokenExpireTime: expect.stringMatching(/^\d{4}-/) as unknown,
  });
  expect((await token().read(id, outs)).props).toMatchObject({ token: outs["token"] });
  let held = outs;
  for (const [args, body] of [
    // Another spelling of the overlap, and another overlap, rotate nothing.
    [{ rotate: "one", overlap: "1800s" }, undefined],
    [{ rotate: "one", overlap: "0s" }, undefined],
    [{ rotate: "two", overlap: "30m" }, { overlap: "1800s" }],
    [{ rotate: "two", expireTime: LATER }, { expireTime: LATER }],
    [
      { rotate: "two", neverExpires: true, overlap: "0s" },
      { neverExpires: true, overlap: "0s" },
    ],
    [{}, {}],
  ] as const) {
    emulator.clearRequests();
    const before = held["token"];
    held = { ...held, ...(await token().update(id, held, { parentUid: provider, ...args })) };
    const sent = posts("regenerateScimToken").map((one) => one.body);
    expect(sent).toEqual(body === undefined ? [] : [{ ...body, etag: expect.any(String) as unknown }]);
    expect(held["token"] === before).toBe(body === undefined);
  }
  await token().delete(id, held);
  await token().delete(id, held);
  expect((await token().read(id, held)).props).toBeUndefined();
});

test("a rotation with a stale etag is tried once more, with a fresh one", async () => {
  const { id, outs } = await create();
  fail("regenerateScimToken", stale);
  const after = await token().update(id, outs, { parentUid: provider, rotate: "now" });
  expect(posts("regenerateScimToken")).toHaveLength(2);
  expect(after["token"]).not.toBe(outs["token"]);
  const again = { parentUid: provider, rotate: "again" };
  for (const failure of [stale, { ...stale, count: 2 }]) fail("regenerateScimToken", failure);
  expect((await errorOf(token().update(id, after, again))).message).toContain("ABORTED");
});

test("a token that cannot be revoked, or whose rotation nobody can read, is the server's refusal", async () => {
  const { id, outs } = await create();
  const refused = { status: 400, body: { code: 9, message: "in use", details: [] } };
  fail("revokeScimToken", refused);
  expect((await errorOf(token().delete(id, outs))).message).toContain("FAILED_PRECONDITION");
  fail("regenerateScimToken", refused);
  emulator.addFault({
    method: "GET",
    path,
    after: 1,
    status: 403,
    body: { code: 7, message: "no", details: [] },
  });
  const rotated = token().update(id, outs, { parentUid: provider, rotate: "now" });
  expect((await errorOf(rotated)).message).toContain("FAILED_PRECONDITION");
});

test("a rotation whose response was lost says so, and the next run rotates once more", async () => {
  const { id, outs } = await create();
  fail("regenerateScimToken", { close: "after" });
  const error = await errorOf(token().update(id, outs, { parentUid: provider, rotate: "now" }));
  expect(error.message).toContain("it was rotated, but the response was lost");
  expect(error).toMatchObject({ errorCode: "PP4003" });
  expect(posts("regenerateScimToken")).toHaveLength(1);
});

test("a token that was created elsewhere is not adopted, and one that was revoked is gone", async () => {
  await call(emulator, "POST", `${path}:generateScimToken`, {});
  const error = await errorOf(create());
  expect(error).toMatchObject({ errorCode: "PP4007" });
  expect(error.message).toContain(`POST ${path}:revokeScimToken`);
  await call(emulator, "POST", `${path}:revokeScimToken`, {});
  const { id, outs } = await create();
  await call(emulator, "POST", `${path}:revokeScimToken`, {});
  expect((await token().read(id, outs)).props).toBeUndefined();
});

test("SCIM needs two owners, and is switched on with a fresh etag, again if that is stale", async () => {
  const inputs: Props = {
    ...{ parentUid: ids["org"] ?? "", name: "login", defaultRole: ids["reader"] ?? "" },
    ...{ oidc, scimEnabled: true },
  };
  const handlers = stack.handlersOf("IdentityProvider");
  const olds = { ...inputs, scimEnabled: false };
  const refused = await errorOf(handlers.update(provider, olds, inputs));
  for (const words of ["scimEnabled failed", "FAILED_PRECONDITION", "add them to dependsOn"])
    expect(refused.message).toContain(words);
  const { roles } = await call(emulator, "GET", "/iam/v2/roles?name=owner");
  const roleUid = (roles as { uid: string }[]).find(({ uid }) => !uid.includes("/"))?.uid;
  for (const subject of ["ada", "grace"]) {
    const query = `issuer=https%3A%2F%2Flogin.example.com&subject=${subject}`;
    const { uid } = await call(emulator, "GET", `/iam/v2/identities:lookupIdentity?${query}`);
    await call(emulator, "POST", `/iam/v2/roleBindings/${ids["org"] ?? ""}`, { identityUid: uid, roleUid });
  }
  emulator.clearRequests();
  fail("setScimEnabled", stale);
  await handlers.update(provider, olds, inputs);
  expect(posts("setScimEnabled")).toHaveLength(2);
  expect((await call(emulator, "GET", path))["scim"]).toMatchObject({ enabled: true });
  await handlers.update(provider, inputs, { ...inputs, scimEnabled: undefined });
  expect((await call(emulator, "GET", path))["scim"]).toMatchObject({ enabled: false });
});
