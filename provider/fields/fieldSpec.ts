import type { Format } from "./formats";
import type { Json, Props } from "./values";

/*
 * What a field is: its type, and what is said of it. Checks, diffs, the JSON form and the field mask are made from it.
 */

/** A pattern that a text must match, and how to say so: "must be …". */
export interface Pattern {
  readonly regex: RegExp;
  readonly must: string;
}

/** Computes a member of a result; `value` is the member of that name in the response, and `body` contains it. */
export type Decoder<T> = (value: unknown, body: Readonly<Record<string, unknown>>) => T;

/** What a lookup returns and no argument sets, by its name in the result: described like a field, or computed. */
export type Reads = Readonly<Record<string, FieldSpec | Decoder<unknown>>>;

interface Behaviour {
  /**
   * What it means to access. Without one a change of it has the effect of the field around it, else `other`, unless it says why it
   * is `harmless`.
   */
  readonly access?: AccessMeaning;
  /** Why no change of it gives or takes access, in a few words; then neither do the fields in it. */
  readonly harmless?: string;
  /** What holds where it is not set, in a few words: taking the value away is then not proven to take access. */
  readonly unsetMeans?: string;
  /** Must be given on create (AIP-203). */
  readonly required?: boolean;
  /** A change replaces the resource (AIP-203). */
  readonly immutable?: boolean;
  /** Sent, never returned: kept from state on read (AIP-203). */
  readonly inputOnly?: boolean;
  /** Of a duration that is never returned: the output with the time at which it ends, counted from the creation. */
  readonly returnedAs?: string;
  /** See SecretSpec. */
  readonly secret?: undefined;
  /** The server rewrites it: its form is remembered beside the program's. */
  readonly normalized?: boolean;
  /** A part of the address (the parent), not of the body. */
  readonly path?: boolean;
  /** Not in the body: written, or only read, by `Operations.afterWrite`. */
  readonly subresource?: boolean;
  /**
   * Informational: a difference at the server is not drift, nor an error after a write. A change in the program is sent like
   * any other.
   */
  readonly ignoreDrift?: boolean;
  /** A lookup leaves it out where it is not set, instead of returning something empty. */
  readonly leftOut?: true;
  /** An output that is returned only at creation: kept from state on read. */
  readonly createOnly?: boolean;
  /** Its name on the wire, where that is not the property's. */
  readonly wire?: string;
  /**
   * Whether it is drift also where the program did not set it. So is what `access` gives a meaning, unless the server fills
   * it in or never returns it.
   */
  readonly security?: boolean;
  /** What setting it needs besides the capabilities of the kind. */
  readonly capabilities?: readonly string[];
  /**
   * The server fills it when a program does not set it, so that is no drift. A function computes the value from the
   * siblings.
   */
  readonly serverFilled?: true | ((siblings: Props) => Json | undefined);
}

export interface StringSpec extends Behaviour {
  readonly type: "string";
  /**
   * What the resource is where it is left out, in a few words: nobody means that by an argument that is there and undefined.
   */
  readonly leftOutMeans?: string;
  /** Of a uid: the member of a response that contains the referenced object, perhaps instead of the uid. */
  readonly hydratedIn?: string;
  readonly format?: Format;
  /**
   * Of a uid: the kind of the resource that it refers to; absent if it may refer to several kinds. A `groupUid` refers to a
   * Group and a field with the meaning `role` to a Role without it.
   */
  readonly refersTo?: string;
  readonly pattern?: Pattern;
  readonly maxLength?: number;
}

/**
 * A text that is held encrypted in state and never printed. It stands at the top of a resource or in objects, never in
 * a list or a map: whatever marks and masks secrets knows only names of properties.
 */
export interface SecretSpec extends Omit<StringSpec, "secret"> {
  readonly secret: true;
}

/** An enumeration of the API: full names with one prefix; the list of names grows at the server. */
export interface EnumSpec extends Behaviour {
  readonly type: "enum";
  readonly prefix: string;
  /** Known names without prefix. A server clears a field for a name that it does not know, so a program may write no other. */
  readonly known: readonly string[];
  /** The server's list grows often: a program may write a name that is not known, with a warning. */
  readonly open?: true;
  /** The name, without prefix, that the server takes where none is given: the two mean the same. */
  readonly default?: string;
  /**
   * The known names stand from the least to the most: of a field with the effect `permission` the later ones give more,
   * of a `restriction` they restrict more.
   */
  readonly ordered?: true;
}

export interface BooleanSpec extends Behaviour {
  readonly type: "boolean";
}

/** A whole number in the range of int32. */
export interface IntegerSpec extends Behaviour {
  readonly type: "integer";
}

export interface ListSpec extends Behaviour {
  readonly type: "list";
  readonly items: PublicSpec;
  /** A set: order and repetition mean nothing. Each list says true or false. */
  readonly unordered?: boolean;
  readonly maxItems?: number;
}

export interface MapSpec extends Behaviour {
  readonly type: "map";
  readonly values: PublicSpec;
  /** Whether an empty map is a value although the field is required. */
  readonly allowEmpty?: boolean;
  readonly keys?: Pattern;
  /** Keys that a program must not use. */
  readonly reservedKeys?: Pattern;
}

export interface ObjectSpec extends Behaviour {
  readonly type: "object";
  readonly fields: Readonly<Record<string, PublicSpec>>;
  readonly oneOfs?: readonly OneOf[];
  /** What a lookup returns of it besides its fields. */
  readonly reads?: Reads;
}

/** An object that may have a secret among its members. */
export interface SecretObjectSpec extends Omit<ObjectSpec, "fields"> {
  readonly fields: Readonly<Record<string, FieldSpec>>;
}

/** A field that is no secret and contains none. */
export type PublicSpec = StringSpec | EnumSpec | BooleanSpec | IntegerSpec | ListSpec | MapSpec | ObjectSpec;

export type FieldSpec = PublicSpec | SecretSpec | SecretObjectSpec;

/** Members of which at most one is set. */
export interface OneOf {
  readonly members: readonly string[];
  /** Exactly one must be set. */
  readonly required: boolean;
  /** Going from one member to another replaces the resource. */
  readonly immutable?: boolean;
}

/** The kind of the resource that a field names by its uid; undefined if it names none, or one of several kinds. */
export function referredKindOf(field: FieldSpec): string | undefined {
  if (field.type !== "string") return undefined;
  if (field.format === "groupUid") return "Group";
  return field.access === "role" ? "Role" : field.refersTo;
}

/** The fields directly inside a field: the items of a list, the values of a map, the members of an object. */
export function innerFields(field: FieldSpec): readonly FieldSpec[] {
  if (field.type === "list") return [field.items];
  if (field.type === "map") return [field.values];
  return field.type === "object" ? Object.values(field.fields) : [];
}

/** Whether a field, or a part of it, is a secret. */
export function containsSecret(field: FieldSpec): boolean {
  return (
    field.secret === true || (field.type === "object" && Object.values(field.fields).some(containsSecret))
  );
}

/** Whether a field is drift also where the program did not set it: it decides who may do what. */
export function isSecurityRelevant(
  field: Pick<FieldSpec, "security" | "access" | "path" | "inputOnly" | "serverFilled">,
): boolean {
  const { security, access, path, inputOnly, serverFilled } = field;
  return security ?? (access !== undefined && !path && !inputOnly && !serverFilled);
}

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
  /** Users of every image, of which one with the number 0 is root by another name. */
  "images.users": { effect: "other" },
  /** Packages of every image, from repositories and by keys that it trusts. */
  "images.packages": { effect: "other" },
  /** Variables of every image: some choose what else runs in it, or whom it trusts. */
  "images.variables": { effect: "other" },
  /** What else is put into every image, or by which other names others pull it. */
  "images.contents": { effect: "other" },
} as const satisfies Readonly<Record<string, Meaning>>;

export type AccessMeaning = keyof typeof meanings;

export const accessMeanings: Readonly<Record<AccessMeaning, Meaning>> = meanings;

/** What a resource is where an argument is left out that may be forgotten. */
export const leftOutMeans = (field: FieldSpec): string | undefined =>
  field.type === "string" ? field.leftOutMeans : undefined;

/** What a change of a field does to access, where its description says what it means. */
export function ownEffect({ access }: { readonly access?: AccessMeaning }): AccessEffect | undefined {
  return access && accessMeanings[access].effect;
}
