import { DAY_MS, timestampNanos } from "../fields/formats";
import type { Failure } from "../fields/resourceSpec";
import type { Json } from "../fields/values";
import { string } from "../fields/builders";

const parent = { path: true, immutable: true, required: true, access: "subject" } as const;

/** The parent's uid: immutable everywhere, a part of the path. */
export const parentGroup = string({ ...parent, format: "groupUid" });

/** The repository that a resource is a part of: the uid of it. */
export const parentRepo = string({ ...parent, format: "uid", refersTo: "Repo" });

/** The identity provider that a resource is for: the uid of it. */
export const parentProvider = string({ ...parent, format: "uid", refersTo: "IdentityProvider" });

/** One line of at most 512 characters. */
export const oneLine = {
  maxLength: 512,
  pattern: { regex: /^[\S ]*$/u, must: "one line, without tabs" },
};

/** What is shown to people and refers to nothing. */
export const forPeople = { harmless: "text for people" } as const;

/** A name by which nothing is found: whatever refers to the object has its uid. */
export const nameOnly = { harmless: "others refer to the uid, never to the name" } as const;

export const description = string({ ...oneLine, ...forPeople });

/** The API states this form for identities only. It may refuse other names of other kinds too. */
export const identityName = {
  regex: /^[a-z0-9 ._-]{1,}$/,
  must: "lower-case letters, digits, blanks, dots, underscores and dashes only",
};

/** A warning for a name that the API may refuse in the middle of an update. An empty one is missing, which is an error. */
export const adviseOnName = (value: Json | undefined): string[] =>
  typeof value === "string" && value.trim() !== "" && !identityName.regex.test(value)
    ? [`${JSON.stringify(value)} may be refused by the API: use ${identityName.must}`]
    : [];

export const tagName = {
  regex: /^[a-zA-Z0-9_][a-zA-Z0-9._-]{0,127}$/,
  must: "a tag: at most 128 letters, digits, dots, underscores and dashes, not beginning with a dot or dash",
};

/** The name of a bundle. Which ones there are is the server's affair. */
export const bundle = string({
  pattern: {
    regex: /^[a-z0-9][a-z0-9-]*$/,
    must: 'a bundle\'s name in lower case, as in "base" or "ai-gpu"',
  },
});

interface Calendar {
  /** Milliseconds since the epoch. */
  readonly now: number;
  readonly recorded: Json | undefined;
  readonly days?: number;
  /** What to say of a time that is further ahead than these days. */
  readonly must?: string;
}

export const DAY_NANOS = BigInt(DAY_MS) * 1_000_000n;

/** Only a new time is held to the calendar: one that has passed must not block other changes, or a delete. */
export function checkEnd(property: string, end: Json | undefined, calendar: Calendar): Failure[] {
  const { now, recorded, days, must = "" } = calendar;
  const nanos = typeof end === "string" ? timestampNanos(end) : undefined;
  if (nanos === undefined || (typeof recorded === "string" && nanos === timestampNanos(recorded))) return [];
  const ahead = nanos - BigInt(now) * 1_000_000n;
  if (ahead <= 0n) {
    const limit = days === undefined ? "" : `, at most ${days} days ahead`;
    return [
      { property, reason: `must be in the future${limit}, not ${JSON.stringify(end)}`, code: "PP1010" },
    ];
  }
  return days !== undefined && ahead > BigInt(days) * DAY_NANOS
    ? [{ property, reason: must, code: "PP1010" }]
    : [];
}

/** What a response holds of an object beside its uid, or instead of it. */
export const namedObject = {
  /** The uid. */
  uid: string(),
  /** The name; empty where there is none. */
  name: string(),
  /** The description; empty where there is none. */
  description: string(),
};
