import { connect } from "./connection";
import { lookup, text } from "./lookup";

export interface PingResult {
  response: string;
}

/** Asks the API for a sign of life (contract, section 7). Throws where the address or the network is wrong. */
export function ping(): Promise<PingResult> {
  return lookup("ping", async () => {
    const answer = await connect().get("/ping/v2/ping");
    return { response: text(answer["response"]) };
  });
}
