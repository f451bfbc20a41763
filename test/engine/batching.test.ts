import { startEmulator } from "../../emulator";
import type { Emulator } from "../../emulator";
import { Stack, WRITES_STATE_ONCE } from "../support/engine";
import type { Declaration, Declarations } from "../support/engine";
import { call } from "../support/wire";

const COUNT = 60;

const several = (count: number, name: string, declare: (own: string) => Declaration): Declarations =>
  Object.fromEntries(Array.from({ length: count }, (_, n) => [`${name}-${n}`, declare(`${name}-${n}`)]));

const others: Declarations = {
  org: { kind: "Group", args: { name: "org" } },
  ...several(8, "role", (name) => ({
    kind: "Role",
    args: { parentUid: "${org}", name, capabilities: ["CAP_REPO_LIST"] },
  })),
  ...several(10, "identity", (name) => ({
    kind: "Identity",
    args: {
      parentUid: "${org}",
      name,
      claimMatch: { issuer: "https://issuer.example.com", subject: name },
    },
  })),
};

/** No two of them are equal: equal resources are created one after another. */
const bindings = (count: number): Declarations => ({
  ...others,
  ...Object.fromEntries(
    Array.from({ length: count }, (_, n): [string, Declaration] => {
      const [identityUid, roleUid] = [`\${identity-${n % 10}}`, `\${role-${Math.floor(n / 10)}}`];
      return [`binding-${n}`, { kind: "RoleBinding", args: { parentUid: "${org}", identityUid, roleUid } }];
    }),
  ),
});

describe("many role bindings, through the real engine", () => {
  let emulator: Emulator;
  let stack: Stack;
  const ofBindings = (method: string) =>
    emulator.requests.filter(
      (request) => request.method === method && request.path.startsWith("/iam/v2/roleBindings"),
    );
  const changes = (stdout: string) =>
    (JSON.parse(stdout) as { steps: { op: string; urn: string }[] }).steps
      .filter(({ op }) => op !== "refresh" && op !== "same")
      .map(({ op, urn }) => `${op} ${urn.slice(urn.lastIndexOf("::") + 2)}`)
      .sort();

  beforeAll(async () => {
    // Long enough for some to arrive while others are under way.
    emulator = await startEmulator({ latencyMs: 150 });
    stack = await new Stack({
      ...emulatorOf(emulator),
      env: WRITES_STATE_ONCE,
    }).init();
    stack.declare(bindings(COUNT));
    await stack.up();
  });

  afterAll(async () => {
    await emulator.close();
    stack.dispose();
  });

  test("are created once each", async () => {
    const ids = Object.values(await stack.ours()).map(({ id }) => id);
    expect(new Set(ids).size).toBe(COUNT + Object.keys(others).length);
    const held = (emulator.state()["roleBindings"] ?? []).map(({ uid }) => uid);
    expect(held).toHaveLength(COUNT);
    expect(ids).toEqual(expect.arrayContaining(held));
    expect(ofBindings("POST").length).toBeLessThanOrEqual(COUNT / 2);
  });

  test("are refreshed", async () => {
    emulator.clearRequests();
    await stack.succeed(["refresh", "--yes", "--skip-preview", "--expect-no-changes"]);
    expect(ofBindings("GET").length).toBeLessThanOrEqual(COUNT * 0.25);
  });

  test("show only the changes made by hand", async () => {
    const ours = await stack.ours();
    const address = (name: string) => `/iam/v2/roleBindings/${ours[name]?.id ?? ""}`;
    await call(emulator, "PATCH", address("binding-7"), { roleUid: ours["role-7"]?.id });
    await call(emulator, "DELETE", address("binding-33"));
    const { code, stdout } = await stack.pulumi(["preview", "--refresh", "--json", "--expect-no-changes"]);
    expect(code).toBe(7);
    expect(changes(stdout)).toEqual(["create binding-33", "update binding-7"]);
    await stack.up("--refresh");
    const held = emulator.state()["roleBindings"] ?? [];
    expect(held).toHaveLength(COUNT);
    expect(held.some(({ roleUid }) => roleUid === ours["role-7"]?.id)).toBe(false);
  });

  test("a run that has one refused binding creates all others", async () => {
    stack.declare({
      ...bindings(COUNT + 10),
      "binding-65": {
        kind: "RoleBinding",
        args: { parentUid: "${org}", identityUid: "0".repeat(40), roleUid: "${role-0}" },
      },
    });
    const { code, output } = await stack.pulumi(["up", "--yes", "--skip-preview", "--continue-on-error"]);
    expect(code).not.toBe(0);
    expect(output.match(/creating role binding/g)?.length).toBeGreaterThanOrEqual(1);
    expect(output).toMatch(/identityUid: identity .* does not exist/);
    const ours = Object.keys(await stack.ours()).filter((name) => name.startsWith("binding-"));
    expect(ours).toHaveLength(COUNT + 9);
    expect(ours).not.toContain("binding-65");
    expect(emulator.state()["roleBindings"]).toHaveLength(COUNT + 9);
  });
});

const emulatorOf = ({ url, token }: Emulator) => ({ url, token });
