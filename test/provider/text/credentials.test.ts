import { printable, registerCredential, logLine, logLines } from "../../../provider/text/printable";
import { tokenSource } from "../../../provider/http/tokens";
import { handlersAt } from "../support/handlerStack";
import { clientOf, detail, errorOf, ScriptedServer, tokensOf } from "../support/server";
import type { Recorded, Reply } from "../support/server";
import { columnsOf } from "../../../provider/text/plain";
import { COMMAND, CONTROL } from "../../support/logCommands";
import fc from "../../support/properties";

const MASK = "[credential]";
const jwt = (seed: string): string =>
  ["header", "payload", "signature"]
    .map((part) => Buffer.from(`${part} of ${seed} ${"x".repeat(40)}`).toString("base64url"))
    .join(".");

/** Whether a text holds so much of a credential that it could be guessed from it. */
function reveals(text: string, credential: string): boolean {
  return Array.from({ length: credential.length - 11 }, (_, at) => credential.slice(at, at + 12)).some(
    (part) => text.toLowerCase().includes(part.toLowerCase()),
  );
}

const percentEncodeAll = (text: string): string =>
  [...Buffer.from(text)].map((byte) => `%${byte.toString(16).padStart(2, "0")}`).join("");
const unicodeEscapeAll = (text: string): string =>
  Array.from(text, (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, "0")}`).join("");

const ENTITIES: Record<string, string> = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" };

const forms: [string, (credential: string) => string][] = [
  ["as it is", (it) => it],
  ["percent-encoded", encodeURIComponent],
  ["percent-encoded throughout", percentEncodeAll],
  ["escaped as in JSON", (it) => JSON.stringify({ it })],
  ["with escaped slashes", (it) => it.replaceAll("/", "\\/")],
  ["escaped throughout", unicodeEscapeAll],
  ["escaped as in HTML", (it) => it.replace(/[+/="&<>]/g, (char) => `&#${char.charCodeAt(0)};`)],
  ["escaped as in XML", (it) => it.replace(/[&<>"]/g, (char) => ENTITIES[char] ?? char)],
  ["twice", (it) => `${it} ${it}`],
];
const parts: typeof forms = [
  ["cut at its end", (it) => it.slice(0, 40)],
  ["cut at its beginning", (it) => it.slice(-40)],
  ["cut in the middle", (it) => `${it.slice(0, 30)}...${it.slice(-30)}`],
];

describe.each([
  ["a token", jwt("a token of the API"), [...forms, ...parts]],
  ["an opaque token", `${"Zm9vYmFy+/".repeat(4)}aGVsbG8+${"d29ybGQ/".repeat(3)}==`, [...forms, ...parts]],
  ["a secret of any characters", `a+b/c="d"&e\\f<g>${"Zm9vYmFy+/".repeat(4)}==`, forms],
])("%s that a server quotes", (_title, credential, forms) => {
  beforeAll(() => registerCredential(credential));

  test.each(forms)("%s is masked", (_form, quote) => {
    const message = printable(`before ${quote(credential)} after`, 5000);
    expect(message).toContain(MASK);
    expect(message).toMatch(/^before .* after$/);
    for (const text of [message, decodeURIComponent(message.replace(/%(?![0-9a-f]{2})/gi, ""))]) {
      expect(reveals(text, credential)).toBe(false);
    }
    expect(reveals(message, encodeURIComponent(credential))).toBe(false);
  });

  test("is masked before a message is cut", () => {
    for (let at = 0; at < 60; at += 1) {
      expect(reveals(printable(`${"-".repeat(at)}${credential}`, 50), credential)).toBe(false);
    }
  });
});

test("a secret that is a word is masked as a whole word, and not at all where it is a short one", () => {
  const message =
    'creating group "team" below organisation-1: the role of identities organisation and Deployment is not valid';
  for (const word of message.match(/\w+/g) ?? []) if (word.length < 8) registerCredential(word);
  expect(printable(message)).toBe(message);
  registerCredential("organisation");
  registerCredential("deploy");
  registerCredential("deployments");
  expect(printable(message)).toBe(
    message.replace("organisation-1", `${MASK}-1`).replace("organisation and", `${MASK} and`),
  );
  registerCredential("hunter2-hunter2");
  expect(printable('the password "hunter2-hunter2" of hunter2-hunter23 or hunter2')).toBe(
    `the password "${MASK}" of hunter2-hunter23 or hunter2`,
  );
});

describe("a server that echoes what it was sent", () => {
  let server: ScriptedServer;
  let lines: string[];
  beforeAll(async () => {
    server = await ScriptedServer.start();
  });
  beforeEach(() => (lines = []));
  afterAll(() => server.close());

  const bearerOf = ({ headers }: Recorded): string => headers.authorization ?? "";
  const details = (text: string): unknown[] => [
    detail("ErrorInfo", { reason: text, domain: text, metadata: { a: text } }),
    detail("BadRequest", { fieldViolations: [{ field: "name", description: text, reason: text }] }),
    detail("ResourceInfo", { resourceType: text, resourceName: text }),
    detail("PreconditionFailure", { violations: [{ type: text, subject: text }] }),
  ];
  const echo =
    (status: number, code: number) =>
    (request: Recorded): Reply => {
      const text = `bad header ${bearerOf(request)} in ${request.text}`;
      return {
        status,
        json: { code, message: text, details: details(text) },
        headers: {
          "x-request-id": bearerOf(request),
          location: `https://${bearerOf(request).slice(7)}.test/`,
        },
      };
    };
  /** A source that exchanges an OIDC token at the server. */
  const exchanging = (oidc: string) =>
    tokenSource(
      {
        kind: "exchange",
        issuerUrl: server.url,
        issuerSetting: "PLATFORM_ISSUER_URL",
        audience: "a",
        identity: "b".repeat(40),
        oidc: { kind: "token", token: oidc, setting: "PLATFORM_OIDC_TOKEN" },
        setting: "PLATFORM_IDENTITY",
      },
      { timeoutMs: 60_000, log: (line) => lines.push(line) },
    );
  const everything = (error: Error): string =>
    [error.message, JSON.stringify(error), String(error.cause), ...lines].join("\n");

  test.each([
    [400, 3],
    [403, 7],
    [404, 5],
    [500, 13],
    [302, 0],
  ])("of the API puts no token into an error or a log line (HTTP %i)", async (status, code) => {
    const token = jwt(`request ${status}`);
    server.script(echo(status, code));
    const client = clientOf(server, {
      tokens: tokensOf(() => Promise.resolve(token)),
      log: (line) => lines.push(line),
    });
    const error = await errorOf(client.create("/iam/v2/groups", undefined, { name: "a" }));
    expect(error.message).toMatch(/\[credential\]|not the Platform API/);
    expect(bearerOf(server.last())).toBe(`Bearer ${token}`);
    expect(reveals(everything(error), token)).toBe(false);
    const told = await errorOf(handlersAt("Group", client).create({ name: "a" }));
    expect(reveals(everything(told), token)).toBe(false);
  });

  test.each(["refused", "unavailable", "unexpected"])(
    "of the issuer puts no OIDC token into an error: %s",
    async (how) => {
      const oidc = jwt(`oidc ${how}`);
      const [status, code] = { refused: [401, 16], unavailable: [503, 14], unexpected: [302, 0] }[how] ?? [
        500, 13,
      ];
      server.script(echo(status!, code!));
      expect(reveals(everything(await errorOf(exchanging(oidc).token())), oidc)).toBe(false);
    },
  );

  test("keeps access and refresh tokens of an exchange out of later errors", async () => {
    const [access, refreshToken] = [jwt("access"), jwt("refresh")];
    server.script((request, count) =>
      count === 0
        ? { json: { token: access, refreshToken, expiry: new Date(Date.now() + 3_600_000).toISOString() } }
        : {
            status: 401,
            json: { code: 16, message: `neither ${access} nor ${refreshToken}, ${bearerOf(request)}` },
          },
    );
    const oidc = jwt("first");
    const source = exchanging(oidc);
    await source.token();
    const { message } = await errorOf(source.renew(access));
    for (const token of [access, refreshToken, oidc]) expect(reveals(message, token)).toBe(false);
  });
});

const part = fc.constantFrom(
  "::error::x",
  "::add-mask::x",
  "::set-output name=a::b",
  "##[error]x",
  "##vso[task.setvariable variable=a]b",
  "##teamcity[message text='x']",
  "#",
  ":",
  " ",
  "\t",
  "\u00a0",
  "\u3000",
  "\ufeff",
  "\u200b",
  "\u001b[2K",
  "\u0085",
  "\u2028",
  "\r",
  "\r\n",
  "\n",
  "x",
);

test("whatever texts are joined, no line is a command, and nothing controls a terminal", () => {
  fc.assert(
    fc.property(fc.array(part, { maxLength: 8 }), (parts) => {
      const line = logLine(parts.join(""));
      const lines = logLines(parts.join(""));
      expect(line).not.toMatch(CONTROL);
      expect(lines.replaceAll("\n", "")).not.toMatch(CONTROL);
      for (const shown of [line, ...lines.split("\n")]) expect(shown).not.toMatch(COMMAND);
    }),
  );
});

test.each(["## Access of acme", "a ::1 b", "::1", "#1", "C::D", "  indented", "### [link](x)"])(
  "%j is not changed",
  (text) => {
    expect(logLines(text)).toBe(text);
  },
);

test("a server's text is one line, bounded, and what nobody sees is a blank or written out", () => {
  expect(printable("a\r\nb\tc\u001b[31md\u0000\u0085e\u2028f\u202eg\u2066h")).toBe("a b cd e f g h");
  expect(printable(`  ${"x".repeat(600)}`)).toBe(`${"x".repeat(500)} …`);
  expect(logLine("a\u115fb\u3164c\uffa0\u2800")).toBe("a\\u{115f}b\\u{3164}c\\u{ffa0}\\u{2800}");
  expect(logLines("a\u3164\nb")).toBe("a\\u{3164}\nb");
});

test.each([
  ["abc", 3],
  ["e\u0301a", 2],
  ["漢é", 3],
  ["🙂", 2],
])("%s takes %i columns of a terminal", (text, columns) => {
  expect(columnsOf(text)).toBe(columns);
});
