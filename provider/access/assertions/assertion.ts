import type { Glob } from "../trust/glob";

/**
 * What a policy file asserts. As in `suppressions/policyDocument.ts`, the schema of the file is made of these types and their tags.
 */

/** Who an assertion is about. A principal must meet all that is given; of a list, one member. */
export interface SubjectConditions {
  /**
   * Kinds of holders.
   * @minItems 1
   * @errorMessage must be one of identity, invite, identityProvider, externalGroup, service, or a list of them
   */
  readonly type?: readonly ("identity" | "invite" | "identityProvider" | "externalGroup" | "service")[];
  /**
   * Uids of holders.
   * @minItems 1
   * @errorMessage must be a uid or a list of them
   */
  readonly uid?: readonly Glob[];
  /**
   * Names of identities and identity providers. What a change creates or renames does not get a name by it.
   * @minItems 1
   * @errorMessage must be a name or a list of them, as in [break-glass]
   */
  readonly name?: readonly Glob[];
  /**
   * Issuers whose tokens the holder trusts, or by which people sign in.
   * @minItems 1
   * @errorMessage must be an issuer or a list of them, as in ["https://token.actions.githubusercontent.com"]
   */
  readonly issuer?: readonly Glob[];
  /**
   * Subjects that the holder trusts. A pattern is inside only if each subject that it accepts is.
   * @minItems 1
   * @errorMessage must be a subject or a list of them, as in ["repo:acme/*"]
   */
  readonly subject?: readonly Glob[];
  /**
   * Audiences that the holder's tokens must name.
   * @minItems 1
   * @errorMessage must be an audience or a list of them
   */
  readonly audience?: readonly Glob[];
  /**
   * Further claims that the holder's tokens must have, each with the values that count.
   * @errorMessage must be claims, each with a value or a list of them, as in { repository_owner: [acme] }
   */
  readonly claims?: Readonly<Record<string, readonly Glob[]>>;
  /**
   * Whether more than one outsider can be the holder: a pattern, an invite without an address.
   * @errorMessage must be true or false
   */
  readonly matchesMany?: boolean;
}

/** Who an assertion is about: whoever meets the conditions, but for whom one of `not` describes. */
export interface SubjectSelector extends SubjectConditions {
  /**
   * Whom the assertion is not about: each entry describes some.
   * @minItems 1
   * @errorMessage must be a list of conditions, as in [{ uid: [...] }]
   */
  readonly not?: readonly SubjectConditions[];
}

/** What every assertion has. */
interface AssertionText {
  /**
   * What is asserted, in a few words: the findings begin with it.
   * @maxLength 200
   * @pattern [\p{L}\p{N}]
   * @errorMessage must say in a few words what is asserted
   */
  readonly name: string;
  /**
   * Why, for whoever reads the finding.
   * @maxLength 1000
   * @pattern [\p{L}\p{N}]
   * @errorMessage must say why
   */
  readonly reason?: string;
  /**
   * The severity of its findings; high if not given.
   * @errorMessage must be critical, high, medium or low
   */
  readonly severity?: "critical" | "high" | "medium" | "low";
  /**
   * Groups by path, as in "acme / production", or by uid. What lies below them is meant too.
   * @minItems 1
   * @errorMessage must be a group or a list of them, by path or uid, as in ["acme / production"]
   */
  readonly on: readonly Glob[];
  /** Whom it is about; everybody if not given. */
  readonly who?: SubjectSelector;
}

/** Which access an assertion is about. One of the two is needed. */
interface AccessSelector {
  /**
   * Capabilities, with wildcards, as in CAP_MANIFEST_*. Of forbid: any of them. Of require: all of them.
   * @minItems 1
   * @errorMessage must be a capability or a list of them, as in [CAP_MANIFEST_*]
   */
  readonly can?: readonly Glob[];
  /**
   * A role by name or uid: whoever may do all that it allows, by whatever role.
   * @maxLength 200
   * @pattern [\p{L}\p{N}]
   * @errorMessage must be the name or the uid of a role, as in owner
   */
  readonly role?: string;
}

/** Access that nobody may have: rule P1. */
export interface ForbiddenAccess extends AssertionText, AccessSelector {}

/** Access that some must have: rule P2. It is counted at each group of `on` itself, with what grants above it give. */
export interface RequiredAccess extends AssertionText, AccessSelector {
  /**
   * The least number of holders.
   * @asType integer
   * @minimum 0
   * @maximum 10000
   * @errorMessage must be a whole number
   */
  readonly atLeast?: number;
  /**
   * The greatest number of holders.
   * @asType integer
   * @minimum 0
   * @maximum 10000
   * @errorMessage must be a whole number
   */
  readonly atMost?: number;
}

/** Duties of which nobody may have one of each: rule P3. */
export interface SeparatedDuties extends AssertionText {
  /**
   * Two duties or more, each a list of capabilities with wildcards.
   * @minItems 2
   * @errorMessage must be a list of two duties or more, each with its capabilities, as in [[CAP_MANIFEST_*], [CAP_IAM_ROLE_BINDINGS_CREATE]]
   */
  readonly duties: readonly (readonly Glob[])[];
}

/** An assertion, with the place where it stands: `access-policy.yaml:12`. */
export type Written<T> = T & { readonly place: string };

/** What a policy file asserts. */
export interface Assertions {
  readonly forbid: readonly Written<ForbiddenAccess>[];
  readonly require: readonly Written<RequiredAccess>[];
  readonly separate: readonly Written<SeparatedDuties>[];
}
