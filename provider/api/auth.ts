import { readFile } from "node:fs/promises";
import { ConfigError } from "./errors";

/** Where the bearer token comes from. `setting` is the name that messages give. */
export type Credentials =
  | { readonly kind: "token"; readonly token: string; readonly setting: string }
  | { readonly kind: "tokenFile"; readonly path: string; readonly setting: string };

/** Gives the token for a request. Never keeps what could have gone stale. */
export interface TokenSource {
  token(): Promise<string>;
  /** Whether another token may be had after a 401. */
  renew(refused: string): Promise<boolean>;
}

function validToken(token: string, setting: string): string {
  const trimmed = token.trim();
  if (trimmed === "") throw new ConfigError(`${setting} is empty: it must hold the access token`);
  if (/^(\.{0,2}\/|~|[A-Za-z]:[\\/])/.test(trimmed)) {
    throw new ConfigError(
      `${setting} holds a path, not a token: name the file with PLATFORM_TOKEN_FILE or platform:tokenFile`,
    );
  }
  if (!/^[\x21-\x7e]+$/.test(trimmed)) {
    throw new ConfigError(`${setting} holds spaces, line breaks or other characters that no token has`);
  }
  return trimmed;
}

async function readTokenFile(path: string, setting: string): Promise<string> {
  let content: string;
  try {
    content = await readFile(path, "utf8");
  } catch (error) {
    const code =
      error !== null && typeof error === "object" && "code" in error ? String(error.code) : "unreadable";
    if (/^[\w-]{20,}(\.[\w-]+)*$/.test(path.trim())) {
      throw new ConfigError(
        `${setting} seems to hold a token: it must name a file; a token itself goes into PLATFORM_TOKEN`,
      );
    }
    throw new ConfigError(`${setting} names a file that cannot be read (${code}): ${path}`);
  }
  return validToken(content, `the file that ${setting} names`);
}

export function tokenSource(credentials: Credentials): TokenSource {
  switch (credentials.kind) {
    case "token": {
      const { token, setting } = credentials;
      return {
        token: () => Promise.resolve().then(() => validToken(token, setting)),
        renew: () => Promise.resolve(false),
      };
    }
    case "tokenFile": {
      const { path, setting } = credentials;
      return {
        token: () => readTokenFile(path, setting),
        renew: async (refused) => (await readTokenFile(path, setting)) !== refused,
      };
    }
  }
}
