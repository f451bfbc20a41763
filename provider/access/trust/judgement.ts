import { RE2JS } from "re2js";
import { LONGEST_PATTERN } from "../../fields/formats";
import { isMailHost } from "./addresses";
import { answerOf } from "./budget";
import { INTRUDER } from "./data/pins";
import { anchored } from "./patternComparer";
import type { PatternComparer, SegmentSpec } from "./patternComparer";

/** Who has the texts that a trust accepts. */
export interface TrustedOwner {
  /** "organisation of GitHub Actions". */
  readonly what: string;
  readonly name: string;
}

/** Whether an outsider can have a string that a pattern matches. Only what is proven to be pinned is `pinned`. */
export type PatternJudgement =
  /** An outsider can have `example`. */
  | { readonly kind: "open"; readonly example: string; readonly reason: string }
  /** Nothing proves that only some owners have the strings; `example` is one of them. */
  | { readonly kind: "unproven"; readonly example: string | undefined; readonly reason: string }
  /** It matches strings of these owners only. */
  | { readonly kind: "pinned"; readonly owners: readonly TrustedOwner[] }
  /** It could not be computed; rules treat it as open. */
  | { readonly kind: "unjudged"; readonly reason: string };

/** A form of texts that is proven to pin: whoever has such a text is the owner that it names. */
export interface PinningForm {
  /** What the text names: "organisation of GitHub Actions". */
  readonly what: string;
  /** All texts of the form. */
  readonly whole: string;
  /** Parts that name the owner: one of them must be written out. */
  readonly owners: readonly SegmentSpec[];
  /** The owner, where all texts of the form have the same one. */
  readonly owner?: string;
  /** Whether the owner is a host of mail addresses, so that one where everybody can have an address pins nobody. */
  readonly isMail?: true;
  /** What may follow a name, in a form that is easy to read. */
  readonly ending?: string;
}

/** What is known of the texts that a pattern is judged by. */
interface TextForms {
  /** What a text is, for messages: "subject of GitHub Actions". */
  readonly what: string;
  readonly pinning: readonly PinningForm[];
  /** Texts of strangers, the best first: those too that are of no pinning form. */
  readonly strangers: readonly string[];
}

/** The most names that a pattern may leave open: ten are a digit that varies. */
export const MOST_OWNERS = 9;

/** The most owners that a pattern may write out. */
export const MOST_WRITTEN = 30;

/** The pattern of all texts that have a segment. */
export const segmentText = ({ before, name, after }: SegmentSpec): string =>
  `(?:${before})(?:${name})(?:${after})`;

/** The judgement of a pattern that cannot be computed. */
type Unjudged = Extract<PatternJudgement, { kind: "unjudged" }>;

const TOO_LARGE: Unjudged = {
  kind: "unjudged",
  reason: `it is too large to be judged, by itself or with the other patterns of this review: write it in at most ${LONGEST_PATTERN} characters, with fewer and smaller repetitions`,
};

/** Why a pattern cannot be judged; undefined for one that can. */
export function findPatternProblem(comparer: PatternComparer, pattern: string): Unjudged | undefined {
  const read = pattern.length > LONGEST_PATTERN ? "tooLarge" : comparer.languageOf(pattern);
  if (read === "invalid")
    return { kind: "unjudged", reason: "it is not a valid RE2 pattern, or has \\b, \\B or ^ or $ of lines" };
  return read === "tooLarge" ? TOO_LARGE : undefined;
}

/** Judges a pattern, if it can be read, within the steps of one question. */
export function judgeWithin(
  comparer: PatternComparer,
  pattern: string,
  judge: () => PatternJudgement,
): PatternJudgement {
  const judged = findPatternProblem(comparer, pattern) ?? comparer.budget.ask(judge);
  return judged === "tooLarge" ? TOO_LARGE : judged;
}

/** The owners that a pattern names in a form; a judgement if it does not write them out. */
function ownersIn(
  comparer: PatternComparer,
  pattern: string,
  form: PinningForm,
  strangers: readonly string[],
): readonly string[] | PatternJudgement {
  const { owner } = form;
  if (owner !== undefined)
    return answerOf(comparer.intersects(pattern, anchored(form.whole))) === "yes" ? [owner] : [];
  let open: PatternJudgement | undefined;
  for (const segment of form.owners) {
    const names = answerOf(comparer.names(pattern, segment, MOST_WRITTEN));
    if (names.unwritten === undefined) return withNumber(comparer, pattern, form, segment, names.written);
    open ??= judgeVariousOwners(comparer, pattern, form, segment, names.unwritten, strangers);
  }
  return open ?? [];
}

/** A name that the pattern also gives the number of: whoever takes the name later has another number. */
function withNumber(
  comparer: PatternComparer,
  pattern: string,
  { owners }: PinningForm,
  segment: SegmentSpec,
  names: readonly string[],
): readonly string[] {
  const [, number] = owners;
  const [name, ...others] = names;
  if (number === undefined || number === segment || name === undefined || others.length > 0) return names;
  const { written, unwritten } = answerOf(comparer.names(pattern, number, 1));
  const [only] = written;
  return only === undefined || unwritten !== undefined ? names : [`${name}@${only}`];
}

/** Names of strangers, the easiest to read first. */
const STRANGERS = [INTRUDER, `(?:[a-z0-9]+-)+${INTRUDER}`, `[a-z0-9-]*(?:evil|${INTRUDER})[a-z0-9-]*`];

/** Judges a pattern that accepts owners which it does not write out. */
function judgeVariousOwners(
  comparer: PatternComparer,
  pattern: string,
  { what, whole, ending }: PinningForm,
  segment: SegmentSpec,
  name: string,
  strangers: readonly string[],
): PatternJudgement {
  const own = `${segment.ignoresCase === true ? "(?i)" : ""}${RE2JS.quote(name)}`;
  const ends = [...(ending === undefined ? [] : [ending]), segment.after];
  const texts = [...STRANGERS, own].flatMap((each) =>
    ends.map((after) => segmentText({ ...segment, name: each, after })),
  );
  const example = firstExample(comparer, pattern, [...strangers, ...texts, whole], anchored(whole));
  return openBy(comparer, pattern, example, `the ${what} is not written out`);
}

/** Judges a pattern as open to outsiders, who can have the example; without one nothing is proven. */
function openBy(
  comparer: PatternComparer,
  pattern: string,
  example: string | undefined,
  why: string,
): PatternJudgement {
  return example === undefined
    ? { kind: "unproven", example, reason: unprovenReason(why) }
    : { kind: "open", example, reason: comparer.reasonFor(pattern, example) };
}

/** Ends a sentence about what a pattern accepts. */
export const unprovenReason = (why: string): string => `not proven to pin one owner: ${why}`;

/** A shortest text of the first of some forms that a pattern, and others, match. */
export function firstExample(
  comparer: PatternComparer,
  pattern: string,
  forms: readonly string[],
  ...others: readonly string[]
): string | undefined {
  for (const text of forms) {
    const found = answerOf(comparer.exampleOf(pattern, ...others, anchored(text)));
    if (found.text !== undefined) return found.text;
  }
  return undefined;
}

/**
 * Judges a pattern as pinned if each text that it matches is of a form that is proven to pin, and each owner is written
 * out. Everything else is open, with a text of an outsider where one is found.
 */
export function judgeForms(
  comparer: PatternComparer,
  pattern: string,
  { what, pinning, strangers }: TextForms,
  describeOutside: (text: string) => string = () => `it is of no form in which a ${what} names its owner`,
): PatternJudgement {
  const owners = new Map<string, TrustedOwner>();
  for (const form of pinning) {
    const found = ownersIn(comparer, pattern, form, strangers);
    if ("kind" in found) return found;
    const shared = form.isMail === true ? found.find((host) => isMailHost(host)) : undefined;
    if (shared !== undefined) return judgeMailHost(comparer, pattern, form, shared);
    for (const name of found) owners.set(JSON.stringify([form.what, name]), { what: form.what, name });
  }
  const forms = anchored(pinning.map(({ whole }) => whole).join("|"));
  const outside = answerOf(comparer.exampleOutside(pattern, forms));
  if (outside.text === undefined && owners.size > 0) return { kind: "pinned", owners: [...owners.values()] };
  const example = firstExample(comparer, pattern, strangers);
  if (example !== undefined) return { kind: "open", example, reason: comparer.reasonFor(pattern, example) };
  const why = outside.text === undefined ? `it names no ${what}` : describeOutside(outside.text);
  return { kind: "unproven", example: outside.text, reason: unprovenReason(why) };
}

/** Judges a pattern as pinned if one form alone proves it: texts of one form may look like those of another one. */
export function judgeEach(
  comparer: PatternComparer,
  pattern: string,
  { what, pinning, strangers }: TextForms,
): PatternJudgement {
  let open: PatternJudgement | undefined;
  for (const form of pinning) {
    if (answerOf(comparer.isSubset(pattern, anchored(form.whole))) === "no") continue;
    const judged = judgeForms(comparer, pattern, { what, pinning: [form], strangers });
    if (judged.kind === "pinned") return judged;
    if (judged.kind === "open") open ??= judged;
  }
  if (open !== undefined) return open;
  const example = firstExample(comparer, pattern, [...strangers, "(?s:.*)"]);
  return openBy(comparer, pattern, example, `the ${what} is not written out`);
}

function judgeMailHost(
  comparer: PatternComparer,
  pattern: string,
  form: PinningForm,
  host: string,
): PatternJudgement {
  const example = firstExample(comparer, pattern, [`.*@(?i:${RE2JS.quote(host)})`, form.whole]);
  const reason = `everybody can have an address at ${host}`;
  return example === undefined ? { kind: "unproven", example, reason } : { kind: "open", example, reason };
}

/** The owner that an exact text names by one of some forms. */
export function ownerOfText(
  comparer: PatternComparer,
  text: string,
  forms: readonly PinningForm[],
): TrustedOwner | undefined {
  for (const { what, whole, owners, owner, isMail } of forms) {
    if (!comparer.matches(anchored(whole), text)) continue;
    const [segment, numbered] = owners;
    const name = owner ?? (segment === undefined ? text : comparer.partOf(text, segment));
    if (name === undefined || (isMail === true && isMailHost(name))) continue;
    const number = numbered === undefined ? undefined : comparer.partOf(text, numbered);
    const written = segment?.ignoresCase === true ? name.toLowerCase() : name;
    return { what, name: number === undefined ? written : `${written}@${number}` };
  }
  return undefined;
}
