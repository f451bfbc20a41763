import type { Handlers } from "../../../provider/lifecycle/handlers";
import type { Props } from "../../../provider/fields/values";
import { ROOT_UID, ROLE_UID, sampleOf } from "../support/samples";
import { clientOf, ScriptedServer } from "../support/server";
import type { Reply } from "../support/server";
import { handlersAt } from "../support/handlerStack";

const KIND = "GroupInvite";
const UID = `${ROOT_UID}/00000000000000aa`;
const CODE = "the code of an invite";

const server = ScriptedServer.ofSuite();

const handlers = (): Handlers => handlersAt(KIND, clientOf(server));

const inputs = sampleOf(KIND, "invite");
const role = { uid: ROLE_UID, name: "viewer", description: "", capabilities: [] };
const told = { keyId: "key-1", expirationTime: "2026-03-02T00:00:00.000Z" };
const answer = (members: Props = {}): Reply => ({
  json: {
    uid: UID,
    roleUid: ROLE_UID,
    email: "ada@example.com",
    singleUse: true,
    ttl: null,
    code: "",
    role,
    createTime: new Date().toISOString(),
    ...told,
    ...members,
  },
});

describe("an invite", () => {
  test("sends its lifetime in seconds, and keeps the code, which is returned once", async () => {
    server.script([answer({ code: CODE }), answer()]);
    const { id, outs } = await handlers().create(inputs);
    expect({ id, outs }).toEqual({ id: UID, outs: { ...inputs, ...told, code: CODE } });
    expect(server.calls).toEqual([`POST /iam/v2/groupInvites/${ROOT_UID}`]);
    expect(server.last().body).toEqual({
      roleUid: ROLE_UID,
      ttl: "86400s",
      email: "ada@example.com",
      singleUse: true,
    });
    await expect(handlers().read(UID, outs)).resolves.toEqual({ id: UID, props: outs, inputs });
  });

  test("whose role is deleted shows so, and is replaced", async () => {
    const outs = { ...inputs, ...told, code: CODE };
    for (const gone of [null, undefined]) {
      server.script([answer({ role: gone })]);
      const read = await handlers().read(UID, outs);
      expect(read.inputs).toEqual({ ...inputs, roleUid: undefined });
      expect(read.props?.["code"]).toBe(CODE);
      expect(handlers().diff(read.props ?? {}, inputs)).toEqual({
        changes: undefined,
        replaces: ["roleUid"],
      });
    }
  });

  // The create whose response was lost is in faults.test.ts.
  test("without the code, which is returned only once, is replaced, also where a refresh finds it", async () => {
    const lost = { ...inputs, ...told };
    const replaced = { changes: true, replaces: ["code"] };
    expect(handlers().diff(lost, inputs)).toEqual(replaced);
    server.script([answer()]);
    const { props = {} } = await handlers().read(UID, lost);
    expect(handlers().diff(props, inputs)).toEqual(replaced);
    // What versions before this one recorded.
    expect(handlers().diff({ ...lost, ttl: null }, inputs).changes).toBe(true);
  });
});
