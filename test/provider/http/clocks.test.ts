import { clientOf, ScriptedServer } from "../support/server";

/** How far the calendar clock of this machine is set, in milliseconds. */
let setBy: number;
const realNow = Date.now.bind(Date);
let server: ScriptedServer;

beforeAll(async () => {
  server = await ScriptedServer.start();
});
beforeEach(() => {
  setBy = 0;
  jest.spyOn(Date, "now").mockImplementation(() => realNow() + setBy);
});
afterEach(() => jest.restoreAllMocks());
afterAll(() => server.close());

const HOUR = 3_600_000;

describe.each([-HOUR, HOUR])("while the calendar clock is set by %i ms", (step) => {
  test("a client knows the age of a resource that it created, and the server's time", async () => {
    const client = clientOf(server);
    server.script([{ json: {}, headers: { Date: "Thu, 01 Jan 2026 00:00:00 GMT" } }]);
    await client.get("/x");
    client.noteCreated("uid");
    setBy = step;
    expect(Math.abs(client.timeSinceCreation("uid")!)).toBeLessThan(HOUR / 2);
    expect(Math.abs(client.serverNow() - Date.parse("2026-01-01T00:00:00Z"))).toBeLessThan(HOUR / 2);
  });
});
