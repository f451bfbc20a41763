import { decode } from "../fields/responseDecoders";
import { invokeWithoutArgs, invokeWithoutArgsOutput } from "./invoke";
import type { Lookup } from "./invoke";

/** What `ping` returns. */
export interface PingResult {
  /** The response text, without a meaning. */
  response: string;
}

const signOfLife: Lookup<object, PingResult> = {
  call: "ping",
  validators: {},
  run: async (client) => ({
    response: decode.string((await client.getAllowingEmpty("/ping/v2/ping"))["response"]),
  }),
};

/** Asks the API for a sign of life. Throws where the address or the network is wrong. */
export const ping = invokeWithoutArgs(signOfLife);

/** Returns what `ping` returns, as an output. */
export const pingOutput = invokeWithoutArgsOutput(signOfLife);
