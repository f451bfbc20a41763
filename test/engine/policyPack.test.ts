import { readFileSync } from "node:fs";
import { join } from "node:path";
import { startEmulator } from "../../emulator";
import { takeInventory } from "../../provider/inventory/takeInventory";
import { CommandChain } from "../support/commandChain";
import { clientOf } from "../support/driftMatrix";
import { ROOT, Stack } from "../support/engine";
import type { Run } from "../support/engine";

test("the pack of the package refuses before its request what the approved report does not announce, and lets pass what it does", async () => {
  const emulator = await startEmulator();
  const stack = await new Stack(emulator).init();
  const chain = new CommandChain(emulator, stack.directory);
  try {
    stack.declare({ org: { kind: "Group", args: { name: "org" } } });
    await stack.pulumi(["up", "--yes", "--skip-preview"]);
    const { org = "" } = stack.ids();
    const inventory = await takeInventory(clientOf(emulator), { root: org, now: Date.now });
    const owner = inventory.objects.find(({ builtIn, inputs }) => builtIn && inputs["name"] === "owner")?.uid;
    chain.write("inventory.json", JSON.stringify(inventory));
    const honest = readFileSync(join(stack.directory, "index.js"), "utf8");
    const bindTo = (roleUid: string): void =>
      stack.files({
        "index.js": `${honest}
          const { Identity, Role, RoleBinding } = platform;
          const parentUid = made.org.id;
          const claimMatch = { issuer: "https://token.actions.githubusercontent.com", subject: "repo:acme/pay:ref:refs/heads/main" };
          const pay = new Identity("pay", { parentUid, name: "pay", claimMatch });
          // A rule finds it, and the person who approved the report has accepted that.
          const keeper = new Role("keeper", { parentUid, name: "keeper", capabilities: ["CAP_IAM_ROLES_UPDATE"] });
          new RoleBinding("pay-keeps", { parentUid, identityUid: pay.id, roleUid: ${roleUid} });`,
      });
    bindTo(`keeper.id.apply(() => "${owner}")`);
    const preview = await stack.pulumi(["preview", "--json", "--show-sames"]);
    const argv = [
      "review",
      chain.write("preview.json", preview.stdout),
      "--inventory",
      chain.path("inventory.json"),
    ];
    await chain.succeed([5], ...argv, "-o", `json=${chain.path("review.json")}`);
    const { digest } = JSON.parse(chain.read("review.json")) as { digest: string };
    const up = (approved: Record<string, string>): Promise<Run> =>
      stack.pulumi(
        ["up", "--yes", "--skip-preview", "--policy-pack", join(ROOT, "templates/policy-pack")],
        approved,
      );
    const approved = {
      PLATFORM_APPROVED_REPORT: chain.path("review.json"),
      PLATFORM_APPROVED_DIGEST: digest,
    };

    for (const [given, what] of [
      [{}, "PLATFORM_APPROVED_REPORT or PLATFORM_APPROVED_DIGEST is missing"],
      [{ ...approved, PLATFORM_APPROVED_DIGEST: "0".repeat(64) }, "digest"],
    ] as const) {
      const { code, output } = await up(given);
      expect(output).toContain(what);
      expect(output).toMatch(/\(PP\d{4}\)/);
      expect(output).not.toMatch(/\n\s+at /);
      expect(code).not.toBe(0);
      expect(stack.ids()["keeper"]).toBeUndefined();
    }
    const refused = await up(approved);
    expect(refused.output).toMatch(
      /not-announced[^]*roleUid is not what the approved report announces: Role keeper/,
    );
    expect(refused.code).not.toBe(0);
    expect(stack.ids()["pay-keeps"]).toBeUndefined();
    bindTo("keeper.id");
    const { code, output } = await up(approved);
    expect({ code, output }).toMatchObject({ code: 0 });
    expect(stack.ids()["pay-keeps"]).toBeDefined();
  } finally {
    await emulator.close();
    stack.dispose();
  }
});
