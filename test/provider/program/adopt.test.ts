import { startEmulator } from "../../../emulator";
import type { Emulator } from "../../../emulator";
import { adopt } from "../../../provider/program/adopt";
import type { Handlers } from "../../../provider/lifecycle/handlers";
import type { Props } from "../../../provider/fields/values";
import { clientOf } from "../support/server";
import { call } from "../../support/wire";
import { handlersAt } from "../support/handlerStack";

describe("adopting existing objects by code alone", () => {
  let emulator: Emulator;
  let org: string;
  let uid: string;

  const of = (kind: string): Handlers => {
    const client = clientOf(emulator);
    return handlersAt(kind, client);
  };
  const role = (more: Props = {}): Props => ({
    parentUid: org,
    name: "reader",
    capabilities: ["CAP_TAG_LIST", "CAP_REPO_LIST"],
    ...more,
  });

  beforeAll(async () => {
    emulator = await startEmulator();
    org = String((await call(emulator, "POST", "/iam/v2/groups", { name: "org" }))["uid"]);
    const body = { name: "reader", capabilities: ["CAP_REPO_LIST", "CAP_TAG_LIST"] };
    uid = String((await call(emulator, "POST", `/iam/v2/roles/${org}`, body))["uid"]);
  });
  beforeEach(() => emulator.clearRequests());
  afterAll(() => emulator.close());

  test("adopts an equal object without a write; the program may then remove adopt or keep it", async () => {
    const handlers = of("Role");
    const args = adopt(uid, role());
    expect(handlers.check({}, args)).toEqual([]);
    const { id, outs } = await handlers.create(args);
    expect({ id, outs }).toEqual({ id: uid, outs: role() });
    expect(emulator.requests.map(({ method }) => method)).toEqual(["GET"]);
    for (const news of [args, role()]) {
      expect(handlers.diff(outs, news)).toEqual({ changes: false, replaces: [] });
    }
  });

  test("an undefined uid takes nothing over: the object is created", async () => {
    const args = adopt(undefined, role({ name: "another reader" }));
    expect(of("Role").check({}, args)).toEqual([]);
    const { id } = await of("Role").create(args);
    expect(id).not.toBe(uid);
    expect(emulator.requests.map(({ method }) => method)).toContain("POST");
  });

  test("refuses a different object with every difference, and writes nothing", async () => {
    const declared = role({
      parentUid: `${org}/0123456789abcdef`,
      name: "other",
      capabilities: ["CAP_REPO_LIST"],
    });
    await expect(of("Role").create(adopt(uid, declared))).rejects.toThrow(
      `adopting role "other" ${uid}: it differs from the program; declare its values, or remove adopt() to create a new one
  parentUid: declared "${org}/0123456789abcdef", existing "${org}"
  name: declared "other", existing "reader"
  capabilities: declared ["CAP_REPO_LIST"], existing ["CAP_REPO_LIST","CAP_TAG_LIST"]`,
    );
    expect(emulator.requests.map(({ method }) => method)).toEqual(["GET"]);
  });

  test("reports a claim that the program does not declare as a difference", async () => {
    const claimMatch = { issuer: "https://a.example.com", subject: "a" };
    const created = await call(emulator, "POST", `/iam/v2/identities/${org}`, {
      name: "ci",
      claimMatch: { ...claimMatch, claims: { owner: "somebody" } },
    });
    const args = adopt(String(created["uid"]), { parentUid: org, name: "ci", claimMatch });
    await expect(of("Identity").create(args)).rejects.toMatchObject({
      errorCode: "PP4006",
      message: expect.stringMatching(/claimMatch: declared .*, existing .*"owner":"somebody"/),
    });
  });

  test("an invalid or unknown uid is an error in one line, as is an object that may not be read", async () => {
    emulator.addFault({ count: 1, status: 403, body: { code: 7, message: "no", details: [] } });
    await expect(of("Role").create(adopt(uid, role()))).rejects.toThrow(
      `adopting role "reader" ${uid}: PERMISSION_DENIED`,
    );
    expect(of("Role").check({}, adopt("reader", role()))).toEqual([
      { property: "adopt", reason: expect.stringContaining("must be a uid"), code: "PP1004" },
    ]);
    expect(of("Role").check({}, adopt("", role()))).toHaveLength(1);
    await expect(of("Role").create(adopt(`${org}/${"0".repeat(16)}`, role()))).rejects.toMatchObject({
      errorCode: "PP4005",
      message: expect.stringContaining("not found; remove adopt() to create a new one"),
    });
  });
});
