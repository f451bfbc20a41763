import { CodedError } from "../errors/codedError";
import { string } from "../fields/builders";
import type { ArgumentsOf } from "../fields/builders";
import { stringOrEmpty } from "../fields/values";
import { Identity } from "../kinds/identity";
import { functionsOf } from "./invoke";

const takes = {
  /** The `iss` claim of its tokens. */
  issuer: string({ required: true }),
  /** The `sub` claim of its tokens. */
  subject: string({ required: true }),
};

/** The person or program behind a token. */
export interface LookupIdentityArgs extends ArgumentsOf<typeof takes> {}

/** What `lookupIdentity` returns. */
export interface LookupIdentityResult {
  /** The uid. */
  uid: string;
}

const person = functionsOf<LookupIdentityArgs, LookupIdentityResult>({
  call: "lookupIdentity",
  takes,
  run: async (client, { issuer, subject }) => {
    const response = await client.get(`${Identity.spec.collection}:lookupIdentity`, { issuer, subject });
    const uid = stringOrEmpty(response["uid"]);
    if (uid === "") throw new CodedError("PP2108", `the response has no uid for ${subject} of ${issuer}`);
    return { uid };
  },
});

/** The uid that the holder of an issuer's subject has, or will have: the same before the first sign-in as after it. */
export const lookupIdentity = person.call;

/** Returns what `lookupIdentity` returns, as an output. Its arguments can be outputs of other resources. */
export const lookupIdentityOutput = person.output;
