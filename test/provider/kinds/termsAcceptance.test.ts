import type { Handlers } from "../../../provider/lifecycle/handlers";
import { clientOf, missing, ScriptedServer } from "../support/server";
import type { Reply } from "../support/server";
import { GROUP_UID } from "../support/samples";
import { handlersAt } from "../support/handlerStack";

const server = ScriptedServer.ofSuite();

const handlers = (): Handlers => handlersAt("TermsAcceptance", clientOf(server, { maxRetries: 0 }));

const inputs = { parentUid: GROUP_UID, documentIds: ["a.v1", "b.v2"] };
const accepted = (...ids: string[]): Reply => ({
  json: { termsAcceptances: ids.map((docId) => ({ docId, orgUid: GROUP_UID })), nextPageToken: "" },
});

/** A server that remembers what was accepted, and answers one acceptance a page. */
function remembering(...before: string[]): Set<string> {
  const held = new Set(before);
  server.script(({ method, body, query }) => {
    if (method === "POST") {
      for (const id of (body as { documentIds: string[] }).documentIds) held.add(id);
      return { json: { group: GROUP_UID, documentIds: [] } };
    }
    const page = Number(query.get("page_token") ?? "0");
    const docId = [...held][page];
    return {
      json: {
        termsAcceptances: docId === undefined ? [] : [{ docId }],
        nextPageToken: page + 1 < held.size ? String(page + 1) : "",
      },
    };
  });
  return held;
}

const posted = () => server.requests.filter(({ method }) => method === "POST").map(({ body }) => body);

describe("an acceptance of terms", () => {
  test("accepts what is not accepted yet, by whomever, and has the group's uid", async () => {
    const held = remembering("x.v1", "a.v1");
    await expect(handlers().create(inputs)).resolves.toEqual({ id: GROUP_UID, outs: inputs });
    expect(posted()).toEqual([{ documentIds: ["b.v2"] }]);
    expect([...held]).toEqual(["x.v1", "a.v1", "b.v2"]);
    await handlers().create(inputs);
    expect(posted()).toHaveLength(1);
  });

  test.each([
    [["x.v1", "b.v2"], ["b.v2"]],
    [[], undefined],
    [
      ["b.v2", "x.v1", "a.v1"],
      ["a.v1", "b.v2"],
    ],
  ])("of which %j is there reads %j: others' are not shown", async (there, documentIds) => {
    server.script(() => accepted(...there));
    const read = await handlers().read(GROUP_UID, inputs);
    expect(read).toMatchObject({ id: GROUP_UID, inputs: { parentUid: GROUP_UID } });
    expect(read.inputs?.["documentIds"]).toEqual(documentIds);
  });

  test("read without a program returns everything; below a missing group there is none", async () => {
    server.script(() => accepted("x.v1", "a.v1"));
    const { inputs: read } = await handlers().read(GROUP_UID, {});
    expect(read).toEqual({ parentUid: GROUP_UID, documentIds: ["x.v1", "a.v1"] });
    server.script(() => missing(GROUP_UID));
    await expect(handlers().read(GROUP_UID, inputs)).resolves.toEqual({});
  });
});
