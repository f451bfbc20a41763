import type { Emulator } from "../../emulator";
import { startEmulator } from "../../emulator";
import { allMethods } from "../../emulator/tables";
import { RestrictedCaller } from "../support/leastPrivilege";
import type { ApiResponse } from "./api";
import { Api } from "./api";

let emulator: Emulator;
let api: Api;
let org: string;
let team: string;
let caller: RestrictedCaller;

beforeAll(async () => {
  emulator = await startEmulator();
});
beforeEach(async () => {
  emulator.reset();
  api = new Api(emulator);
  org = (await api.make("/iam/v2/groups", "", { name: "org" })).uid;
  team = (await api.make("/iam/v2/groups", org, { name: "team" })).uid;
  caller = await RestrictedCaller.below(emulator, team);
});
afterAll(() => emulator.close());

const send = (method: string, path: string, body?: unknown): Promise<ApiResponse> =>
  api.send(method, path, body, { authorization: `Bearer ${caller.token}` });

test("a request without its capability gets code 7 that names it and where it is needed", async () => {
  await caller.holds(["CAP_REPO_LIST"]);
  const { status, body } = await send("POST", `/registry/v2/repos/${team}`, { name: "api" });
  expect([status, body.code, body.message]).toEqual([
    403,
    7,
    `Permission denied: CAP_REPO_CREATE is needed at "${team}"`,
  ]);
});

test("a grant is valid for its group and everything below it, and not above", async () => {
  await caller.holds(["CAP_IAM_GROUPS_CREATE", "CAP_IAM_GROUPS_LIST"]);
  const below = await send("POST", `/iam/v2/groups/${team}`, { name: "below" });
  expect(below.status).toBe(200);
  expect((await send("GET", `/iam/v2/groups/${below.body.uid}`)).status).toBe(200);
  expect((await send("POST", `/iam/v2/groups/${org}`, { name: "beside" })).status).toBe(403);
  expect((await send("POST", "/iam/v2/groups", { name: "another root" })).status).toBe(403);
});

test("a list shows what the caller may see, and is refused to a caller who may see no object of the kind", async () => {
  await caller.holds(["CAP_IAM_GROUPS_LIST"]);
  const { body } = await send("GET", "/iam/v2/groups");
  expect(body.groups.map(({ uid }) => uid)).toEqual([team]);
  expect((await send("GET", "/iam/v2/roles")).status).toBe(403);
});

test("each method that changes or shows an organisation needs a capability", () => {
  const free = allMethods.filter(({ capabilities, isPublic }) => !isPublic && !capabilities?.length);
  expect(free.map(({ rpc }) => rpc.slice(rpc.indexOf("/") + 1)).sort()).toEqual([
    "CheckEligibility",
    "LookupGroup",
    "LookupIdentity",
    "RequestGroupAccess",
    "UpdateIdentityMetadata",
  ]);
});
