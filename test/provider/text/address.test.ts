import { printableAddress, isLoopback, isSafe } from "../../../provider/text/address";
import { Transport } from "../../../provider/http/transport";
import { errorOf } from "../support/server";
import fc from "../../support/properties";
import { encodeUid, isUid } from "../../../provider/text/uid";
import { CHILD_UID, GROUP_UID, ROOT_UID } from "../support/samples";
import { isLoopbackHost, parseSettings } from "../../../emulator/settings";
import { parseBaseUrl } from "../../../provider/cli/post/http";

describe("an address in a message", () => {
  test.each([
    ["https://api.example.com:8443/a/b", "https://api.example.com:8443/a/b"],
    ["api.example.com", "api.example.com"],
    ["http://[::1]:8080/", "http://[::1]:8080/"],
    ["https://user:pass@api.example.com/a", "https://…@api.example.com/a"],
    ["https://user@api.example.com", "https://…@api.example.com"],
    ["user:pa@ss@api.example.com", "…@api.example.com"],
    ["https://user:pa/ss@api.example.com", "https://…@api.example.com"],
    ["https://user:pa\nss@api.example.com", "https://…@api.example.com"],
    ["https://user:pass%40api.example.com", "https://…@api.example.com"],
    ["https://user:pass", "https://user:…"],
    ["user:pass", "user:…"],
    ["https://api.example.com?key=pass", "https://api.example.com?…"],
    ["https://api.example.com/#pass?x", "https://api.example.com/#…"],
  ])("%j is shown as %s", (address, shown) => {
    expect(printableAddress(address)).toBe(shown);
  });
});

describe("the address of a proxy", () => {
  const environment = { ...process.env };
  afterEach(() => {
    process.env = { ...environment };
  });

  test.each([
    ["http://user:correct-horse@proxy test", "is not an http or https URL"],
    ["http://user:correct-horse@proxy:port", "is not an http or https URL"],
    ["ftp://user:correct-horse@proxy.test", "is not an http or https URL"],
    ["http://user:12/correct-horse@proxy.test", 'has an "@" after the host: percent-encode its password'],
    ["http://user:12#correct-horse@proxy.test", 'has an "@" after the host: percent-encode its password'],
  ])("that is wrong is refused without its password: %#", async (proxy, why) => {
    process.env["HTTPS_PROXY"] = proxy;
    process.env["NO_PROXY"] = process.env["no_proxy"] = process.env["https_proxy"] = "";
    const lines: string[] = [];
    const transport = new Transport({
      baseUrl: "https://api.hidden.test",
      name: "the API",
      setting: "baseUrl",
      timeoutMs: 1000,
      maxSockets: 1,
      log: (line) => lines.push(line),
    });
    const { message } = await errorOf(transport.send({ method: "GET", path: "/x", headers: {}, attempt: 1 }));
    expect(message).toContain(
      `the address of the proxy for api.hidden.test ${why}; https_proxy or HTTPS_PROXY names it`,
    );
    expect([message, ...lines].join()).not.toMatch(/user|correct-horse/);
  });
});

const hex = (length: number) =>
  fc
    .array(fc.constantFrom(..."0123456789abcdef".split("")), { minLength: length, maxLength: length })
    .map((all) => all.join(""));
const uids = fc
  .tuple(hex(40), fc.array(hex(16), { maxLength: 4 }))
  .map(([root, rest]) => [root, ...rest].join("/"));

test("a uid is forty hex digits and sixteen more for each level", () => {
  for (const uid of [ROOT_UID, GROUP_UID, CHILD_UID]) expect(isUid(uid)).toBe(true);
  for (const other of [
    undefined,
    null,
    5,
    [ROOT_UID],
    "",
    "viewer",
    ROOT_UID.toUpperCase(),
    `${ROOT_UID}/`,
    `/${ROOT_UID}`,
    `${ROOT_UID}//0123456789abcdef`,
    `${ROOT_UID}/0123`,
    `${ROOT_UID} `,
    `${ROOT_UID}\n`,
  ]) {
    expect(isUid(other)).toBe(false);
  }
  fc.assert(fc.property(uids, (uid) => isUid(uid)));
});

test("in a path slashes stay, and each segment is encoded on its own", () => {
  fc.assert(fc.property(uids, (uid) => encodeUid(uid) === uid));
  expect(encodeUid("a b/c?d/e#f/g%2Fh/i+j/k:l")).toBe("a%20b/c%3Fd/e%23f/g%252Fh/i%2Bj/k%3Al");
});

test.each(["", "/", "a/", "/a", "a//b", ".", "..", "a/../b", "./a"])("%j is never sent", (uid) => {
  expect(() => encodeUid(uid)).toThrow(`"${uid}" is not a uid: it has an empty or dotted segment`);
});

test("an encoded uid decodes to itself, segment by segment", () => {
  const segment = fc.string({ unit: "grapheme", minLength: 1 }).filter((text) => !/^\.{1,2}$|\//.test(text));
  fc.assert(
    fc.property(fc.array(segment, { minLength: 1, maxLength: 4 }), (segments) => {
      const encoded = encodeUid(segments.join("/"));
      expect(encoded.split("/").map(decodeURIComponent)).toEqual(segments);
      expect(new URL(`http://x/a/${encoded}`).pathname.split("/").slice(2).map(decodeURIComponent)).toEqual(
        segments,
      );
    }),
  );
});

/* Everything that allows plain http within the machine agrees on which addresses these are. */

function isAccepted(parse: () => unknown): boolean {
  try {
    parse();
    return true;
  } catch {
    return false;
  }
}

test.each([
  ["localhost", true],
  ["LOCALHOST", true],
  ["127.0.0.1", true],
  ["127.9.9.9", true],
  ["127.255.255.254:8080", true],
  ["[::1]:8080", true],
  ["[0:0:0:0:0:0:0:1]", true],
  ["2130706433", true],
  ["10.0.0.1", false],
  ["0.0.0.0", false],
  ["128.0.0.1", false],
  ["[::2]", false],
  ["example.com", false],
  ["127.0.0.1.example.com", false],
  ["127.example.com", false],
  ["localhost.example.com", false],
  ["example.localhost.com", false],
])("%s within this machine: %s", (host, isLocal) => {
  const address = `http://${host}`;
  const url = new URL(address);
  const answers = {
    package: isLoopback(url),
    credentials: isSafe(url),
    posting: isAccepted(() => parseBaseUrl(address, "GITHUB_API_URL")),
    emulator: isLoopbackHost(url.hostname),
    delivery: isAccepted(() => parseSettings({ deliverTo: address })),
  };
  expect(Object.entries(answers).filter(([, answer]) => answer !== isLocal)).toEqual([]);
});
