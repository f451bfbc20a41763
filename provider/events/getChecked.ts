import { CodedError } from "../errorCodes/codedError";
import { Agent as HttpAgent, get as httpGet } from "node:http";
import type { IncomingMessage } from "node:http";
import { Agent as HttpsAgent, get as httpsGet } from "node:https";
import { buffer } from "node:stream/consumers";

/** No set of keys is near this. */
const MAX_BYTES = 1024 * 1024;

/** An agent's own option, which neither NODE_TLS_REJECT_UNAUTHORIZED nor the global agent overrides. */
const secured = new HttpsAgent({ rejectUnauthorized: true });
const plain = new HttpAgent();

async function read(message: IncomingMessage): Promise<Buffer> {
  let size = 0;
  message.on("data", ({ length }: Buffer) => {
    size += length;
    if (size > MAX_BYTES)
      message.destroy(new CodedError("PP8003", `its response is larger than ${MAX_BYTES} bytes`));
  });
  return await buffer(message);
}

/**
 * A GET as by `fetch`, except that the certificate is always checked, and that a redirect is a response like another.
 *
 * @throws Error when there is no response.
 */
export async function getChecked(
  address: string,
  { headers, signal }: { readonly headers?: Headers; readonly signal: AbortSignal },
): Promise<Response> {
  const message = await new Promise<IncomingMessage>((resolve, reject) => {
    const options = { headers: Object.fromEntries(headers ?? []), signal };
    const request = address.startsWith("https:")
      ? httpsGet(address, { ...options, agent: secured }, resolve)
      : httpGet(address, { ...options, agent: plain }, resolve);
    request.once("error", (error) => reject(signal.aborted ? (signal.reason as Error) : error));
  });
  const body = await read(message);
  const status = message.statusCode ?? 0;
  // A response without a body refuses even an empty one.
  return new Response(body.length === 0 ? null : new Uint8Array(body), { status });
}
