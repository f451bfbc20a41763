import { writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { startEmulator } from "../../emulator";
import type { Emulator } from "../../emulator";
import { Stack } from "../support/engine";
import type { Run } from "../support/engine";
import { call, create } from "../support/wire";

/*
 * What a newcomer gets wrong, through the real CLI: each message names what is wrong and what to write in its place,
 * shows no stack trace of a program and no secret, and is not lost among others.
 */

const NOBODY = "0".repeat(40);
const TOKEN = "the-token-of-somebody";
const SECRET = "hush-hush-hush";

describe("typical mistakes, through the real engine", () => {
  let emulator: Emulator;
  let stack: Stack;
  let org: string;
  let identity: string;

  beforeAll(async () => {
    emulator = await startEmulator();
    org = await create(emulator, "/iam/v2/groups", { name: "org" });
    const claimMatch = { issuer: "https://issuer.example.com", subject: "ada" };
    identity = await create(emulator, `/iam/v2/identities/${org}`, { name: "ada", claimMatch });
    stack = await new Stack(emulator).init();
  });

  afterAll(async () => {
    await emulator.close();
    stack.dispose();
  });

  function writeProgram(lines: readonly string[]): void {
    const program = ['const platform = require("pulumi-platform");', ...lines, ""].join("\n");
    writeFileSync(join(stack.directory, "index.js"), program);
  }

  /** Runs a program with these lines, which fails. */
  async function run(
    lines: readonly string[],
    command: readonly string[],
    env: Record<string, string | undefined> = {},
  ): Promise<Run> {
    writeProgram(lines);
    const ended = await stack.pulumi(command, { PLATFORM_MAX_RETRIES: "0", ...env });
    expect(ended.code).not.toBe(0);
    expect(ended.output).not.toMatch(/\n\s+at .*:\d+:\d+/);
    expect(ended.output).not.toMatch(/<nil>|PromiseRejectionHandledWarning/);
    for (const secret of [SECRET, TOKEN, emulator.token]) expect(ended.output).not.toContain(secret);
    return ended;
  }

  const declare = (kind: string, args: object) =>
    `new platform.${kind}("mine", ${JSON.stringify({ parentUid: org, ...args })});`;
  const oneLine = ({ output }: Run) => output.replace(/\s+/g, " ");

  test("the wrong arguments of a whole program are named at once, each with its line", async () => {
    const issuer = "https://issuer.example.com";
    const mistakes: readonly (readonly [line: string, says: string])[] = [
      [
        declare("Group", { name: "team", parentUid: "acme" }),
        'Group "mine": parentUid must be the uid of a group: 40 hex digits, then 16 more after each slash; use the id of a Group or of getGroup',
      ],
      [
        declare("Group", { name: "team", descripton: "x" }),
        'Group "mine": descripton is not an argument; did you mean "description"?',
      ],
      [
        declare("Role", { name: "a", capabilities: ["CAP_REPO_LIST", "CAP_REPO_LST"] }),
        'Role "mine": capabilities[1] CAP_REPO_LST is not a known name; did you mean CAP_REPO_LIST?',
      ],
      [
        `new platform.RoleBinding("mine", { parentUid: "${NOBODY}", identityUid: "${identity}", roleUid: platform.Identity.get("ada", "${identity}").id });`,
        'RoleBinding "mine": roleUid is the uid of the Identity "ada": give the id of a Role, or the uid that getRole finds',
      ],
      [
        'new platform.Group("mine", { name: "team", parentUid: process.env.NOPE });',
        'Group "mine": parentUid is undefined: give a value, or leave it out for a new organisation (a root group)',
      ],
      [
        declare("IdentityProvider", { name: "a", oidc: { issuer, clientId: "a", clientSecrt: SECRET } }),
        'IdentityProvider "mine": oidc.clientSecrt is not an argument; did you mean "clientSecret"?',
      ],
      [declare("IdentityProvider", { name: "a", oidc: SECRET }), "oidc is missing: give an object"],
    ];
    const lines = mistakes.map(([line], i) => line.replace('"mine"', `"mine${i}"`));
    const { output } = await run(lines, ["preview"]);
    const [, list = ""] =
      /\n +error: [^\n]* wrong arguments of this program:\n([^]*?)\n\n/.exec(output) ?? [];
    // Once: the engine adds nothing of its own. Two equal grants are a warning.
    expect(output.match(/\(PP(?!1108)\d{4}\)/g)).toHaveLength(list.match(/\(PP\d{4}\)/g)?.length ?? 0);
    mistakes.forEach(([, says], i) => {
      const own = list.split("\n").filter((line) => line.includes(`index.js:${i + 2}: `));
      const shown = own.join("\n").replaceAll(`"mine${i}"`, '"mine"');
      expect(shown).toContain(says);
      expect(shown).toMatch(/\(PP\d{4}\)/);
    });
  });

  test("uids that nobody has are warnings of a preview with their lines", async () => {
    const none = `${org}/${"1".repeat(16)}`;
    const ofNone = (kind: string) =>
      `"${none}" is the uid of no ${kind} that the token may see: give the id of`;
    const lines = [
      declare("RoleBinding", { identityUid: none, roleUid: NOBODY }),
      declare("Group", { parentUid: none, name: "team" }).replace("mine", "team"),
      declare("GroupAccess", {
        parentUid: none,
        bindings: { one: { identityUid: identity, roleUid: none } },
      }),
      // A group, and no role.
      `new platform.RoleBinding("half", { parentUid: "${org}", identityUid: "${identity}", roleUid: "${org}" });`,
      `new platform.Identity("adopted", platform.adopt("${none}", ${JSON.stringify({ parentUid: org, name: "a", claimMatch: { issuer: "https://issuer.example.com", subject: "a" } })}));`,
    ];
    const sent = emulator.requests.length;
    writeProgram(lines);
    const { stdout } = await stack.succeed(["preview"]);
    // One list of each kind, a read of each that the list omits, and what there is below the parents of what is new or adopted.
    expect(emulator.requests.length - sent).toBe(3 + 5 + 3);
    for (const line of [
      `index.js:2: RoleBinding "mine": identityUid ${ofNone("Identity")}`,
      `index.js:2: RoleBinding "mine": roleUid "${NOBODY}" is the uid of no Role that`,
      `index.js:3: Group "team": parentUid ${ofNone("Group")}`,
      `index.js:4: GroupAccess "mine": bindings.one.roleUid ${ofNone("Role")}`,
      `index.js:5: RoleBinding "half": roleUid "${org}" is the uid of no Role that`,
      `index.js:6: Identity "adopted": adopt ${ofNone("Identity")}`,
    ])
      expect(stdout).toContain(`warning: ${line}`);
    expect(stdout).toContain(
      `uid that getRole finds; or check PLATFORM_BASE_URL, which is ${emulator.url} (PP3405)`,
    );
    expect(stdout).not.toContain(`"${org}" is the uid of no Group`);
  });

  const cannotAsk = "warning: the API cannot be asked: ";

  test.each<[string, number, string, string]>([
    ["a web page that is not there", 404, "<html></html>", "no such API endpoint: http"],
    ["a refusal of the API", 403, '{"code":7,"message":"no"}', ""],
  ])("a preview without a lookup says what a wrong address answers: %s", async (_, status, text, says) => {
    const server = createServer((_request, response) => void response.writeHead(status).end(text));
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    writeProgram([declare("RoleBinding", { identityUid: identity, roleUid: NOBODY })]);
    const ended = await stack.succeed(["preview"], { PLATFORM_BASE_URL: url });
    server.closeAllConnections();
    server.close();
    expect(oneLine(ended).includes(cannotAsk)).toBe(says !== "");
    expect(oneLine(ended)).toContain(says);
  });

  test.each([
    [{ PLATFORM_BASE_URL: "" }, "; an update would fail, and no uid is looked up (PP2001)"],
    [{ PLATFORM_TOKEN: TOKEN }, "refuses the token of PLATFORM_TOKEN: check that it is complete"],
  ])("a preview without a lookup says what is wrong with %j", async (env, says) => {
    writeProgram([declare("RoleBinding", { identityUid: identity, roleUid: NOBODY })]);
    const ended = await stack.succeed(["preview"], env);
    expect(oneLine(ended)).toContain(cannotAsk);
    expect(oneLine(ended)).toContain(says);
    expect(ended.output).not.toContain(TOKEN);
  });

  // test/provider/program/preview.test.ts has it with parents.
  test("a name that stands twice is refused with both lines", async () => {
    const lines = [declare("Group", { name: "a" }), declare("Group", { name: "b" })];
    expect((await run(lines, ["preview"])).output).toContain(
      'index.js:3: Group "mine": the one of index.js:2 has this name already: give one of them another name, as in "mine-2" (PP1107)',
    );
  });

  test("what is wrong in values of lookups is named by the provider, and a uid of another kind with its line", async () => {
    const lines = [
      'const viewer = platform.getRole({ name: "viewer" });',
      `new platform.RoleBinding("b", { parentUid: "${org}", identityUid: "${identity}", roleUid: viewer.then((role) => role.name) });`,
    ];
    expect((await run(lines, ["preview"])).output).toMatch(
      /resource 'b' has a problem: roleUid must be a uid.*\(PP1004\)/,
    );
    // A whole object is named without its members.
    const whole = `new platform.RoleBinding("d", { parentUid: "${org}", identityUid: "${identity}", roleUid: viewer });`;
    const { output } = await run([lines[0] ?? "", whole], ["preview"]);
    expect(output).toContain(
      "roleUid must be a string, not an object: write .uid behind it, or .then(({ uid }) => uid) behind a promise (PP1003)",
    );
    expect(output).not.toContain("map[");
    const owner = [
      'const owner = platform.getRoleOutput({ name: "owner" }).uid;',
      `new platform.RoleBinding("e", { parentUid: "${org}", identityUid: owner, roleUid: owner });`,
    ];
    expect((await run(owner, ["preview"])).output).toMatch(
      /index\.js:3: RoleBinding "e": identityUid is the uid of a Role: give the id of an Identity, .*\(PP1014\)/,
    );
  });

  // What a preview says of each is in test/provider/program/preview.test.ts.
  test("two resources of one object are refused, and an equal that the stack has already is not said again", async () => {
    const ofStack = 'const own = new platform.Group("own", { name: "own" });';
    writeProgram([ofStack]);
    await stack.succeed(["up", "--yes", "--skip-preview"]);
    // What the stack has twice is not said in each preview, and where nothing is new, nothing is asked.
    writeProgram([ofStack, 'new platform.Group("own-too", { name: "own" });']);
    await stack.succeed(["up", "--yes", "--skip-preview"]);
    const sent = emulator.requests.length;
    expect((await stack.succeed(["preview"])).stdout).not.toContain("PP1108");
    expect(emulator.requests).toHaveLength(sent);
  });

  test("the API of another organisation takes nothing for deleted, and nothing away", async () => {
    const other = await startEmulator();
    await call(other, "POST", "/iam/v2/groups", { name: "org" });
    const lines = [
      declare("Group", { name: "kept" }),
      declare("RoleBinding", { identityUid: identity, roleUid: NOBODY }).replace(`"${NOBODY}"`, "role.id"),
    ];
    const role = declare("Role", { name: "kept", capabilities: ["CAP_REPO_LIST"] }).replace(
      "new",
      "const role = new",
    );
    writeProgram([role, ...lines]);
    await stack.succeed(["up", "--yes", "--skip-preview"]);
    const before = Object.keys(await stack.ours()).sort();
    const env = { PLATFORM_BASE_URL: other.url, PLATFORM_TOKEN: other.token };
    for (const command of [
      ["refresh", "--yes"],
      ["destroy", "--yes"],
    ]) {
      const refused = await run([role, ...lines], command, env);
      expect(oneLine(refused)).toContain(
        `the API shows no group of the organisation ${org}, so nothing of it is taken for deleted; check PLATFORM_BASE_URL, which is ${other.url}`,
      );
      expect(Object.keys(await stack.ours()).sort()).toEqual(before);
    }
    await other.close();
    await stack.succeed(["destroy", "--yes"]);
  });

  test("a delete that is refused says once what is below, and leaves no sentence without an end", async () => {
    const group = (name: string, parent: string): string =>
      `const ${name} = new platform.Group("${name}", { name: "${name}", parentUid: ${parent} });`;
    writeProgram([group("used", JSON.stringify(org))]);
    await stack.succeed(["up", "--yes", "--skip-preview"]);
    const used = (emulator.state()["groups"] ?? []).find(({ name }) => name === "used")?.["uid"];
    const child = await call(emulator, "POST", `/iam/v2/groups/${String(used)}`, { name: "by-hand" });
    const ended = await run([], ["up", "--yes", "--skip-preview"]);
    expect(ended.output).toMatch(/deleting group "used" \S+: see the error of the resource\n/);
    const [, diagnostics = ""] = ended.output.split("Diagnostics:");
    expect(diagnostics.match(/by-hand/g)).toHaveLength(1);
    await call(emulator, "DELETE", `/iam/v2/groups/${String(child["uid"])}`);
    await stack.succeed(["destroy", "--yes"]);
  });

  test("a read that fails says its cause once, and the engine's line only where to look", async () => {
    const lines = [`platform.Group.get("mine", "${org}");`];
    const { stdout } = await run(lines, ["preview"], { PLATFORM_BASE_URL: "http://api.example.com" });
    const [, diagnostics = ""] = stdout.split("Diagnostics:");
    expect(diagnostics.match(/must be an address/g)).toHaveLength(1);
    expect(diagnostics).toContain(`reading group ${org}: see the error of the resource\n`);
    expect(diagnostics).not.toContain("HandlerError");
  });

  test("a server that does not respond is said before it is asked again", async () => {
    const lines = [promise, "roleUid.then(() => undefined);"];
    const env = { PLATFORM_BASE_URL: "http://127.0.0.1:9", PLATFORM_MAX_RETRIES: "1" };
    expect(oneLine(await run(lines, ["preview"], env))).toMatch(
      /platform: GET http:\S+: connection refused \(ECONNREFUSED\); trying again, up to \d times/,
    );
  });

  const promise = 'const roleUid = platform.getRole({ name: "viewer" }).then(({ uid }) => uid);';

  // test/provider/lookups/answers.test.ts has the other causes that all lookups share.
  test("an address with a path is said once, by one of the lookups that fail for it", async () => {
    const lines = [
      promise,
      `new platform.RoleBinding("mine", { parentUid: "${org}", identityUid: "${identity}", roleUid });`,
      'new platform.Group("root", { name: "root" });',
      `new platform.Group("team", { name: "team", parentUid: "${org}" });`,
      'exports.org = platform.getGroup({ name: "org" }).then(({ uid }) => uid);',
    ];
    const { stdout } = await run(lines, ["preview"], { PLATFORM_BASE_URL: `${emulator.url}/iam/v2` });
    // The engine prints it when it comes, and again at the end.
    expect(stdout.match(/which ends with the path/g)).toHaveLength(2);
    // Where the engine's library is the first to see that it failed, it names the property.
    expect(stdout).toMatch(
      /error: (?:error serializing property "roleUid": )?index\.js:(?:2: getRole|6: getGroup): /,
    );
  });
});
