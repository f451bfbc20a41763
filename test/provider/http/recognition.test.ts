import type { Client, JsonObject } from "../../../provider/http/client";
import { GROUP_UID, ROLE_UID } from "../support/samples";
import { clientOf, errorOf, failure, missing, ScriptedServer } from "../support/server";
import type { Recorded, Reply } from "../support/server";

const ROLES = "/iam/v2/roles";
const REPOS = "/registry/v2/repos";

const server = ScriptedServer.ofSuite();

async function repos(client: Client): Promise<JsonObject[]> {
  const items = [];
  for await (const item of client.list(REPOS)) items.push(item);
  return items;
}

/** Answers some paths, and `{}` to everything else. */
const answering =
  (replies: Readonly<Record<string, Reply>>) =>
  ({ path }: Recorded): Reply =>
    replies[path] ?? { json: {} };

describe("a list that a response leaves out", () => {
  test.each<[string, Reply]>([
    ["a resource", { json: { uid: GROUP_UID } }],
    ["a list of resources", { json: { things: [{ uid: GROUP_UID }] } }],
  ])("is empty if %s was returned before, without another request", async (_what, reply) => {
    server.script(answering({ "/before": reply }));
    const client = clientOf(server);
    await client.get("/before").catch(() => undefined);
    await expect(repos(client)).resolves.toEqual([]);
    expect(server.calls).toEqual(["GET /before", `GET ${REPOS}`]);
  });

  test.each<[string, Reply]>([
    ["the built-in roles are listed", { json: { roles: [{ uid: ROLE_UID }] } }],
    ["roles are refused in the API's form", failure(7, "no")],
    ["a resource is missing", missing(GROUP_UID)],
  ])("is empty if a request shows that %s", async (_what, reply) => {
    server.script(answering({ [ROLES]: reply }));
    const client = clientOf(server);
    await expect(repos(client)).resolves.toEqual([]);
    expect(server.calls).toEqual([`GET ${REPOS}`, `GET ${ROLES}`]);
    await expect(repos(client)).resolves.toEqual([]);
    expect(server.calls).toHaveLength(3);
  });

  test("is an error where the response holds something else, also at the API", async () => {
    server.script([{ json: { uid: GROUP_UID } }, { json: { images: [] } }]);
    const client = clientOf(server);
    await client.get("/before");
    expect((await errorOf(repos(client))).message).toContain('its response has no list "repos"');
  });
});
