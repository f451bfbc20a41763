import { startEmulator } from "../../emulator";
import type { Emulator, EmulatorOptions, LoggedRequest } from "../../emulator";
import { formatRequest } from "../../emulator/requestLog";
import { Api } from "./api";

const running: Emulator[] = [];
let emulator: Emulator;

const start = async (options: EmulatorOptions): Promise<Emulator> => {
  const started = await startEmulator(options);
  running.push(started);
  return started;
};

beforeEach(async () => {
  emulator = await start({ seed: "acme" });
});
afterEach(async () => {
  await Promise.all(running.splice(0).map((each) => each.close()));
});

test("the organisation acme has the same uids in every run, and a reset restores it", async () => {
  const other = await start({ seed: "acme" });
  const uids = (of: Emulator) =>
    Object.values(of.state())
      .flat()
      .map(({ uid }) => uid);
  const before = uids(emulator);
  expect(uids(other)).toEqual(before);
  const [binding] = emulator.state()["roleBindings"]!;
  await new Api(emulator).delete(`/iam/v2/roleBindings/${binding!["uid"] as string}`);
  expect(uids(emulator)).not.toEqual(before);
  emulator.reset();
  expect(uids(emulator)).toEqual(before);
});

test("every identity, role and repository of acme is one that the API accepts", async () => {
  const api = new Api(emulator);
  const state = emulator.state();
  const target = await api.make("/iam/v2/groups", "", { name: "copy" });
  for (const [collection, prefix] of [
    ["identities", "/iam/v2"],
    ["roles", "/iam/v2"],
    ["repos", "/registry/v2"],
  ] as const) {
    for (const { name, description, claimMatch, capabilities, activeTags } of state[collection] ?? []) {
      const sent = { name, description, claimMatch, capabilities, activeTags };
      await expect(api.make(`${prefix}/${collection}`, target.uid, sent)).resolves.toMatchObject({ name });
    }
  }
});

test("the printed request log contains no secret", async () => {
  const lines: string[] = [];
  const logged = await start({
    seed: "acme",
    onRequest: (request: LoggedRequest) => lines.push(formatRequest(request)),
  });
  const api = new Api(logged);
  const defaultRole = await api.builtInRole("viewer");
  const oidc = { issuer: "https://idp.test", clientId: "id", clientSecret: "canary-1" };
  await api.make("/iam/v2/identityProviders", logged.rootUid, { name: "idp", defaultRole, oidc });
  await api.get("/sts/exchange_refresh_token?refreshToken=canary-2&pageToken=kept");
  const shown = JSON.stringify((await api.get("/_emulator/requests")).body);
  expect(shown).toContain('"clientSecret":"[masked]"');
  expect(`${shown}${lines.join("\n")}`).not.toMatch(/canary/);
  expect(shown).toContain("pageToken=kept");
  await api.patch(`/iam/v2/groups/${logged.rootUid}?updateMask=description`, { description: "d" });
  expect(lines.at(-1)).toMatch(/ PATCH .* 200 \d+ ms mask description$/);
  logged.addFault({ close: "before", count: 1 });
  await expect(api.get("/iam/v2/groups")).rejects.toThrow();
  expect(lines.at(-1)).toMatch(/ GET \/iam\/v2\/groups closed \d+ ms fault 1$/);
  expect(lines.join("\n")).toMatch(/^\S+Z POST \/iam\/v2\/identityProviders\/[0-9a-f]+ 200 \d+ ms$/m);
});
