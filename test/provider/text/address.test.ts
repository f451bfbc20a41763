import { printableAddress } from "../../../provider/text/address";
import { Transport } from "../../../provider/http/transport";
import { errorOf } from "../support/server";

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
