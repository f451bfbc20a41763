import { startEmulator } from "../../emulator";
import { Stack } from "../support/engine";

test("a lookup takes arguments that are known only during the update, and a preview waits for them", async () => {
  const emulator = await startEmulator();
  const stack = await new Stack(emulator).init();
  try {
    stack.files({
      "index.js": `
        const platform = require("pulumi-platform");
        const fresh = new platform.Group("fresh", { name: "fresh", description: "new" });
        module.exports = (async () => ({
          ping: (await platform.ping()).response !== undefined,
          builtIn: (await platform.getRole({ name: "viewer", builtIn: true })).builtIn,
          late: platform.getGroupOutput({ uid: fresh.id }).description,
          lateRole: platform.getRoleOutput({ uid: platform.getRoleOutput({ name: "owner", builtIn: true }).uid }).name,
        }))();
      `,
    });
    await stack.succeed(["preview"]);
    await stack.up();
    const { stdout } = await stack.succeed(["stack", "output", "--json"]);
    expect(JSON.parse(stdout)).toEqual({ ping: true, builtIn: true, late: "new", lateRole: "owner" });
  } finally {
    await emulator.close();
    stack.dispose();
  }
});
