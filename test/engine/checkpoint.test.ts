import { startEmulator } from "../../emulator";
import { Stack } from "../support/engine";

const org = { kind: "Group", args: { name: "org" } };

test("the state that tests read from the backend's file is the one that the CLI exports, with and without secrets", async () => {
  const emulator = await startEmulator();
  const stack = await new Stack(emulator).init();
  try {
    expect(await stack.resources()).toEqual(await stack.exportResources());
    stack.declare({ org, team: { kind: "Group", args: { parentUid: "${org}", name: "team" } } });
    await stack.up();
    expect(await stack.resources()).toEqual(await stack.exportResources());
    expect(Object.keys(await stack.ours())).toEqual(["org", "team"]);

    const oidc = { issuer: "https://login.example.com", clientId: "platform", clientSecret: "hush" };
    const role = {
      kind: "Role",
      args: { parentUid: "${org}", name: "role", capabilities: ["CAP_REPO_LIST"] },
    };
    const args = { parentUid: "${org}", name: "login", defaultRole: "${role}", oidc };
    stack.declare({ org, role, login: { kind: "IdentityProvider", args } });
    await stack.up();
    expect(await stack.resources()).toEqual(await stack.exportResources());
    expect(JSON.stringify((await stack.ours())["login"]?.inputs)).toContain("hush");
    expect(stack.ids()["login"]).toBe((await stack.ours())["login"]?.id);
  } finally {
    stack.dispose();
    await emulator.close();
  }
});
