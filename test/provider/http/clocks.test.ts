import { RateLimiter } from "../../../provider/http/client";
import { clientOf, detail, errorOf, failure, ScriptedServer } from "../support/server";

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
  test("the rate limiter waits as long as it was asked to", async () => {
    jest.restoreAllMocks();
    jest.useFakeTimers();
    try {
      const limiter = new RateLimiter();
      limiter.pauseFor(1000);
      jest.setSystemTime(Date.now() + step);
      let isOpen = false;
      const passed = limiter.acquire().then(() => (isOpen = true));
      await jest.advanceTimersByTimeAsync(990);
      expect(isOpen).toBe(false);
      await jest.advanceTimersByTimeAsync(20);
      expect(isOpen).toBe(true);
      await passed;
    } finally {
      jest.useRealTimers();
    }
  });

  test("a client knows the age of a resource that it created, and the server's time", async () => {
    const client = clientOf(server);
    server.script([{ json: {}, headers: { Date: "Thu, 01 Jan 2026 00:00:00 GMT" } }]);
    await client.get("/x");
    client.noteCreated("uid");
    setBy = step;
    expect(Math.abs(client.timeSinceCreation("uid")!)).toBeLessThan(HOUR / 2);
    expect(Math.abs(client.serverNow() - Date.parse("2026-01-01T00:00:00Z"))).toBeLessThan(HOUR / 2);
  });

  test("a Retry-After with a date is counted from the date of the response", async () => {
    setBy = step;
    server.script([
      {
        ...failure(14, "later", detail("DebugInfo", {})),
        headers: {
          Date: "Thu, 01 Jan 2026 00:00:00 GMT",
          "Retry-After": "Thu, 01 Jan 2026 00:05:00 GMT",
        },
      },
    ]);
    expect(await errorOf(clientOf(server).get("/x"))).toMatchObject({ retryAfterMs: 300_000 });
  });
});
