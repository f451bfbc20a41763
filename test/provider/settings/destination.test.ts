import { readSettings } from "../../../provider/settings/settings";

const CANARY = "canary-token-2236067977";
const OURS = "https://api.example.com";
const ISSUER = "https://issuer.example.com";
const IDENTITY = `${"a".repeat(40)}/${"b".repeat(16)}`;

interface Sources {
  readonly stack: Readonly<Record<string, string>>;
  readonly env: Readonly<Record<string, string>>;
}

const merge = (...sources: readonly Partial<Sources>[]): Sources => ({
  stack: Object.assign({}, ...sources.map(({ stack }) => stack)) as Record<string, string>,
  env: Object.assign({}, ...sources.map(({ env }) => env)) as Record<string, string>,
});

function read({ stack, env }: Sources): ReturnType<typeof readSettings> {
  return readSettings({ stack: (key) => stack[key], env });
}

function refusal(sources: Sources): string {
  try {
    read(sources);
  } catch (error) {
    expect(error).toMatchObject({ name: "ConfigError", code: "CONFIG" });
    const message = error instanceof Error ? error.message : "";
    expect(message).not.toContain(CANARY);
    if (/to confirm that|, but /.test(message)) expect(error).toMatchObject({ errorCode: "PP2004" });
    return message;
  }
  throw new Error("expected a refusal");
}

/** A credential, with the setting that messages name it by. `isExchanged`: it goes to the issuer first. */
interface Credential extends Partial<Sources> {
  readonly title: string;
  readonly setting: string;
  readonly isExchanged?: boolean;
}

const OF_THE_MACHINE: readonly Credential[] = [
  { title: "a token", setting: "PLATFORM_TOKEN", env: { PLATFORM_TOKEN: CANARY } },
  { title: "a token file", setting: "PLATFORM_TOKEN_FILE", env: { PLATFORM_TOKEN_FILE: "/run/token" } },
  {
    title: "a token file that the stack names",
    setting: "platform:tokenFile",
    stack: { tokenFile: "/run/token" },
  },
  {
    title: "an OIDC token",
    setting: "PLATFORM_OIDC_TOKEN",
    env: { PLATFORM_IDENTITY: IDENTITY, PLATFORM_OIDC_TOKEN: CANARY },
    isExchanged: true,
  },
  {
    title: "an OIDC token for an identity of the stack",
    setting: "PLATFORM_OIDC_TOKEN",
    stack: { identity: IDENTITY },
    env: { PLATFORM_OIDC_TOKEN: CANARY },
    isExchanged: true,
  },
  {
    title: "a file with an OIDC token",
    setting: "PLATFORM_OIDC_TOKEN_FILE",
    env: { PLATFORM_IDENTITY: IDENTITY, PLATFORM_OIDC_TOKEN_FILE: "/run/oidc" },
    isExchanged: true,
  },
  {
    title: "a file with an OIDC token that the stack names",
    setting: "platform:oidcTokenFile",
    stack: { identity: IDENTITY, oidcTokenFile: "/run/oidc" },
    isExchanged: true,
  },
  ...(["stack", "env"] as const).map((source): Credential => ({
    title: `the request token of GitHub Actions, for an identity of the ${source}`,
    setting: "GitHub Actions",
    ...(source === "stack" ? { stack: { identity: IDENTITY } } : {}),
    env: {
      ...(source === "env" ? { PLATFORM_IDENTITY: IDENTITY } : {}),
      ACTIONS_ID_TOKEN_REQUEST_URL: "https://pipelines.example.com/token",
      ACTIONS_ID_TOKEN_REQUEST_TOKEN: CANARY,
    },
    isExchanged: true,
  })),
];

interface Setting {
  readonly key: string;
  readonly variable: string;
  readonly right: string;
  readonly wrong: string;
  readonly decides: (credential: Credential) => boolean;
}

const isExchanged = ({ isExchanged = false }: Credential): boolean => isExchanged;

const SETTINGS: readonly Setting[] = [
  {
    key: "baseUrl",
    variable: "PLATFORM_BASE_URL",
    right: OURS,
    wrong: "https://evil.example",
    decides: () => true,
  },
  {
    key: "issuerUrl",
    variable: "PLATFORM_ISSUER_URL",
    right: ISSUER,
    wrong: "https://evil.example",
    decides: isExchanged,
  },
  {
    key: "audience",
    variable: "PLATFORM_AUDIENCE",
    right: "ours",
    wrong: "sts.elsewhere.example",
    decides: isExchanged,
  },
  {
    key: "oidcAudience",
    variable: "PLATFORM_OIDC_AUDIENCE",
    right: "ours",
    wrong: "sts.elsewhere.example",
    decides: ({ setting }) => setting === "GitHub Actions",
  },
];

/** All addresses from the environment. */
const ADDRESSES = { env: { PLATFORM_BASE_URL: OURS, PLATFORM_ISSUER_URL: ISSUER } };

const casesOf = (isDecided: boolean) =>
  OF_THE_MACHINE.flatMap((credential) =>
    SETTINGS.filter(({ decides }) => decides(credential) === isDecided).map(
      (setting): [string, string, Credential, Setting] => [
        credential.title,
        setting.key,
        credential,
        setting,
      ],
    ),
  );

test.each(casesOf(false))(
  "%s needs no confirmation of %s",
  (_credential, _setting, credential, { key, wrong }) => {
    expect(() => read(merge(ADDRESSES, credential, { stack: { [key]: wrong } }))).not.toThrow();
  },
);

describe.each(casesOf(true))(
  "%s and %s",
  (_credential, _setting, credential, { key, variable, right, wrong }) => {
    const base = merge(ADDRESSES, credential);
    const others = Object.entries(base.env).filter(([name]) => name !== variable);
    const unset: Sources = { stack: base.stack, env: Object.fromEntries(others) };

    test("of the environment: is sent there", () => {
      expect(() => read(merge(unset, { env: { [variable]: right } }))).not.toThrow();
    });

    test("of both, with one value: is sent there", () => {
      expect(() => read(merge(unset, { stack: { [key]: right }, env: { [variable]: right } }))).not.toThrow();
    });

    test("of the stack alone: is refused with both sources, and what to write", () => {
      const sources = merge(unset, { stack: { [key]: wrong } });
      expect(refusal(sources)).toBe(
        `the credential of ${credential.setting} belongs to this machine, and a stack file alone may not say where it goes: platform:${key} is ${JSON.stringify(wrong)}; to confirm that, set ${variable} to the same value`,
      );
    });

    test("of both, with two values: is refused with both", () => {
      const sources = merge(unset, { stack: { [key]: wrong }, env: { [variable]: right } });
      expect(refusal(sources)).toBe(
        `the credential of ${credential.setting} belongs to this machine, and a stack file alone may not say where it goes: platform:${key} is ${JSON.stringify(wrong)}, but ${variable} is ${JSON.stringify(right)}; remove platform:${key}, or give both the same value (refresh and destroy use the stack configuration of the last update)`,
      );
    });
  },
);

describe("an address of the stack", () => {
  test("is confirmed by another spelling of it, and by no other address", () => {
    const token = { env: { PLATFORM_TOKEN: CANARY } };
    const of = (baseUrl: string) => merge(token, { stack: { baseUrl }, env: { PLATFORM_BASE_URL: OURS } });
    for (const same of [`${OURS}/`, "https://API.example.com:443"]) expect(read(of(same)).baseUrl).toBe(OURS);
    for (const other of [
      "https://api.example.com.evil.example",
      "https://api.example.com:8443",
      "https://api.example.com/x",
      "http://127.0.0.1:8080",
      "http://localhost",
    ])
      expect(refusal(of(other))).toContain("PLATFORM_BASE_URL is");
  });

  test("gets the stack's own secret, also where the environment names another address", () => {
    const stack = { token: CANARY, baseUrl: "https://stack.example.com" };
    for (const PLATFORM_BASE_URL of ["", OURS, "malformed"])
      expect(read({ stack, env: { PLATFORM_BASE_URL } })).toMatchObject({
        baseUrl: "https://stack.example.com",
        credentials: { setting: "platform:token" },
      });
  });
});

test("an audience of the stack that equals the default of the environment's addresses is confirmed by them", () => {
  const oidc = { env: { PLATFORM_IDENTITY: IDENTITY, PLATFORM_OIDC_TOKEN: CANARY } };
  expect(read(merge(ADDRESSES, oidc, { stack: { audience: OURS } })).credentials).toMatchObject({
    audience: OURS,
  });
});
