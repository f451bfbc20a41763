import { startEmulator } from "../../../emulator";
import type { Emulator } from "../../../emulator";
import { jwt, OIDC_ISSUER, trustingIdentity } from "../../support/oidc";

/** A command of the command line in this process: its environment names an emulator, what it prints is kept. */
export interface CommandBench {
  readonly emulator: Emulator;
  /** The lines on standard output since the test began. */
  readonly printed: string[];
  /** Sets the environment for an exchange, for an identity that trusts the OIDC token. */
  exchanging(claims?: object): Promise<{ identity: string; oidc: string }>;
}

/** Sets up before, and takes back after, each test of the file. */
export function commandBench(): CommandBench {
  const environment = { ...process.env };
  const printed: string[] = [];
  let emulator: Emulator | undefined;
  const running = (): Emulator => {
    if (!emulator) throw new Error("the emulator runs in tests only");
    return emulator;
  };

  beforeAll(async () => {
    emulator = await startEmulator();
  });
  beforeEach(() => {
    running().reset();
    printed.length = 0;
    jest.spyOn(process.stdout, "write").mockImplementation((text) => {
      printed.push(...String(text).replace(/\n$/, "").split("\n"));
      return true;
    });
    for (const key of Object.keys(process.env)) {
      if (/^(PLATFORM_|ACTIONS_ID_TOKEN)/.test(key)) Reflect.deleteProperty(process.env, key);
    }
    process.env["PLATFORM_BASE_URL"] = running().url;
  });
  afterEach(() => {
    process.env = { ...environment };
    jest.restoreAllMocks();
  });
  afterAll(() => running().close());

  return {
    get emulator() {
      return running();
    },
    printed,
    async exchanging(claims = {}) {
      const { url } = running();
      const identity = await trustingIdentity(running(), "repo:acme/pay");
      const oidc = jwt({ iss: OIDC_ISSUER, sub: "repo:acme/pay", aud: url, ...claims });
      Object.assign(process.env, {
        PLATFORM_ISSUER_URL: url,
        PLATFORM_IDENTITY: identity,
        PLATFORM_OIDC_TOKEN: oidc,
      });
      return { identity, oidc };
    },
  };
}
