import { isLoopbackHost, parseSettings } from "../../emulator/settings";
import { isLoopback, isSafe } from "../../provider/text/address";
import { parseBaseUrl } from "../../provider/cli/post/http";

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
