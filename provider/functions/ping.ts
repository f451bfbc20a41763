import type * as pulumi from "@pulumi/pulumi";
import * as read from "./answers";
import { ask, askLater } from "./lookup";
import type { Lookup } from "./lookup";

/** What `ping` answers. */
export interface PingResult {
  /** What the API says; it means nothing. */
  response: string;
}

const signOfLife: Lookup<object, PingResult> = {
  call: "ping",
  rules: {},
  run: async (client) => ({
    response: read.text((await client.getPerhapsEmpty("/ping/v2/ping"))["response"]),
  }),
};

/** Asks the API for a sign of life (contract, section 7). Throws where the address or the network is wrong. */
export function ping(): Promise<PingResult> {
  return ask(signOfLife, {});
}

/** The same as an output. */
export function pingOutput(): pulumi.Output<PingResult> {
  return askLater(signOfLife, {});
}
