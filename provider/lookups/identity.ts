import { CodedError } from "../errors/codedError";
import { Identity } from "../kinds/identity";
import type { GetIdentityResult } from "../kinds/identity";
import { decode } from "../fields/responseDecoders";
import { validate } from "./validators";
import { invoke, invokeWithOptionalArgs, invokeWithOptionalArgsOutput, invokeOutput } from "./invoke";
import type { Lookup } from "./invoke";
import { defineLookups } from "./lookup";
import type { ByNameArgs, NamedListArgs } from "./lookup";

/** Selects one identity: by `uid`, or by `name`. */
export interface GetIdentityArgs extends ByNameArgs {}

/** Which identities to list. All by default. */
export interface GetIdentitiesArgs extends NamedListArgs {
  /** `RELATIONSHIP_TYPE_` and one of `CLAIM_MATCH`, `STATIC`, `AWS_IDENTITY`, `SERVICE_PRINCIPAL`. */
  relationshipType?: string;
}

/** The person or program behind a token. */
export interface LookupIdentityArgs {
  /** The `iss` claim of its tokens. */
  issuer: string;
  /** The `sub` claim of its tokens. */
  subject: string;
}

/** What `lookupIdentity` returns. */
export interface LookupIdentityResult {
  /** The uid. */
  uid: string;
}

const { one, list } = defineLookups<GetIdentityArgs, GetIdentitiesArgs, GetIdentityResult>(Identity, {
  calls: ["getIdentity", "getIdentities"],
  filters: {
    relationshipType: validate.sentAs(
      "relationshipType",
      validate.enumName("RELATIONSHIP_TYPE_", "CLAIM_MATCH STATIC AWS_IDENTITY SERVICE_PRINCIPAL"),
    ),
  },
});

/** Finds exactly one identity. Throws where there is none, and where there are several, with their uids and parents. */
export const getIdentity = invoke(one);

/** Returns what `getIdentity` returns, as an output. Its arguments can be outputs of other resources. */
export const getIdentityOutput = invokeOutput(one);

/** Lists the identities that match and that the token may see. */
export const getIdentities = invokeWithOptionalArgs(list);

/** Returns what `getIdentities` returns, as an output. Its arguments can be outputs of other resources. */
export const getIdentitiesOutput = invokeWithOptionalArgsOutput(list);

const person: Lookup<LookupIdentityArgs, LookupIdentityResult> = {
  call: "lookupIdentity",
  validators: { issuer: validate.required(validate.text), subject: validate.required(validate.text) },
  run: async (client, { issuer, subject }) => {
    const response = await client.get(`${Identity.spec.collection}:lookupIdentity`, { issuer, subject });
    const uid = decode.string(response["uid"]);
    if (uid === "") throw new CodedError("PP2108", `the response has no uid for ${subject} of ${issuer}`);
    return { uid };
  },
};

/** The uid that the holder of an issuer's subject has, or will have: the same before the first sign-in as after it. */
export const lookupIdentity = invoke(person);

/** Returns what `lookupIdentity` returns, as an output. Its arguments can be outputs of other resources. */
export const lookupIdentityOutput = invokeOutput(person);
