import { printableAddress } from "../../../provider/api/address";

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
