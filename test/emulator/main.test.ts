import type { ChildProcess } from "node:child_process";
import { execFileSync, spawn } from "node:child_process";
import {
  copyFileSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import ts from "typescript";
import { startEmulator } from "../../emulator";
import { serve } from "../../emulator/main";
import type { ServeOptions } from "../../emulator/main";
import { Api } from "./api";

const root = join(__dirname, "../..");
let folder: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "emulator-"));
});
afterEach(() => {
  rmSync(folder, { recursive: true, force: true });
});

describe("the data file", () => {
  const fill = async (dataFile: string) => {
    const emulator = await startEmulator({ dataFile });
    const api = new Api(emulator);
    const org = await api.make("/iam/v2/groups", "", { name: "org", kind: "ORG_KIND_DEV" });
    const ci = await api.make("/iam/v2/identities", org.uid, {
      name: "ci",
      claimMatch: { issuer: "i", subject: "s", claims: { ["__proto__"]: "x" } },
    });
    const person = (await api.get("/iam/v2/identities:lookupIdentity?issuer=a&subject=b")).body.uid;
    const roleUid = await api.builtInRole("viewer");
    await api.make("/iam/v2/roleBindings", org.uid, { identityUid: ci.uid, roleUid });
    await api.make("/iam/v2/roleBindings", org.uid, { identityUid: person, roleUid });
    await api.make("/iam/v2/roles", org.uid, { name: "r", capabilities: ["CAP_REPO_LIST", 99999] });
    await api.make("/registry/v2/repos", org.uid, {
      name: "app",
      sync_config: { source: "nginx" },
      customOverlay: { accounts: { users: [{ username: "u", uid: 5 }] } },
    });
    const state = emulator.state();
    await emulator.close();
    return { state, ci: ci.uid };
  };

  test("restores everything, and leaves no temporary file", async () => {
    const dataFile = join(folder, "state.json");
    const { state, ci } = await fill(dataFile);
    expect(readdirSync(folder)).toEqual(["state.json"]);
    const again = await startEmulator({ dataFile });
    expect(again.state()).toEqual(state);
    await new Api(again).delete(`/iam/v2/identities/${ci}`);
    expect(again.state().roleBindings).toHaveLength(1);
    await again.close();
  });

  test("contains every kind, and a restart finds each resource below its parent", async () => {
    const dataFile = join(folder, "state.json");
    const emulator = await startEmulator({ dataFile });
    const api = new Api(emulator);
    const { uid: org } = await api.make("/iam/v2/groups", "", { name: "org" });
    const roleUid = await api.builtInRole("viewer");
    const oidc = { issuer: "https://idp.test", clientId: "c", clientSecret: "s" };
    const idp = await api.make("/iam/v2/identityProviders", org, { name: "i", defaultRole: roleUid, oidc });
    await api.post(`/iam/v2/identityProviders/${idp.uid}:generateScimToken`);
    const mapping = { externalGroupId: "g", roleUid, scope: org };
    await api.make("/iam/v2/externalGroupRoleMappings", idp.uid, mapping);
    await api.make("/iam/v2/accountAssociations", org, { name: "a" });
    await api.make("/iam/v2/groupInvites", org, { roleUid, ttl: "60s" });
    await api.post(`/iam/v2/terms/${org}`, { documentIds: ["guardener-tos.v1"] });
    const repo = await api.make("/registry/v2/repos", org, { name: "app" });
    await api.patch(`/registry/v2/repos/${repo.uid}/readme`, { content: "# hi" });
    const digest = `sha256:${"a".repeat(64)}`;
    await api.make("/registry/v2/tags", repo.uid, { name: "1", digest });
    const before = emulator.state();
    const { url } = emulator;
    await emulator.close();

    const again = await startEmulator({ dataFile });
    const atPort = JSON.stringify(again.state()).replaceAll(again.url, url);
    expect(JSON.parse(atPort)).toEqual(before);
    expect(again.clientSecret(idp.uid)).toBe("s");
    const other = new Api(again);
    expect((await other.delete(`/iam/v2/groups/${org}`)).text).toContain("accountAssociations a");
    for (const path of [
      `/registry/v2/repos/${repo.uid}`,
      `/iam/v2/identityProviders/${idp.uid}`,
      `/iam/v2/accountAssociations/${org}`,
      `/iam/v2/groupInvites/${before.groupInvites![0]!.uid as string}`,
      `/iam/v2/groups/${org}`,
    ]) {
      expect([path, (await other.delete(path)).status]).toEqual([path, 200]);
    }
    expect(Object.values(again.state()).flat()).toEqual([]);
    await again.close();
  });

  test.each([
    "",
    "{",
    "[]",
    '{"version":2,"resources":[],"people":[]}',
    '{"version":1,"resources":[{"kind":"Nope"}]}',
  ])("with %j stops the start with a one-line error and is not changed", async (content) => {
    const dataFile = join(folder, "state.json");
    writeFileSync(dataFile, content);
    await expect(startEmulator({ dataFile })).rejects.toThrow(
      /^data file \S+ is broken, and left as it is: [^\n]+$/,
    );
    await new Promise(setImmediate);
    expect(readFileSync(dataFile, "utf8")).toBe(content);
  });

  test("is never written through a link of another user beside it", async () => {
    const dataFile = join(folder, "state.json");
    const victim = join(folder, "victim");
    writeFileSync(victim, "mine");
    for (const name of [`${process.pid}.tmp`, "tmp", "0.tmp"]) symlinkSync(victim, `${dataFile}.${name}`);
    const before = readdirSync(folder);
    const emulator = await startEmulator({ dataFile });
    rmSync(dataFile);
    symlinkSync(victim, dataFile);
    await emulator.close();
    expect(readFileSync(victim, "utf8")).toBe("mine");
    expect(readdirSync(folder).sort()).toEqual([...before, "state.json"].sort());
    const saved = lstatSync(dataFile);
    expect({ isFile: saved.isFile(), mode: saved.mode & 0o777 }).toEqual({ isFile: true, mode: 0o600 });
  });

  test.each<[string, string, (path: string) => void]>([
    [
      "a symbolic link",
      "it is a symbolic link: name the file that it points to",
      (path) => symlinkSync(path + ".real", path),
    ],
    ["a folder", "it is not a regular file", (path) => mkdirSync(path)],
    ["a pipe", "it is not a regular file", (path) => void execFileSync("mkfifo", [path])],
  ])("that is %s stops the start, and is not changed", async (_what, why, make) => {
    const dataFile = join(folder, "state.json");
    writeFileSync(`${dataFile}.real`, '{"version":1,"resources":[],"people":[]}');
    make(dataFile);
    await expect(startEmulator({ dataFile })).rejects.toThrow(`cannot read data file ${dataFile}: ${why}`);
    await new Promise(setImmediate);
    expect(lstatSync(dataFile).isFile()).toBe(false);
    expect(readFileSync(`${dataFile}.real`, "utf8")).toContain('"resources":[]');
  });

  test("in a folder that is missing stops the start", async () => {
    await expect(startEmulator({ dataFile: join(folder, "no", "state.json") })).rejects.toThrow(
      /cannot write data file/,
    );
  });
});

describe("wrong options are refused in one line that names the option", () => {
  test.each<ServeOptions>([
    { port: "x" },
    { port: "70000" },
    { port: "-1" },
    { latency: "soon" },
    { latency: "-5ms" },
    { "deliver-to": "https://example.com" },
  ])("%j", async (options) => {
    const [name = ""] = Object.keys(options);
    await expect(serve(options)).rejects.toMatchObject({
      code: "USAGE",
      message: expect.stringMatching(new RegExp(`^--${name} must be [^\n]+$`)),
    });
  });
});

describe("as a process", () => {
  let built: string;
  let child: ChildProcess | undefined;

  beforeAll(() => {
    built = mkdtempSync(join(tmpdir(), "emulator-built-"));
    transpile(join(root, "emulator"), built);
  });
  afterAll(() => {
    rmSync(built, { recursive: true, force: true });
  });
  afterEach(() => child?.kill("SIGKILL"));

  function start(options: ServeOptions, env: NodeJS.ProcessEnv = {}) {
    const code = `require(${JSON.stringify(join(built, "main.js"))}).serve(JSON.parse(process.argv[1])).then(process.exit)`;
    const running = spawn(process.execPath, ["-e", code, "--", JSON.stringify(options)], {
      env: { ...process.env, PLATFORM_TOKEN: "", NODE_PATH: join(root, "node_modules"), ...env },
    });
    child = running;
    let stderr = "";
    running.stderr.on("data", (chunk: Buffer) => (stderr += chunk.toString()));
    const lines = createInterface({ input: running.stdout })[Symbol.asyncIterator]();
    const exit = new Promise<number | null>((resolve) => running.once("exit", resolve));
    return { running, lines, exit, stderr: () => stderr };
  }

  async function nextLine(lines: AsyncIterator<string>): Promise<string> {
    return ((await lines.next()).value ?? "") as string;
  }

  test("prints its address, then its token, and exits cleanly with its data written", async () => {
    const dataFile = join(folder, "state.json");
    const { running, lines, exit } = start({ data: dataFile });
    const [, url] = /^listening on (http:\/\/127\.0\.0\.1:\d+)$/.exec(await nextLine(lines)) ?? [];
    const [, token] = /^token: (\S+)$/.exec(await nextLine(lines)) ?? [];
    const response = await fetch(`${url!}/iam/v2/groups`, {
      method: "POST",
      headers: { authorization: `Bearer ${token!}` },
      body: '{"name":"org"}',
    });
    expect(response.status).toBe(200);
    running.kill("SIGTERM");
    expect(await exit).toBe(0);
    expect(readFileSync(dataFile, "utf8")).toContain('"name":"org"');
  });

  test("takes its token from the environment without printing it", async () => {
    const options = { recorded: true, latency: "1ms", "deliver-to": "http://127.0.0.1:1" };
    const { running, lines, exit } = start(options, { PLATFORM_TOKEN: "canary" });
    const url = (await nextLine(lines)).replace("listening on ", "");
    expect(await nextLine(lines)).toBe("press Ctrl+C to stop");
    const response = await fetch(`${url}/iam/v2/groups`, { headers: { authorization: "Bearer canary" } });
    expect(await response.json()).not.toHaveProperty("totalCount");
    running.kill("SIGINT");
    expect(await exit).toBe(0);
  });

  test("omits empty or unchanged fields with its options", async () => {
    const { running, lines, exit } = start(
      { "omit-empty": true, "sparse-updates": true },
      { PLATFORM_TOKEN: "t" },
    );
    const url = (await nextLine(lines)).replace("listening on ", "");
    const send = async (method: string, path: string, body: object) => {
      const headers = { authorization: "Bearer t" };
      const response = await fetch(`${url}${path}`, { method, headers, body: JSON.stringify(body) });
      return (await response.json()) as Record<string, unknown>;
    };
    const group = await send("POST", "/iam/v2/groups", { name: "org" });
    expect(group).not.toHaveProperty("description");
    const path = `/iam/v2/groups/${String(group["uid"])}`;
    expect(await send("PATCH", path, { description: "d" })).toEqual({ uid: group["uid"], description: "d" });
    running.kill("SIGINT");
    expect(await exit).toBe(0);
  });

  test("prints one line of JSON for scripts, without a token of the environment", async () => {
    for (const PLATFORM_TOKEN of ["", "canary"]) {
      const { running, lines, exit, stderr } = start(
        { seed: "acme", format: "json", log: true },
        { PLATFORM_TOKEN },
      );
      const started = JSON.parse(await nextLine(lines)) as { url: string; token?: string; rootUid: string };
      const random = PLATFORM_TOKEN === "" ? { token: expect.any(String) } : {};
      const rootUid = expect.stringMatching(/^[0-9a-f]{40}$/);
      expect(started).toEqual({ url: expect.any(String), ...random, rootUid, seed: "acme" });
      const headers = { authorization: `Bearer ${started.token ?? PLATFORM_TOKEN}` };
      const response = await fetch(`${started.url}/iam/v2/groups/${started.rootUid}`, { headers });
      expect(await response.json()).toMatchObject({ name: "acme" });
      running.kill("SIGTERM");
      expect(await exit).toBe(0);
      expect(stderr()).toMatch(/^\S+ GET \/iam\/v2\/groups\/[0-9a-f]{40} 200 \d+ ms\n$/);
    }
  });

  test("fails in one line when the port is taken", async () => {
    const emulator = await startEmulator();
    const { exit, stderr } = start({ port: new URL(emulator.url).port });
    expect(await exit).toBe(1);
    expect(stderr()).toContain("EADDRINUSE");
    await emulator.close();
  });
});

/** Compiles without checking types, which is quick; the types are checked for the whole project elsewhere. */
function transpile(from: string, to: string): void {
  mkdirSync(to, { recursive: true });
  for (const entry of readdirSync(from, { withFileTypes: true })) {
    const source = join(from, entry.name);
    const target = join(to, entry.name);
    if (entry.isDirectory()) transpile(source, target);
    else if (entry.name.endsWith(".json")) copyFileSync(source, target);
    else {
      const { outputText } = ts.transpileModule(readFileSync(source, "utf8"), {
        compilerOptions: {
          module: ts.ModuleKind.CommonJS,
          target: ts.ScriptTarget.ES2022,
          esModuleInterop: true,
        },
      });
      writeFileSync(target.replace(/\.ts$/, ".js"), outputText);
    }
  }
}
