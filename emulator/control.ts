import type { Emulator } from "./index";
import type { Fault, Faults } from "./faults";
import type { GatewayResponse } from "./gateway/gateway";
import { splitTarget } from "./gateway/request";
import { jsonResponse } from "./gateway/response";
import { maskSecrets } from "./requestLog";
import type { EmulatorSettings } from "./settings";

export const controlPrefix = "/_emulator/";

type Handler = (body: unknown, emulator: Emulator, faults: Faults) => unknown;

const handlers: Readonly<Record<string, Handler>> = {
  "GET requests": (_, emulator) => ({
    requests: emulator.requests.map(maskSecrets),
    maxInFlight: emulator.maxInFlight,
  }),
  "DELETE requests": (_, emulator) => emulator.clearRequests(),
  "GET events": (_, emulator) => ({ events: emulator.events }),
  "DELETE events": (_, emulator) => emulator.clearEvents(),
  "GET faults": (_, __, faults) => ({ faults: faults.list() }),
  "POST faults": (body, emulator) => ({ id: emulator.addFault(body as Fault).id }),
  "DELETE faults": (_, emulator) => emulator.clearFaults(),
  "GET state": (_, emulator) => emulator.state(),
  "POST reset": (_, emulator) => emulator.reset(),
  "POST settings": (body, emulator) => emulator.settings(body as Partial<EmulatorSettings>),
  "POST clock": (body, emulator) => {
    const { advanceMs } = (body ?? {}) as { advanceMs?: unknown };
    if (typeof advanceMs !== "number" || !Number.isFinite(advanceMs)) {
      throw new Error("advanceMs must be a number of milliseconds");
    }
    emulator.advanceClock(advanceMs);
    return undefined;
  },
};

/** Handles a request that controls the emulator; an invalid one gets 400 or 404 with `{error}`. */
export function handleControlRequest(
  method: string,
  target: string,
  body: Buffer,
  emulator: Emulator,
  faults: Faults,
): GatewayResponse {
  const [path] = splitTarget(target);
  const name = path.slice(controlPrefix.length);
  const faultId = /^faults\/([0-9]+)$/.exec(name);
  if (method === "DELETE" && faultId) {
    return faults.remove(Number(faultId[1]))
      ? jsonResponse(200, {})
      : jsonResponse(404, { error: "no such fault" });
  }
  const handler = handlers[`${method} ${name}`];
  if (!handler) return jsonResponse(404, { error: `no such control endpoint: ${method} ${path}` });
  try {
    const parsed: unknown = body.length === 0 ? undefined : JSON.parse(body.toString("utf8"));
    return jsonResponse(200, handler(parsed, emulator, faults) ?? {});
  } catch (error) {
    return jsonResponse(400, { error: error instanceof Error ? error.message : String(error) });
  }
}
