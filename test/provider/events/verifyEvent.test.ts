import type { Server } from "node:http";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { createHash } from "node:crypto";
import { exportJWK, generateKeyPair, SignJWT } from "jose";
import type { CryptoKey, JWTPayload } from "jose";
import { EventError, verifyEvent } from "../../../provider/events";
import type { EventHeaders, PlatformEvent } from "../../../provider/events";
import { startDeliveries } from "../../support/hostileClients";
import type { Deliveries, Delivery } from "../../support/hostileClients";

async function listen(server: Server): Promise<string> {
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

const codesOfProblems = { malformed: "PP8001", refused: "PP8002", unavailable: "PP8003" };

async function problemOf(verification: Promise<PlatformEvent>): Promise<[string, number, string]> {
  const error: unknown = await verification.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  if (!(error instanceof EventError)) throw new Error("expected an EventError", { cause: error });
  expect(error.errorCode).toBe(codesOfProblems[error.problem]);
  return [error.problem, error.status, error.message];
}

describe("deliveries of the emulator", () => {
  let deliveries: Deliveries;
  let delivery: Delivery;

  beforeAll(async () => {
    deliveries = await startDeliveries();
    delivery = await deliveries.next();
  });
  afterAll(() => deliveries.close());

  const verify = (
    more: Partial<Parameters<typeof verifyEvent>[2]> = {},
    body: string | Buffer = delivery.body,
  ) => {
    const { emulator, group } = deliveries;
    return verifyEvent(delivery.headers, body, { issuer: emulator.url, group, ...more });
  };

  test("are verified, and return the event with its kind and object", async () => {
    const { headers, body } = delivery;
    const { emulator, group } = deliveries;
    const event = await verify();
    const { uid } = (JSON.parse(body.toString()) as { body: { uid: string } }).body;
    expect(event).toEqual({
      id: headers["ce-id"],
      type: "dev.chainguard.api.iam.roles.created.v1",
      name: "iam.roles.created",
      source: emulator.url,
      subject: uid,
      time: headers["ce-time"],
      group,
      subscriptionGroup: group,
      bodyType: headers["ce-bodytype"],
      extensions: {},
      actor: { subject: expect.stringMatching(/^[0-9a-f]{40}$/), act: {} },
      body: expect.objectContaining({ uid, name: "role", capabilities: ["CAP_REPO_LIST"] }),
    });
    // The body as text and the headers of fetch do as well.
    const fetched = new Headers(headers);
    expect(await verifyEvent(fetched, body.toString(), { issuer: emulator.url, group })).toEqual(event);
  });

  test("are refused with another body, even of the same meaning", async () => {
    const text = delivery.body.toString();
    for (const body of [JSON.stringify(JSON.parse(text), null, 1), `${text} `, ""]) {
      expect(await problemOf(verify({}, body))).toEqual([
        "refused",
        401,
        "its token is for another body: pass the bytes as they came, not parsed JSON",
      ]);
    }
  });

  test("are refused where they are for the subscription of another group", async () => {
    const other = "cd".repeat(20);
    const told = "its token is for the subscription of another group";
    expect(await problemOf(verify({ group: other }))).toEqual(["refused", 401, told]);
    const { group } = deliveries;
    expect((await verify({ group: [other, group] })).subscriptionGroup).toBe(group);
  });

  test("are refused when their token has expired, but for a difference of the clocks", async () => {
    const at = (seconds: number) => verify({ now: new Date(Date.now() + seconds * 1000) });
    expect((await at(3600 + 50)).name).toBe("iam.roles.created");
    expect(await problemOf(at(3600 + 70))).toEqual(["refused", 401, "its token has expired"]);
  });
});

describe("an event", () => {
  const group = "ab".repeat(20);
  const body = JSON.stringify({ actor: { subject: "x", act: {} }, body: { uid: group, name: "smörgås" } });
  const digest = (text: string) => `sha256:${createHash("sha256").update(text).digest("hex")}`;
  let issuer: string;
  let server: Server;
  let ours: CryptoKey;
  let theirs: CryptoKey;
  let answers: Map<string, { status?: number; body: unknown }>;

  beforeAll(async () => {
    const pair = await generateKeyPair("ES256");
    ours = pair.privateKey;
    theirs = (await generateKeyPair("ES256")).privateKey;
    const jwks = { keys: [{ ...(await exportJWK(pair.publicKey)), kid: "1", alg: "ES256" }] };
    server = createServer((request, response) => {
      const answer = answers.get(request.url ?? "");
      response.writeHead(answer ? (answer.status ?? 200) : 404).end(JSON.stringify(answer?.body ?? {}));
    });
    issuer = await listen(server);
    answers = new Map<string, { status?: number; body: unknown }>([
      ["/.well-known/openid-configuration", { body: { issuer, jwks_uri: `${issuer}/keys` } }],
      ["/keys", { body: jwks }],
    ]);
  });
  afterAll(() => {
    server.closeAllConnections();
    server.close();
  });

  const attributes = {
    "ce-specversion": "1.0",
    "ce-id": "1",
    "ce-source": "https://api.test",
    "ce-type": "dev.chainguard.api.iam.group.created.v1",
    "ce-subject": group,
  };
  const inSeconds = (seconds: number): number => Math.floor(Date.now() / 1000) + seconds;
  const claims = (more: JWTPayload = {}): JWTPayload => ({
    iss: issuer,
    aud: "customer",
    sub: `webhook:${group}`,
    exp: Math.floor(Date.now() / 1000) + 60,
    webhook: { digest: digest(body) },
    ...more,
  });
  const signed = (payload: JWTPayload, key = ours, header: object = {}) =>
    new SignJWT(payload).setProtectedHeader({ alg: "ES256", kid: "1", ...header }).sign(key);
  const verify = (token: string, more: Record<string, string | string[]> = {}) =>
    verifyEvent({ ...attributes, authorization: `Bearer ${token}`, ...more }, body, { issuer, group });

  test("is accepted with attributes that this version does not know", async () => {
    const event = await verify(await signed(claims()), {
      "Ce-Identityprovider": "p%C3%A9",
      "ce-type": "dev.other.v9",
    });
    expect(event).toMatchObject({
      type: "dev.other.v9",
      name: "dev.other.v9",
      extensions: { identityprovider: "pé" },
    });
  });

  const wrongClaims: [string, JWTPayload, string][] = [
    ["of another issuer", { iss: "https://other.test" }, "claim iss"],
    ["for another audience", { aud: "internal" }, "claim aud"],
    ["that is no webhook's", { sub: group }, "not for a webhook"],
    ["of several subjects", { sub: [`webhook:${group}`] as never }, "not for a webhook"],
    ["without a subject", { sub: undefined }, "not for a webhook"],
    ["without a digest", { webhook: undefined }, "another body"],
    ["whose digest is of another kind", { webhook: { digest: [digest(body)] } }, "another body"],
    ["that is not valid yet", { nbf: inSeconds(90) }, "from the future (claim nbf)"],
    ["that never expires", { exp: undefined }, "the claim exp is missing"],
    ["that was issued in the future", { iat: inSeconds(90) }, "from the future (claim iat)"],
    ["without an issuer", { iss: undefined }, "claim iss missing"],
    ["that ends at no number", { exp: "soon" as never }, "claim exp invalid"],
    ["that was issued at no number", { iat: "now" as never }, "claim iat"],
  ];
  test.each(wrongClaims)("with a token %s is refused", async (_, more, message) => {
    const [problem, status, text] = await problemOf(verify(await signed(claims(more))));
    expect([problem, status]).toEqual(["refused", 401]);
    expect(text).toContain(message);
  });

  const formed = (
    values: Record<string, string>,
    write: (key: string, value: string) => [string, string[]],
  ) => Object.fromEntries(Object.entries(values).map(([key, value]) => write(key, value)));
  const upper = (key: string): string => key.replace(/(^|-)[a-z]/g, (c) => c.toUpperCase());
  const others = { "X-Forwarded-For": ["1.1.1.1", "2.2.2.2"], "X-Null": null };
  const forms: [string, (values: Record<string, string>) => EventHeaders][] = [
    [
      "headersDistinct of Node",
      (values) => ({ ...formed(values, (k, v) => [k, [v]]), accept: ["a", "b"], "set-cookie": [] }),
    ],
    [
      "multiValueHeaders of Lambda",
      (values) => ({ ...formed(values, (k, v) => [upper(k), [v]]), ...others }),
    ],
    ["the same value twice", (values) => formed(values, (k, v) => [k, [v, v]])],
    [
      "Headers with each value twice",
      (values) => new Headers([...Object.entries(values), ...Object.entries(values)]),
    ],
    ["pairs", (values) => Object.entries(values)],
    ["a Map of lists", (values) => new Map(Object.entries(values).map(([k, v]) => [k, [v]]))],
  ];
  describe.each(forms)("with headers in the form of %s", (_, form) => {
    const headersOf = async () => ({
      ...attributes,
      "ce-group": group,
      "ce-identityprovider": "p",
      authorization: `Bearer ${await signed(claims())}`,
    });

    test("is accepted", async () => {
      const event = await verifyEvent(form(await headersOf()), body, { issuer, group });
      expect(event).toMatchObject({ id: "1", subject: group, group, extensions: { identityprovider: "p" } });
    });

    test("is refused if one header has a second value", async () => {
      const headers = await headersOf();
      for (const name of Object.keys(headers)) {
        const given = form(headers);
        const entries = Symbol.iterator in given ? [...given] : Object.entries(given);
        const more: [string, string[]][] = [
          ...entries.map(([key, value]): [string, string[]] => [key, [value ?? []].flat()]),
          [name, [name === "authorization" ? "Bearer x" : "2"]],
        ];
        const [problem, , text] = await problemOf(verifyEvent(more, body, { issuer, group }));
        expect([problem, text]).toEqual([
          "malformed",
          `the header ${name} has several different values: an event has one`,
        ]);
      }
    });
  });

  test("whose headers fetch has joined from different values is refused by the header's name", async () => {
    const token = await signed(claims());
    for (const name of ["ce-id", "authorization"]) {
      const headers = new Headers({ ...attributes, authorization: `Bearer ${token}` });
      headers.append(name, "Bearer other");
      const [problem, , text] = await problemOf(verifyEvent(headers, body, { issuer, group }));
      expect(problem).toBe("malformed");
      expect(text).toContain(`the header ${name} has several different values`);
      expect(text).not.toContain(token);
    }
  });

  test("signed by someone else, by no one, or with a shared secret is refused, without a word of its token", async () => {
    const unsigned = `${Buffer.from('{"alg":"none"}').toString("base64url")}.${Buffer.from(
      JSON.stringify(claims()),
    ).toString("base64url")}.`;
    const shared = await new SignJWT(claims())
      .setProtectedHeader({ alg: "HS256", kid: "1" })
      .sign(Buffer.from(JSON.stringify(answers.get("/keys")?.body)));
    const tokens = [
      await signed(claims(), theirs),
      await signed(claims(), ours, { kid: "2" }),
      unsigned,
      shared,
      "opaque",
    ];
    for (const token of tokens) {
      const [problem, , text] = await problemOf(verify(token));
      expect(problem).toBe("refused");
      expect(text).not.toContain(token);
    }
    expect(await problemOf(verifyEvent(attributes, body, { issuer, group }))).toEqual([
      "refused",
      401,
      "it carries no bearer token",
    ]);
  });

  test("that is invalid is malformed, if its token is the platform's", async () => {
    const token = await signed(claims());
    for (const name of ["ce-type", "ce-id", "ce-source", "ce-subject"]) {
      expect((await problemOf(verify(token, { [name]: "" })))[2]).toContain(`the header ${name} is missing`);
    }
    expect((await problemOf(verify(token, { "ce-subject": "%zz" })))[2]).toContain("percent-encoded");
    expect((await problemOf(verify(token, { "ce-id": [1] as never })))[2]).toContain(
      "ce-id must be a string",
    );
    expect((await problemOf(verify(token, { "ce-id": ["1", "2"] })))[2]).toBe(
      "the header ce-id has several different values: an event has one",
    );
    const list = "[1]";
    const other = await signed(claims({ webhook: { digest: digest(list) } }));
    const headers = { ...attributes, authorization: `Bearer ${other}` };
    expect(await problemOf(verifyEvent(headers, list, { issuer, group }))).toEqual([
      "malformed",
      400,
      "the body is not a JSON object",
    ]);
  });

  test("is a transient error while the issuer's keys are unavailable, and accepted afterwards", async () => {
    const failing = createServer((request, response) => {
      const url = request.url ?? "";
      const named = url.startsWith("/other") ? { issuer: "https://x.test", jwks_uri: "https://x.test" } : {};
      response.writeHead(url.startsWith("/html") ? 502 : 200).end(JSON.stringify(named));
    });
    const address = await listen(failing);
    const token = await signed(claims());
    const headers = { ...attributes, authorization: `Bearer ${token}` };
    const causes: string[] = [];
    for (const path of ["/html", "/other", "/empty"]) {
      const [problem, status, text] = await problemOf(
        verifyEvent(headers, body, { issuer: address + path, group }),
      );
      expect([problem, status]).toEqual(["unavailable", 503]);
      causes.push(text);
    }
    expect(causes[0]).toContain("HTTP 502");
    expect(causes.slice(1)).toEqual(Array(2).fill(expect.stringContaining("names another issuer")));
    failing.closeAllConnections();
    failing.close();

    // The failure is not kept.
    const late = `${issuer}/late`;
    const lateToken = await signed(claims({ iss: late }));
    const verifyLate = () =>
      verifyEvent({ ...attributes, authorization: `Bearer ${lateToken}` }, body, { issuer: late, group });
    expect((await problemOf(verifyLate()))[0]).toBe("unavailable");
    answers.set("/late/.well-known/openid-configuration", {
      body: { issuer: late, jwks_uri: `${issuer}/late/keys` },
    });
    expect((await problemOf(verifyLate()))[0]).toBe("unavailable");
    answers.set("/late/keys", answers.get("/keys")!);
    expect((await verifyLate()).subject).toBe(group);
  });

  test.each([
    ["is gone", 404],
    ["has the old keys still", 200],
  ])("is accepted once the issuer has moved its keys, where the old address %s", async (_what, status) => {
    const moving = `${issuer}/moving/${status}`;
    const configuration = `/moving/${status}/.well-known/openid-configuration`;
    const name = (keys: string) =>
      answers.set(configuration, { body: { issuer: moving, jwks_uri: `${moving}/${keys}` } });
    const verifySigned = async (key: CryptoKey, kid: string) => {
      const token = await signed(claims({ iss: moving }), key, { kid });
      const headers = { ...attributes, authorization: `Bearer ${token}` };
      return verifyEvent(headers, body, { issuer: moving, group });
    };
    name("old");
    const old = answers.get("/keys")!;
    answers.set(`/moving/${status}/old`, old);
    await verifySigned(ours, "1");
    const next = await generateKeyPair("ES256");
    const jwk = { ...(await exportJWK(next.publicKey)), kid: "2", alg: "ES256" };
    answers.set(`/moving/${status}/old`, { status, body: old.body });
    answers.set(`/moving/${status}/new`, { body: { keys: [jwk] } });
    name("new");
    // Unknown keys are fetched again half a minute after the last time.
    const later = Date.now() + 31_000;
    const clock = jest.spyOn(Date, "now").mockReturnValue(later);
    try {
      expect((await verifySigned(next.privateKey, "2")).subject).toBe(group);
    } finally {
      clock.mockRestore();
    }
  });

  test.each<[string, object, string]>([
    ["is null", { body: null }, "its configuration names another issuer"],
    [
      "is longer than a million bytes",
      { body: "x".repeat(2 ** 20) },
      "its response is larger than 1048576 bytes",
    ],
  ])("is not accepted where the configuration of the issuer %s", async (what, answer, problem) => {
    const own = `${issuer}/${encodeURIComponent(what)}`;
    answers.set(`${new URL(own).pathname}/.well-known/openid-configuration`, answer as { body: unknown });
    const headers = { ...attributes, authorization: `Bearer ${await signed(claims({ iss: own }))}` };
    expect(await problemOf(verifyEvent(headers, body, { issuer: own, group }))).toEqual([
      "unavailable",
      503,
      `the keys of ${own} could not be fetched: ${problem}`,
    ]);
  });

  test("is not accepted where the keys are none, and has no actor and no object where its body has none", async () => {
    const own = `${issuer}/none`;
    answers.set("/none/.well-known/openid-configuration", { body: { issuer: own, jwks_uri: `${own}/keys` } });
    answers.set("/none/keys", { body: { keys: "none" } });
    const token = await signed(claims({ iss: own }));
    const headers = { ...attributes, authorization: `Bearer ${token}` };
    expect((await problemOf(verifyEvent(headers, body, { issuer: own, group })))[0]).toBe("unavailable");
    const bare = await signed(claims({ webhook: { digest: digest("{}") } }));
    const event = await verifyEvent({ ...attributes, authorization: `Bearer ${bare}` }, "{}", {
      issuer,
      group,
    });
    expect(Object.keys(event)).not.toEqual(expect.arrayContaining(["actor"]));
    expect(event).not.toHaveProperty("body");
  });

  test.each<[unknown, string]>([
    [null, "names no keys"],
    [{}, "names no keys"],
    ["http://keys.test/keys", "its keys are not at an https address"],
    ["https://user@keys.test/keys", "its keys are not at an https address"],
  ])("is not accepted where the issuer names its keys as %j", async (jwks_uri, problem) => {
    const own = `${issuer}/named/${encodeURIComponent(JSON.stringify(jwks_uri))}`;
    answers.set(`${new URL(own).pathname}/.well-known/openid-configuration`, {
      body: { issuer: own, jwks_uri },
    });
    const headers = { ...attributes, authorization: `Bearer ${await signed(claims({ iss: own }))}` };
    expect(await problemOf(verifyEvent(headers, body, { issuer: own, group }))).toEqual([
      "unavailable",
      503,
      expect.stringContaining(problem),
    ]);
  });

  test("is not read if the arguments are invalid", async () => {
    const options = { issuer, group };
    const refused = (raw: unknown, more: object, message: RegExp, headers: unknown = attributes) =>
      expect(verifyEvent(headers as EventHeaders, raw as string, { ...options, ...more })).rejects.toThrow(
        message,
      );
    for (const none of ["", [], [""]])
      await refused(body, { group: none }, /group must be the uid .* \(PP8004\)$/);
    await refused({ parsed: true }, {}, /raw body/);
    for (const wrong of [null, "ce-id: 1", ["ce-id", "1"]]) await refused(body, {}, /headers must be/, wrong);
    for (const clockToleranceSeconds of [NaN, Infinity, -1])
      await refused(body, { clockToleranceSeconds }, /clockToleranceSeconds must be/);
    await refused(body, { now: new Date(NaN) }, /now must be a valid Date/);
    const password = "correct-horse";
    for (const address of [
      "issuer.test",
      `https://user:${password}@issuer.test`,
      `http://user:${password}@issuer.test`,
      `https://issuer.test?key=${password}`,
    ]) {
      const refusal: unknown = await verifyEvent(attributes, body, { issuer: address, group }).catch(
        (error: unknown) => error,
      );
      expect(String(refusal)).toMatch(/issuer must be an address/);
      expect(String(refusal)).not.toContain(password);
    }
  });
});
