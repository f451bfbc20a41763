import { generateKeyPairSync } from "node:crypto";
import { isSet } from "../../../provider/fields/equal";
import type { FieldSpec } from "../../../provider/fields/fieldSpec";
import {
  canonicalJwks,
  durationNanos,
  durationToWire,
  formats,
  timestampNanos,
} from "../../../provider/fields/formats";
import type { Format } from "../../../provider/fields/formats";
import { toWire } from "../../../provider/fields/wire";
import { cpuSeconds } from "../../support/cpu";
import { GROUP_UID, JWKS, PUBLIC_KEY, ROOT_UID } from "../support/samples";

const words = (text: string): string[] => text.split(" ");

describe("durations", () => {
  test.each([
    ["0s", "0s"],
    ["86400s", "86400s"],
    ["24h", "86400s"],
    ["1h30m", "5400s"],
    ["1h0m0s", "3600s"],
    ["90m", "5400s"],
    ["1.5s", "1.5s"],
    ["1.500s", "1.5s"],
    ["0.5h", "1800s"],
    ["0.000000001s", "0.000000001s"],
    ["-1s", "-1s"],
    ["-1m0.5s", "-60.5s"],
    ["315576000000s", "315576000000s"],
  ])("%s is sent as %s", (text, wire) => {
    expect(durationToWire(text)).toBe(wire);
    expect(formats.duration.problem(text)).toBeUndefined();
    expect(durationNanos(wire)).toBe(durationNanos(text));
  });

  test.each([
    ...words("86400 P1D 1d h 1s1m 1h1h 1.s .5s +1s --1s 1e3s 0.0000000001s 315576000001s 100000000h ١s"),
    "",
    "1 h",
    "1s\n",
  ])("%j is not a duration, and is not changed", (text) => {
    expect(durationNanos(text)).toBeUndefined();
    expect(durationToWire(text)).toBe(text);
    expect(formats.duration.problem(text)).toMatch(/^must be a duration, as in "86400s"/);
  });
});

describe("times", () => {
  test("an instant is counted in nanoseconds", () => {
    expect(timestampNanos("1970-01-01T00:00:00Z")).toBe(0n);
    expect(timestampNanos("1970-01-01T00:00:00.000000001Z")).toBe(1n);
    expect(timestampNanos("1969-12-31T23:59:59.5Z")).toBe(-500_000_000n);
    expect(timestampNanos("2024-02-29T12:00:00+14:00")).toBe(timestampNanos("2024-02-28T22:00:00Z"));
    expect(timestampNanos("2024-02-29T12:00:00-00:30")).toBe(timestampNanos("2024-02-29T12:30:00.000Z"));
    expect(timestampNanos("1970-01-02T00:00:00+23:59")).toBe(60_000_000_000n);
    expect(timestampNanos("0001-01-01T00:00:00Z")).toBe(-62_135_596_800_000_000_000n);
    expect(timestampNanos("9999-12-31T23:59:59.999999999Z")).toBe(253_402_300_799_999_999_999n);
  });

  test.each([
    ...words("2027-01-31 2027-01-31T12:00:00 2027-01-31t12:00:00Z 2027-01-31T12:00:00z 2027-01-31T12:00Z"),
    ...words("2027-01-31T24:00:00Z 2027-01-31T12:60:00Z 2027-01-31T12:00:60Z 2027-02-29T12:00:00Z"),
    ...words("2100-02-29T12:00:00Z 2027-00-10T12:00:00Z 2027-13-10T12:00:00Z 2027-04-31T12:00:00Z"),
    ...words("2027-04-00T12:00:00Z 0000-01-01T00:00:00Z 10000-01-01T00:00:00Z 2027-01-31T12:00:00.Z"),
    ...words("2027-01-31T12:00:00.0000000001Z 2027-01-31T12:00:00+1:00 2027-01-31T12:00:00+24:00"),
    ...words("2027-01-31T12:00:00+0100 2027-01-31T12:00:00+01:60 1800000000"),
    "",
    "2027-01-31 12:00:00Z",
    " 2027-01-31T12:00:00Z",
  ])("%j is refused, as the API refuses it", (text) => {
    expect(timestampNanos(text)).toBeUndefined();
    expect(formats.timestamp.problem(text)).toMatch(/^must be an RFC 3339 time with a zone/);
  });
});

test("of a pattern that no review judges the server alone says whether it is one", () => {
  expect(formats.regex.problem("(".repeat(5000))).toMatch(/^must be a regular expression/);
  const long = `^[${"[:a".repeat(100_000)}]$`;
  expect(cpuSeconds(() => expect(formats.regex.problem(long)).toBeUndefined())).toBeLessThan(1);
});

describe("key sets", () => {
  test("the order of members and white space mean nothing, the order of a list does", () => {
    const text = '{ "keys": [ {"n":"A", "kty":"RSA"}, {"kty":"EC"} ], "a": {"z":1,"b":[1,2]} }';
    expect(canonicalJwks(text)).toBe('{"a":{"b":[1,2],"z":1},"keys":[{"kty":"RSA","n":"A"},{"kty":"EC"}]}');
    expect(canonicalJwks('{"keys":[1,2]}')).not.toBe(canonicalJwks('{"keys":[2,1]}'));
    expect(canonicalJwks("no JSON")).toBeUndefined();
  });

  test.each(["d", "p", "q", "dp", "dq", "qi", "oth", "k"])(
    "a key with the private member %s is refused",
    (name) => {
      const text = JSON.stringify({ keys: [{ kty: "RSA", [name]: "canary" }] });
      const problem = formats.jwks.problem(text);
      expect(problem).toContain(`keys[0] has the private member "${name}"`);
      expect(problem).not.toContain("canary");
    },
  );

  test.each([
    ['{"keys":[{"kty":"RSA"}],"Keys":[{"kty":"RSA"}]}', 'the member "Keys" equals "keys" but for case'],
    ['{"\\u212Aeys":[],"keys":[{"kty":"RSA"}]}', 'equals "keys" but for case'],
    ['{"keys":[{"kty":"RSA","Kty":"oct"}]}', 'the member "Kty" equals "kty" but for case'],
    ['{"keys":[{"kty":"RSA","D":"canary"}]}', 'the member "D" equals "d" but for case'],
    ['{"keys":[{"kty":"RSA","X5T#s256":"canary"}]}', 'equals "x5t#S256" but for case'],
    ['{"keys":[{"kty":"RSA"}],"keys":[{"kty":"RSA"}]}', "a member is repeated"],
    ['{"keys":[{"kty":"RSA","n":"canary","\\u006e":"b"}]}', "a member is repeated"],
    ['{"keys":[{"kty":"RSA"}],"more":{"keYs":[]}}', 'the member "keYs" equals "keys" but for case'],
  ])("%s is refused, since parsers read it differently", (text, why) => {
    const problem = formats.jwks.problem(text);
    expect(problem).toContain(`every parser reads alike: `);
    expect(problem).toContain(why);
    expect(problem).not.toContain("canary");
  });

  test("one that is deeply nested is refused, and is its own canonical form", () => {
    const levels = (count: number): string =>
      `{"keys":[{"kty":"EC","x":${"[".repeat(count - 3)}${"]".repeat(count - 3)}}]}`;
    expect(formats.jwks.problem(levels(20))).toBeUndefined();
    for (const text of [levels(21), levels(100_000)]) {
      expect(formats.jwks.problem(text)).toContain("every parser reads alike: it is nested more than 20");
      expect([canonicalJwks(text), formats.jwks.canonical?.(text)]).toEqual([undefined, text]);
    }
  });

  test.each([
    "[]",
    "null",
    "5",
    '"x"',
    '{"keys":{}}',
    '{"keys":null}',
    '{"keys":[null]}',
    '{"keys":["x"]}',
    '{"keys":[{"kty":5}]}',
  ])("%s is none", (text) => {
    expect(formats.jwks.problem(text)).toMatch(/^must be a JSON Web Key Set/);
  });
});

describe.each(Object.entries(formats))("the examples of the format %s", (name, { examples, sample }) => {
  const field: FieldSpec = { type: "string", format: name as Format };

  test("are taken, in the form of the API", () => {
    expect(sample === undefined || formats[name as Format].problem(sample) === undefined).toBe(true);
    for (const text of examples) {
      expect([text, formats[name as Format].problem(text)]).toEqual([text, undefined]);
      expect(toWire(field, text)).toBe(text);
      expect(isSet(field, text)).toBe(true);
    }
  });

  test("stand from less to more, where the format knows", () => {
    const amounts = examples
      .map((text) => formats[name as Format].amount?.(text))
      .filter((each) => each !== undefined);
    expect([...amounts].sort((a, b) => (a < b ? -1 : 1))).toEqual(amounts);
    const covers = formats[name as Format].coverage?.(examples.slice(0, 1));
    expect(examples.slice(1).filter((text) => covers?.(text))).toEqual([]);
  });
});

/** What a format takes and refuses besides. */
const texts: Readonly<Partial<Record<Format, { good: string[]; bad: string[] }>>> = {
  cidr: {
    good: words("0.0.0.0/0 10.0.0.0/8 192.0.2.1/32 ::/0 2001:DB8::/32 ::ffff:192.0.2.0/120 fe80::1/128"),
    bad: [
      ...words(
        "10.0.0.0 10.0.0.0/33 10.0.0.1/8 10.0.0.0/08 10.0.0/8 010.0.0.0/8 2001:db8::/129 2001:db8::1/32",
      ),
      ...words("fe80::1%eth0/128 example.com/24 /8 10.0.0.0/-1"),
      "",
      "10.0.0.0/8 ",
    ],
  },
  uid: {
    good: [ROOT_UID, GROUP_UID, `${GROUP_UID}/0123456789abcdef/0123456789abcdef`],
    bad: [
      "",
      "viewer",
      `${ROOT_UID}/`,
      `/${ROOT_UID}`,
      ROOT_UID.toUpperCase(),
      `${ROOT_UID}/abc`,
      `${ROOT_UID}//0123456789abcdef`,
      `${ROOT_UID}\n`,
      ROOT_UID.slice(1),
    ],
  },
  groupUid: { good: [ROOT_UID, GROUP_UID], bad: ["acme", ` ${ROOT_UID}`] },
  regex: {
    good: ["^a$", "", "(?i)x", "(?P<name>a)", "\\pL+", "[[:alpha:]]", "a{1,1000}", "\\Qa.b\\E", "(a|b)*?"],
    bad: [...words("( [ * a**b( (?=a) (?!a) (?<=a) (?<!a) (?P<n a{1001} (?>a) a++"), "\\1", "\\"],
  },
  int64: {
    good: ["0", "7", "1234567890123456789", "9223372036854775807"],
    bad: ["", "-1", "007", "1.5", "12345678901234567890", "9223372036854775808", "9999999999999999999"],
  },
  jwks: { good: [JWKS, '{"keys":[{"kty":"oct"}],"more":1}'], bad: ["", "{}", '{"keys":[]}'] },
  url: {
    good: [
      "https://example.com",
      "http://localhost:8080/x?y=z",
      "https://[::1]/",
      "https://example.com/a%20b",
    ],
    bad: [
      ...words("example.com //example.com ftp://example.com https:// https://user@example.com"),
      ...words("https://:secret@example.com javascript:alert(1) file:///etc/passwd"),
      "",
      "https:example.com\\x",
      "https://exa mple.com",
      "https://[",
      "https://example.com/a b",
      " https://example.com",
    ],
  },
  httpsUrl: { good: ["https://example.com/hook"], bad: ["http://example.com/hook", "wss://example.com"] },
  keyringFile: {
    good: ["acme.rsa.pub", "a", "_x", "a@b+c-d.pub", "-a"],
    bad: ["", ".hidden", "a/b", "..", "a b", "a\\b", "é.pub", "a\n"],
  },
  rsaPublicKey: {
    good: [PUBLIC_KEY, `\n${PUBLIC_KEY}`, PUBLIC_KEY.trim(), PUBLIC_KEY.replaceAll("\n", "\r\n")],
    bad: [
      "",
      "MIIB",
      "-----BEGIN PUBLIC KEY-----\nMIIB\n-----END PUBLIC KEY-----\n",
      PUBLIC_KEY.replaceAll("PUBLIC", "PRIVATE"),
      PUBLIC_KEY.replace("-----END PUBLIC KEY-----", ""),
    ],
  },
};

describe.each(Object.entries(texts))("the format %s", (name, { good, bad }) => {
  const format = name as Format;

  test.each(good)("takes %j", (text) => {
    expect(formats[format].problem(text)).toBeUndefined();
  });

  test.each(bad)("refuses %j and says what must be", (text) => {
    expect(formats[format].problem(text)).toMatch(/^must /);
  });
});

test("only RSA public keys are accepted", () => {
  const rsa = generateKeyPairSync("rsa", { modulusLength: 512 });
  const ec = generateKeyPairSync("ec", { namedCurve: "P-256" });
  const pem = (key: typeof rsa.publicKey, type: "spki" | "pkcs1") =>
    key.export({ type, format: "pem" }) as string;
  expect(formats.rsaPublicKey.problem(pem(rsa.publicKey, "spki"))).toBeUndefined();
  expect(formats.rsaPublicKey.problem(pem(rsa.publicKey, "pkcs1"))).toBeUndefined();
  const refused = /^must be an RSA public key in PEM/;
  expect(formats.rsaPublicKey.problem(pem(ec.publicKey, "spki"))).toMatch(refused);
  const secret = rsa.privateKey.export({ type: "pkcs8", format: "pem" }) as string;
  const problem = formats.rsaPublicKey.problem(secret);
  expect(problem).toMatch(refused);
  expect(problem).not.toContain(secret.slice(40, 80));
});
