import { stringOrEmpty } from "../fields/values";
import { functionsOf } from "./invoke";

/** What `ping` returns. */
export interface PingResult {
  /** The response text, without a meaning. */
  response: string;
}

const signOfLife = functionsOf<object, PingResult>({
  call: "ping",
  takes: {},
  run: async (client) => ({
    response: stringOrEmpty((await client.getAllowingEmpty("/ping/v2/ping"))["response"]),
  }),
});

/** Asks the API for a sign of life. Throws where the address or the network is wrong. */
export const ping = signOfLife.call;

/** Returns what `ping` returns, as an output. */
export const pingOutput = signOfLife.output;
