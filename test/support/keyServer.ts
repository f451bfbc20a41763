import { createDecipheriv } from "node:crypto";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";

/*
 * Stacks of tests encrypt their secrets by a key that a server holds, as HashiCorp Vault does. A passphrase would cost
 * each run of the CLI 0.15 s of processor time, in which it derives the key from it.
 */
const KEY = Buffer.alloc(32, "key of a test");

/** How stacks name their secrets provider, in the file of a stack and in its state. */
export const SECRETS_PROVIDER = {
  url: "hashivault://test",
  encryptedkey: Buffer.from("vault:v1:test").toString("base64"),
};

/** The address of the server, of which each process of tests has one. It ends with the process. */
let address: Promise<string> | undefined;

export function startKeyServer(): Promise<string> {
  return (address ??= new Promise((done, failed) => {
    const body = JSON.stringify({ data: { plaintext: KEY.toString("base64") } });
    const server = createServer((_request, response) => response.end(body));
    server.once("error", failed);
    server.listen(0, "127.0.0.1", () => {
      server.unref();
      done(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
    });
  }));
}

/** The plain text of a secret that the engine encrypted by that key: AES-256-GCM, whose tag follows the text. */
function decrypt(ciphertext: string): string {
  const [, nonce = "", encrypted = ""] = ciphertext.split(":");
  const bytes = Buffer.from(encrypted, "base64");
  const decipher = createDecipheriv("aes-256-gcm", KEY, Buffer.from(nonce, "base64"));
  decipher.setAuthTag(bytes.subarray(-16));
  return Buffer.concat([decipher.update(bytes.subarray(0, -16)), decipher.final()]).toString("utf8");
}

/** A state with its secrets in the clear, as `pulumi stack export --show-secrets` prints it. */
export function decryptAll(value: unknown): unknown {
  if (value === null || typeof value !== "object") return value;
  if (Array.isArray(value)) return value.map(decryptAll);
  return Object.fromEntries(
    Object.entries(value).map(([key, member]) =>
      key === "ciphertext" && typeof member === "string"
        ? ["plaintext", decrypt(member)]
        : [key, decryptAll(member)],
    ),
  );
}
