import * as pulumi from "@pulumi/pulumi";
import { connect } from "./connection";
import { lookup, text } from "./lookup";

/** The person or program behind a token. */
export interface LookupIdentityArgs {
  /** The `iss` claim of its tokens. */
  issuer: string;
  /** The `sub` claim of its tokens. */
  subject: string;
}

export interface LookupIdentityResult {
  uid: string;
}

/**
 * The uid that the holder of an issuer's subject has, or will have: the answer is the same before the
 * first sign-in (contract, section 6).
 */
export function lookupIdentity(args: LookupIdentityArgs): Promise<LookupIdentityResult> {
  return lookup("lookupIdentity", async () => {
    const given: Record<string, unknown> = { ...args };
    for (const key of ["issuer", "subject"]) {
      if (typeof given[key] !== "string" || given[key] === "") {
        throw new Error(`${key} must be a text that is not empty`);
      }
    }
    const { issuer, subject } = args;
    const answer = await connect().get("/iam/v2/identities:lookupIdentity", { issuer, subject });
    const uid = text(answer["uid"]);
    if (uid === "") throw new Error(`the answer holds no uid for ${subject} of ${issuer}`);
    return { uid };
  });
}

/** The same with inputs, for arguments that are known only when other resources are. */
export function lookupIdentityOutput(args: {
  [K in keyof LookupIdentityArgs]: pulumi.Input<LookupIdentityArgs[K]>;
}): pulumi.Output<LookupIdentityResult> {
  return pulumi.output(args).apply((resolved) => lookupIdentity(resolved));
}
