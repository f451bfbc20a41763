import {
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmdirSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { startEmulator } from "../../emulator";
import { serve } from "../../emulator/main";
import type { ServeOptions } from "../../emulator/main";
import { Api } from "./api";
import { temporaryFolder } from "../support/folders";

let folder: string;

beforeEach(() => {
  folder = temporaryFolder();
});

describe("the data file", () => {
  test("contains every kind, leaves no temporary file, and a restart finds each resource below its parent", async () => {
    const dataFile = join(folder, "state.json");
    const emulator = await startEmulator({ dataFile });
    const api = new Api(emulator);
    const { uid: org } = await api.make("/iam/v2/groups", "", { name: "org" });
    const roleUid = await api.builtInRole("viewer");
    const person = (await api.get("/iam/v2/identities:lookupIdentity?issuer=a&subject=b")).body.uid;
    const binding = await api.make("/iam/v2/roleBindings", org, { identityUid: person, roleUid });
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
    expect(readdirSync(folder)).toEqual(["state.json"]);

    const again = await startEmulator({ dataFile });
    const atPort = JSON.stringify(again.state()).replaceAll(again.url, url);
    expect(JSON.parse(atPort)).toEqual(before);
    expect(again.clientSecret(idp.uid)).toBe("s");
    const other = new Api(again);
    expect((await other.delete(`/iam/v2/groups/${org}`)).text).toContain("accountAssociations a");
    for (const path of [
      `/iam/v2/roleBindings/${binding.uid}`,
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
    ['{"version":2}', '"version" must be 1'],
    ['{"version":1}', '"resources" is missing'],
    ['{"version":1,"resources":{}}', '"resources" must be a list'],
    ['{"version":1,"resources":[{"kind":"Strange"}]}', 'unknown kind "Strange"'],
    [
      '{"version":1,"resources":[{"kind":"Group","value":{},"createdAt":1}]}',
      '"updatedAt" is missing, or no n',
    ],
  ])("that holds %s is broken, and left as it is", async (content, problem) => {
    const dataFile = join(folder, "state.json");
    writeFileSync(dataFile, content);
    await expect(startEmulator({ dataFile })).rejects.toThrow(`is broken, and left as it is: ${problem}`);
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
    const another = await startEmulator({ dataFile });
    rmSync(dataFile);
    mkdirSync(dataFile);
    await expect(another.close()).rejects.toThrow(`cannot write data file ${dataFile}: `);
    expect(readdirSync(folder).sort()).toEqual([...before, "state.json"].sort());
    rmdirSync(dataFile);
    await (await startEmulator({ dataFile })).close();
    expect(readFileSync(victim, "utf8")).toBe("mine");
    expect(readdirSync(folder).sort()).toEqual([...before, "state.json"].sort());
    const saved = lstatSync(dataFile);
    expect({ isFile: saved.isFile(), mode: saved.mode & 0o777 }).toEqual({ isFile: true, mode: 0o600 });
  });
});

describe("serving", () => {
  const { PLATFORM_TOKEN } = process.env;
  let logged: string[];

  beforeEach(() => {
    logged = [];
    jest.spyOn(console, "error").mockImplementation((line) => logged.push(String(line)));
  });
  afterEach(() => {
    jest.restoreAllMocks();
    if (PLATFORM_TOKEN === undefined) delete process.env.PLATFORM_TOKEN;
    else process.env.PLATFORM_TOKEN = PLATFORM_TOKEN;
  });

  /** What is printed at the start, requests, and the end by a signal. */
  async function start(options: ServeOptions, token = "") {
    process.env.PLATFORM_TOKEN = token;
    let lines: string[] = [];
    const printed = new Promise<void>((done) => {
      jest.spyOn(console, "log").mockImplementation((text) => {
        lines = String(text).split("\n");
        done();
      });
    });
    const ended = serve(options);
    await Promise.race([printed, ended]);
    const send = async (url: string, bearer: string, method = "GET", body?: object) => {
      const headers = { authorization: `Bearer ${bearer}` };
      const response = await fetch(url, { method, headers, body: body && JSON.stringify(body) });
      return (await response.json()) as Record<string, unknown>;
    };
    const stop = async (signal: "SIGINT" | "SIGTERM") => {
      process.emit(signal, signal);
      expect(await ended).toBe(0);
    };
    return { lines, send, stop, url: lines[0]!.replace("listening on ", "") };
  }

  test("prints its address, then its token, and ends with its data written", async () => {
    const dataFile = join(folder, "state.json");
    const { lines, send, stop, url } = await start({ data: dataFile });
    expect(url).toMatch(/^http:\/\/127\.0\.0\.1:\d+$/);
    const [, token = ""] = /^token: (\S+)$/.exec(lines[1]!) ?? [];
    await send(`${url}/iam/v2/groups`, token, "POST", { name: "org" });
    // Soon, and at the end too.
    while (!readFileSync(dataFile, "utf8").includes('"name":"org"')) await new Promise(setImmediate);
    await send(`${url}/iam/v2/groups`, token, "POST", { name: "last" });
    await stop("SIGTERM");
    expect(readFileSync(dataFile, "utf8")).toContain('"name":"last"');
    const again = await start({ data: dataFile });
    expect(again.lines[2]).toMatch(/^root group: org, uid \w{40}$/);
    expect(again.lines).toContainEqual(expect.stringMatching(/^ {2}export PLATFORM_ROOT_GROUP=\w{40}$/));
    await again.stop("SIGTERM");
  });

  test("takes its token from the environment without printing it", async () => {
    const options = { recorded: true, latency: "1ms", "deliver-to": "http://127.0.0.1:1" };
    const { lines, send, stop, url } = await start(options, "canary");
    expect(lines.slice(1)).toEqual([
      "no root group: --seed acme brings one, and a Group without parentUid makes one",
      "no event is sent yet: each Subscription sends those of its group, and there is none",
      "paste these lines into another terminal:",
      expect.stringMatching(/^ {2}export PLATFORM_BASE_URL=http/),
      "  # and PLATFORM_TOKEN, to the token that you have set",
      "press Ctrl+C to stop",
    ]);
    expect(await send(`${url}/iam/v2/groups`, "canary")).not.toHaveProperty("totalCount");
    await stop("SIGINT");
  });

  test.each(["", "canary"])(
    "prints one line of JSON for scripts, without a token of the environment: %j",
    async (token) => {
      const { lines, send, stop } = await start({ seed: "acme", format: "json", log: true }, token);
      expect(lines).toHaveLength(1);
      const started = JSON.parse(lines[0]!) as { url: string; token?: string; rootUid: string };
      const random = token === "" ? { token: expect.any(String) } : {};
      const rootUid = expect.stringMatching(/^[0-9a-f]{40}$/);
      expect(started).toEqual({ url: expect.any(String), ...random, rootUid, seed: "acme" });
      const path = `/iam/v2/groups/${started.rootUid}`;
      expect(await send(started.url + path, started.token ?? token)).toMatchObject({ name: "acme" });
      await stop("SIGTERM");
      expect(logged).toEqual([expect.stringMatching(new RegExp(`^\\S+ GET ${path} 200 \\d+ ms$`))]);
    },
  );
});
