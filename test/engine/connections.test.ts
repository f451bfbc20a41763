import { spawn } from "node:child_process";
import { generateKeyPairSync } from "node:crypto";
import { writeFileSync } from "node:fs";
import { createServer, request as httpRequest } from "node:http";
import type { IncomingMessage, Server } from "node:http";
import { createServer as createTlsServer } from "node:https";
import { connect } from "node:net";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import type { Duplex } from "node:stream";
import forge from "node-forge";
import { startEmulator } from "../../emulator";
import type { Emulator } from "../../emulator";
import { ROOT } from "../support/engine";
import { temporaryFolder } from "../support/folders";

/** Found in no request but to the API, and in no output. */
const CANARY = "canary-bearer-3605551275";
/** A name that only a proxy can tell where it is. */
const HIDDEN = "api.hidden.test";

/** A certificate and its key, in PEM. */
interface Certified {
  readonly cert: string;
  readonly key: string;
}

const DAY_MS = 86_400_000;
let serial = 1;

interface Wanted {
  readonly name: string;
  /** Default: signs itself. */
  readonly authority?: Certified;
  readonly isAuthority?: boolean;
  /** Host names and IPv4 addresses. */
  readonly hosts?: readonly string[];
}

/** A certificate of a made-up authority, for servers of a test. */
function certificate({
  name,
  authority,
  isAuthority = false,
  hosts = ["127.0.0.1", "localhost"],
}: Wanted): Certified {
  // Made by Node: the library takes seconds for a key.
  const { publicKey, privateKey } = generateKeyPairSync("rsa", {
    modulusLength: 2048,
    publicKeyEncoding: { type: "spki", format: "pem" },
    privateKeyEncoding: { type: "pkcs1", format: "pem" },
  });
  const cert = forge.pki.createCertificate();
  cert.publicKey = forge.pki.publicKeyFromPem(publicKey);
  cert.serialNumber = (serial += 1).toString(16).padStart(4, "0");
  cert.validity.notBefore = new Date(Date.now() - 2 * DAY_MS);
  cert.validity.notAfter = new Date(Date.now() + 2 * DAY_MS);
  const subject = [{ name: "commonName", value: name }];
  cert.setSubject(subject);
  cert.setIssuer(authority ? forge.pki.certificateFromPem(authority.cert).subject.attributes : subject);
  cert.setExtensions([
    { name: "basicConstraints", cA: isAuthority, critical: true },
    ...(isAuthority
      ? [{ name: "keyUsage", keyCertSign: true, critical: true }]
      : [
          {
            name: "subjectAltName",
            altNames: hosts.map((host) =>
              /^[\d.]+$/.test(host) ? { type: 7, ip: host } : { type: 2, value: host },
            ),
          },
        ]),
  ]);
  cert.sign(forge.pki.privateKeyFromPem(authority?.key ?? privateKey), forge.md.sha256.create());
  return { cert: forge.pki.certificateToPem(cert), key: privateKey };
}

const authority = certificate({ name: "made-up authority", isAuthority: true });
let emulator: Emulator;
let folder: string;
const closing: (() => void)[] = [];

beforeAll(async () => {
  emulator = await startEmulator({ token: CANARY });
  folder = temporaryFolder();
  writeFileSync(join(folder, "authority.pem"), authority.cert);
});
afterAll(async () => {
  for (const close of closing) close();
  await emulator.close();
});

async function listening(server: Server): Promise<number> {
  await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
  closing.push(() => {
    server.closeAllConnections();
    server.close();
  });
  return (server.address() as AddressInfo).port;
}

/** The emulator behind TLS. */
function secured(certified: Certified): Promise<number> {
  return listening(
    createTlsServer(certified, (request, response) => {
      const { port } = new URL(emulator.url);
      const { method, url: path, headers } = request;
      const onward = httpRequest({ host: "127.0.0.1", port, method, path, headers }, (answer) => {
        response.writeHead(answer.statusCode ?? 500, answer.headers);
        answer.pipe(response);
      });
      request.pipe(onward);
    }),
  );
}

/** A proxy that knows where the hidden name is, and keeps every byte that it was shown in the clear. */
async function proxy(to: number): Promise<{ url: string; asked: string[] }> {
  const asked: string[] = [];
  const server = createServer((request, response) => {
    asked.push(JSON.stringify([request.method, request.url, request.rawHeaders]));
    response.end("a page of the proxy");
  });
  server.on("connect", (request: IncomingMessage, socket: Duplex) => {
    asked.push(JSON.stringify([request.method, request.url, request.rawHeaders]));
    socket.on("error", () => undefined);
    const onward = connect(to, "127.0.0.1", () => {
      socket.write("HTTP/1.1 200 Connection established\r\n\r\n");
      onward.pipe(socket).pipe(onward);
    });
    onward.on("error", () => socket.destroy());
  });
  return { url: `http://127.0.0.1:${await listening(server)}`, asked };
}

/** What a process of Node prints that has this environment alone. */
async function printedBy(args: readonly string[], env: Record<string, string>): Promise<string> {
  const child = spawn(process.execPath, args, { cwd: ROOT, env });
  let printed = "";
  child.stdout.setEncoding("utf8").on("data", (text: string) => (printed += text));
  child.stderr.setEncoding("utf8").on("data", (text: string) => (printed += text));
  await new Promise((done) => child.once("close", done));
  return printed;
}

/** What the doctor of the built package says of one check, in a process of its own. */
async function doctor(
  baseUrl: string,
  env: Record<string, string> = {},
): Promise<Record<string, string> & { printed: string }> {
  const printed = await printedBy([join(ROOT, "dist/provider/cli/main.js"), "doctor"], {
    PATH: process.env["PULUMI_PLATFORM_CLI_DIR"] ?? "",
    PLATFORM_BASE_URL: baseUrl,
    PLATFORM_TOKEN: CANARY,
    PLATFORM_MAX_RETRIES: "0",
    PLATFORM_LOG: "debug",
    ...env,
  });
  expect(printed).not.toContain(CANARY);
  const checks = [...printed.matchAll(/^(\w+) +(\w+) {2,}(.*)$/gm)].map(([, state, check, text]) => [
    check,
    `${state}: ${text}`,
  ]);
  return { ...(Object.fromEntries(checks) as Record<string, string>), printed };
}

const trusting = () => ({ NODE_EXTRA_CA_CERTS: join(folder, "authority.pem") });

describe("TLS, on real sockets", () => {
  test("with a private certificate authority works with NODE_EXTRA_CA_CERTS, and without it the error says to set it", async () => {
    const port = await secured(certificate({ name: "server", authority }));
    const url = `https://127.0.0.1:${port}`;
    await expect(doctor(url, trusting())).resolves.toMatchObject({
      address: `ok: ${url} responds to a ping`,
      tls: "ok: the certificate is valid",
      access: expect.stringContaining("the API accepts the token") as unknown,
    });
    emulator.clearRequests();
    const { tls, access } = await doctor(url, { NODE_TLS_REJECT_UNAUTHORIZED: "0" });
    expect(tls).toMatch(
      /^wrong: GET \S+: the TLS connection failed \(UNABLE_TO_VERIFY_LEAF_SIGNATURE\): its certificate is issued by an unknown certificate authority; if it is your company's, set NODE_EXTRA_CA_CERTS to a PEM file/,
    );
    expect(access).toBe("skipped: not checked: fix tls first");
    expect(emulator.requests).toHaveLength(0);
  });
});

describe("a proxy, on real sockets", () => {
  test("sees only the host name; NO_PROXY and loopback addresses bypass it", async () => {
    const port = await secured(certificate({ name: "server", authority, hosts: [HIDDEN] }));
    const through = await proxy(port);
    const url = `https://${HIDDEN}:${port}`;
    const credentials = through.url.replace("//", "//user:proxy-password@");
    const found = await doctor(url, { ...trusting(), HTTPS_PROXY: credentials });
    expect(found).toMatchObject({
      address: `ok: ${url} responds to a ping through the proxy ${through.url.slice(7)}`,
      access: expect.stringContaining("the API accepts the token") as unknown,
    });
    expect(found.printed).not.toContain("proxy-password");
    expect(through.asked.length).toBeGreaterThan(0);
    for (const line of through.asked) {
      expect(line).toContain(`"CONNECT","${HIDDEN}:${port}"`);
      expect(line).not.toContain(CANARY);
    }
    through.asked.length = 0;
    const direct = await doctor(url, { ...trusting(), HTTPS_PROXY: through.url, NO_PROXY: HIDDEN });
    expect(direct["address"]).toMatch(/\((ENOTFOUND|EAI_AGAIN)\); check PLATFORM_BASE_URL/);
    const all = { HTTP_PROXY: through.url, HTTPS_PROXY: through.url };
    expect((await doctor(emulator.url, all))["access"]).toContain("the API accepts the token");
    expect(through.asked).toEqual([]);
  });
});

describe("where NODE_TLS_REJECT_UNAUTHORIZED is 0", () => {
  /** Runs code in a process of its own, which says what its promise came to. */
  function outcomeOf(code: string, env: Record<string, string> = {}): Promise<string> {
    const script = `(async () => { ${code} })().then(() => console.log("done"), (error) => console.log(error.message))`;
    return printedBy(["--no-warnings", "-e", script], { NODE_TLS_REJECT_UNAUTHORIZED: "0", ...env });
  }

  const post = (baseUrl: string) => `
    const { apiOf, request } = require("./dist/provider/cli/post/http.js");
    const host = apiOf({ GITHUB_API_URL: "${baseUrl}" }, "GITHUB_API_URL", "", "${CANARY}");
    await request(host, "PUT", "/repos/acme/access", {});`;
  const verify = (issuer: string) => `
    const { verifyEvent } = require("./dist/provider/events/index.js");
    const token = [{ alg: "ES256", kid: "1" }, { iss: "${issuer}" }].map((part) => Buffer.from(JSON.stringify(part)).toString("base64url"));
    await verifyEvent({ authorization: "Bearer " + token.join(".") + ".c2ln" }, "{}", { issuer: "${issuer}", group: "g" });`;

  /** A server that answers every path, and keeps what reached it. */
  async function recording(certified: Certified): Promise<{ url: string; reached: string[] }> {
    const reached: string[] = [];
    const server = createTlsServer(certified, (request, response) => {
      reached.push(`${request.method} ${request.url}`);
      const url = `https://${request.headers.host}`;
      response.end(JSON.stringify({ issuer: url, jwks_uri: `${url}/keys`, keys: [] }));
    });
    return { url: `https://127.0.0.1:${await listening(server)}`, reached };
  }

  test.each([
    ["posts nothing", post],
    ["verifies no event by the keys", verify],
  ])("%s of a server whose certificate is not valid", async (_what, code) => {
    for (const certified of [
      certificate({ name: "127.0.0.1" }),
      certificate({ name: "server", authority }),
    ]) {
      const { url, reached } = await recording(certified);
      expect(await outcomeOf(code(url))).toMatch(/certificate/);
      expect(reached).toEqual([]);
    }
    const { url, reached } = await recording(certificate({ name: "server", authority }));
    await outcomeOf(code(url), trusting());
    expect(reached).not.toEqual([]);
  });

  test("sends no password to a proxy whose certificate is not valid", async () => {
    const asked: string[] = [];
    const server = createTlsServer(certificate({ name: "127.0.0.1" }));
    server.on("connect", (request: IncomingMessage, socket: Duplex) => {
      asked.push(JSON.stringify(request.rawHeaders));
      socket.end();
    });
    const through = `https://user:secret@127.0.0.1:${await listening(server)}`;
    const env = { HTTPS_PROXY: through, NODE_TLS_REJECT_UNAUTHORIZED: "0" };
    expect((await doctor(`https://${HIDDEN}`, env))["address"]).toMatch(
      /the proxy 127\.0\.0\.1:\d+ cannot be reached \(DEPTH_ZERO_SELF_SIGNED_CERT\)/,
    );
    expect(asked).toEqual([]);
  }, 60_000);

  test("accepts no issuer keys from a server whose certificate is not valid", async () => {
    const keys = await recording(certificate({ name: "127.0.0.1" }));
    const issuer = createServer((request, response) => {
      const document = { issuer: `http://${request.headers.host}`, jwks_uri: `${keys.url}/keys` };
      response.end(JSON.stringify(document));
    });
    expect(await outcomeOf(verify(`http://127.0.0.1:${await listening(issuer)}`))).toMatch(
      /the keys of \S+ could not be fetched: self-signed certificate/,
    );
    expect(keys.reached).toEqual([]);
  });
});
