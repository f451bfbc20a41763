/*
 * What a field means to access. Each description names one meaning a field. Rules of trust, of invites, of sign-in, of events and
 * of images find a field by it, whatever the field is called.
 */

/**
 * What a change of a field does to access:
 * - `subject`: which principal or resource is meant, exactly or (with the format `regex`) by a pattern;
 * - `permission`: what is set gives access: more is wider;
 * - `restriction`: what is set restricts access: more is narrower;
 * - `expiry`: when access ends, or how long it lasts: later is wider;
 * - `role`: the uid of a role, compared by its capabilities;
 * - `keys`: a JSON Web Key Set: each key lets one more signer in;
 * - `other`: something that values cannot be ordered by: what a change does is unknown.
 */
export type AccessEffect = "subject" | "permission" | "restriction" | "expiry" | "role" | "keys" | "other";

interface Meaning {
  readonly effect: AccessEffect;
  /**
   * What another value does to existing grants: another `principal` gets them, or these `grants` allow something else, for
   * longer, or to others of the same principal.
   */
  readonly decides?: "principal" | "grants";
}

const meanings = {
  subject: { effect: "subject" },
  permission: { effect: "permission" },
  restriction: { effect: "restriction" },
  expiry: { effect: "expiry" },
  role: { effect: "role" },
  other: { effect: "other" },
  /** What a role allows. */
  capabilities: { effect: "permission", decides: "grants" },

  /*
   * Who can assume the resource by a token or a key. Fields of one object must all match, and a text with the format `regex` is the
   * pattern beside the exact value of the same meaning.
   */
  "trust.issuer": { effect: "subject", decides: "principal" },
  "trust.subject": { effect: "subject", decides: "principal" },
  "trust.audience": { effect: "subject", decides: "principal" },
  /** Further claims by their names: exact values, or patterns where the values have the format `regex`. */
  "trust.claims": { effect: "restriction", decides: "principal" },
  /** The keys that sign, in place of those that the issuer publishes. */
  "trust.keys": { effect: "keys", decides: "principal" },
  /** When these keys end. */
  "trust.keysEnd": { effect: "expiry", decides: "grants" },
  /** An account of AWS, a principal there by its ARN, and by its user id. */
  "trust.account": { effect: "subject", decides: "principal" },
  "trust.arn": { effect: "subject", decides: "principal" },
  "trust.userId": { effect: "subject", decides: "principal" },
  /** One of the platform's own services. */
  "trust.service": { effect: "subject", decides: "principal" },

  /* Who signs in by the resource. */
  "signIn.issuer": { effect: "subject", decides: "principal" },
  "signIn.client": { effect: "subject", decides: "principal" },
  /** What of a token says which person it is. */
  "signIn.person": { effect: "subject", decides: "principal" },
  /** What of a token says in which groups a person is. */
  "signIn.groups": { effect: "permission", decides: "principal" },
  "signIn.scopes": { effect: "permission", decides: "grants" },
  "signIn.proof": { effect: "restriction", decides: "grants" },
  /** Whether the directory writes who can sign in. */
  "signIn.provisioning": { effect: "permission", decides: "grants" },
  /** When the token of a directory ends, and whether it never does. */
  "signIn.tokenEnd": { effect: "expiry", decides: "grants" },
  "signIn.tokenEndless": { effect: "permission", decides: "grants" },

  /* Whoever redeems the resource joins: from which address, how often and for how long. */
  "invite.address": { effect: "restriction", decides: "grants" },
  "invite.once": { effect: "restriction", decides: "grants" },
  "invite.lifetime": { effect: "expiry" },

  /* Accounts elsewhere that belong to a group, and what acts for the group by them. */
  "account.id": { effect: "subject", decides: "grants" },
  "account.clients": { effect: "permission", decides: "grants" },

  /** The address that events are sent to. */
  "events.receiver": { effect: "subject" },

  /* What decides about images, for whoever pulls them. */
  /** The image that a name stands for. */
  "images.image": { effect: "other" },
  /** Where images are copied from. */
  "images.source": { effect: "subject" },
  /** Whose certificates every image trusts. */
  "images.certificates": { effect: "permission" },
  "images.certificateProviders": { effect: "permission" },
  /** Which packages every image takes. */
  "images.packageKeys": { effect: "permission" },
  "images.packageRepositories": { effect: "permission" },
  /** The user that every image runs as. */
  "images.user": { effect: "other" },
  /** Packages of every image, from repositories and by keys that it trusts. */
  "images.packages": { effect: "other" },
  /** What else is put into every image, or by which other names others pull it. */
  "images.contents": { effect: "other" },
} as const satisfies Readonly<Record<string, Meaning>>;

export type AccessMeaning = keyof typeof meanings;

export const accessMeanings: Readonly<Record<AccessMeaning, Meaning>> = meanings;

/** What a change of a field does to access, where its description says what it means. */
export function ownEffect({ access }: { readonly access?: AccessMeaning }): AccessEffect | undefined {
  return access && accessMeanings[access].effect;
}
