import { createServer, request as send } from "node:http";
import type { IncomingMessage, Server, ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { startEmulator } from "../../emulator";
import type { Emulator } from "../../emulator";
import { Stack } from "../support/engine";
import type { Declarations } from "../support/engine";

/** Stands before a server, and does with some requests as a test says. */
class Proxy {
  private server!: Server;

  constructor(
    private readonly target: string,
    private readonly handle: (request: IncomingMessage, forward: () => Promise<void>) => Promise<void>,
  ) {}

  async start(): Promise<string> {
    this.server = createServer((request, response) => void this.serve(request, response));
    await new Promise<void>((done) => this.server.listen(0, "127.0.0.1", done));
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}`;
  }

  close(): void {
    this.server.closeAllConnections();
    this.server.close();
  }

  private async serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    let deliver: () => void = () => undefined;
    const forward = () =>
      new Promise<void>((done) => {
        const { method, url, headers } = request;
        const forwarded = send(`${this.target}${url ?? ""}`, { method, headers }, (answer) => {
          deliver = () => {
            response.writeHead(answer.statusCode ?? 500, answer.headers);
            answer.pipe(response);
          };
          done();
        });
        forwarded.end(Buffer.concat(chunks));
      });
    await this.handle(request, forward);
    deliver();
  }
}

let emulator: Emulator;
beforeAll(async () => {
  emulator = await startEmulator();
});
afterAll(() => emulator.close());
beforeEach(() => emulator.reset());

const message = (output: string) => output.replace(/\s+/g, " ");

test("two equal groups, one with a lost response and one slow, become two objects that are deleted separately", async () => {
  let creates = 0;
  let look: () => void = () => undefined;
  const looked = new Promise<void>((done) => (look = done));
  const proxy = new Proxy(emulator.url, async (request, forward) => {
    const { method, url = "" } = request;
    const isCreate = method === "POST" && /^\/iam\/v2\/groups\/./.test(url);
    if (isCreate && (creates += 1) === 1) {
      request.socket.destroy();
      return;
    }
    await forward();
    if (method === "GET" && url.startsWith("/iam/v2/groups?")) setTimeout(look, 100);
    // Made at once, and answered only after the other create has looked for its own.
    if (isCreate && creates === 2) await looked;
  });
  const stack = await new Stack({ url: await proxy.start(), token: emulator.token }).init();
  const team = { kind: "Group", args: { parentUid: "${org}", name: "team" } };
  const both: Declarations = { org: { kind: "Group", args: { name: "org" } }, one: team, two: team };
  stack.declare(both);
  await stack.up();
  const { one, two } = await stack.ours();
  expect(one?.id).not.toBe(two?.id);
  const uids = () => (emulator.state()["groups"] ?? []).map(({ uid }) => uid);
  expect(uids()).toHaveLength(3);
  stack.declare({ org: both["org"]!, two: team });
  await stack.up();
  expect(uids()).toContain(two?.id);
  expect(uids()).not.toContain(one?.id);
  await stack.succeed(["destroy", "--yes", "--skip-preview"]);
  expect(uids()).toEqual([]);
  proxy.close();
  stack.dispose();
});

describe("two resources that are one object", () => {
  let stack: Stack;
  beforeEach(async () => {
    stack = await new Stack(emulator).init();
  });
  afterEach(() => stack.dispose());

  const org: Declarations = { org: { kind: "Group", args: { name: "org" } } };
  const readme = { kind: "RepoReadme", args: { parentUid: "${repo}", content: "# Web" } };
  const repo: Declarations = {
    ...org,
    repo: { kind: "Repo", args: { parentUid: "${org}", name: "web" } },
    one: readme,
  };

  async function expectRefused(command: string[], says: RegExp): Promise<void> {
    const run = await stack.pulumi(command);
    expect(run.code).not.toBe(0);
    expect(message(run.output)).toMatch(says);
    expect(run.output).not.toMatch(/\n\s+at .*:\d+:\d+/);
  }

  test("are refused by the preview before anything is written, below a new and an existing parent", async () => {
    const says = /RepoReadme "two": is the same object as RepoReadme "one": both name the same parentUid\./;
    stack.declare({ ...repo, two: readme });
    await expectRefused(["preview"], says);
    stack.declare(repo);
    await stack.up();
    stack.declare({ ...repo, two: readme });
    await expectRefused(["preview"], says);
    emulator.clearRequests();
    await expectRefused(["up", "--yes"], says);
    expect(emulator.requests.filter(({ method }) => method !== "GET")).toEqual([]);
  });

  test("are refused before anything is written if one adopts the object of the other", async () => {
    stack.declare(org);
    await stack.up();
    const id = stack.ids()["org"] ?? "";
    stack.declare({ ...org, copy: { kind: "Group", args: { name: "org", __adopt: id } } });
    const says =
      /(group "org" \S+ is the object of another resource of this program|another resource of this program already manages this object)/;
    emulator.clearRequests();
    await expectRefused(["up", "--yes"], says);
    expect(emulator.requests.filter(({ method }) => method !== "GET")).toEqual([]);
    // What is no longer in the program may be adopted under another name.
    stack.declare({ copy: { kind: "Group", args: { name: "org", __adopt: id } } });
    await stack.succeed(["preview"]);
  });
});
