import { RE2JS } from "re2js";
import { INTRUDER } from "./data/pins";
import type { ChosenName, UntrustedRef } from "./data/sharedIssuers";
import { firstExample, MOST_OWNERS } from "./judgement";
import { exactPattern, anchored } from "./languages";
import type { Languages } from "./languages";

/** The claims that a token must have beside its subject. */
interface ClaimConditions {
  readonly exact: readonly (readonly [string, string])[];
  readonly patterns: readonly (readonly [string, string])[];
}

/** Runs of unreviewed changes that a pattern accepts. */
interface UntrustedRuns {
  readonly what: string;
  readonly example: string | undefined;
}

const UNJUDGED: UntrustedRuns = { what: "runs that cannot be judged", example: undefined };

const NUMBERS = "[0-9]+(?:[.-](?:[0-9]+|x))*";
const WORDS = "(?:[A-Za-z]+[-_/])+";

/** `release-1.2`, `v1.2`: a name for each version is no free choice, unless the words vary. */
const versioned = ({ prefix }: ChosenName): string => anchored(`${prefix}(?:${WORDS}v?|v)${NUMBERS}`);

/** Whether a claim of such runs can have a value that the identity requires. */
function fitsClaims(languages: Languages, { claims, chosen }: UntrustedRef, asked: ClaimConditions): boolean {
  const exact = asked.exact.every(([name, value]) => {
    const form = name === chosen?.claim ? undefined : claims[name];
    return form === undefined || languages.matches(anchored(form), value);
  });
  return (
    exact &&
    asked.patterns.every(([name, pattern]) => {
      const form = name === chosen?.claim ? undefined : claims[name];
      return form === undefined || languages.intersects(pattern, anchored(form)) !== "no";
    })
  );
}

/** What the claim that contains the chosen name must match. */
function nameConditions({ claim }: ChosenName, asked: ClaimConditions): string[] {
  return [
    ...asked.exact.filter(([name]) => name === claim).map(([, value]) => exactPattern(value)),
    ...asked.patterns.filter(([name]) => name === claim).map(([, pattern]) => pattern),
  ];
}

function commonStart(names: readonly string[]): string {
  const [first = "", ...rest] = names;
  let length = first.length;
  for (const name of rest) while (!name.startsWith(first.slice(0, length))) length -= 1;
  return first.slice(0, length);
}

/** Whether the words before a version vary, so that anyone can choose some. */
function hasManyWords(
  languages: Languages,
  pattern: string,
  { before, prefix, after }: ChosenName,
  namePatterns: readonly string[],
): boolean {
  const [name, rest] = [`${prefix}${WORDS}`, `v?${NUMBERS}`];
  const found = [
    languages.names(pattern, { before, name, after: `${rest}${after}` }, MOST_OWNERS),
    ...namePatterns.map((text) => languages.names(text, { before: "", name, after: rest }, MOST_OWNERS)),
  ];
  return found.every((names) => names === "tooLarge" || names.isMany);
}

/** Runs with various chosen names that a pattern accepts. */
function findChosenNames(
  languages: Languages,
  pattern: string,
  { what, chosen }: UntrustedRef & { readonly chosen: ChosenName },
  asked: ClaimConditions,
): UntrustedRuns | undefined {
  const namePatterns = nameConditions(chosen, asked);
  const all = languages.names(pattern, { ...chosen, namePatterns }, MOST_OWNERS);
  if (all !== "tooLarge" && !all.isMany) return undefined;
  const segment = { ...chosen, namePatterns, excludedName: versioned(chosen) };
  const names = languages.names(pattern, segment, MOST_OWNERS);
  if (names === "tooLarge") return UNJUDGED;
  if (!names.isMany && !hasManyWords(languages, pattern, chosen, namePatterns)) return undefined;
  const { before, name, after, noun, prefix } = chosen;
  const own = `${prefix}${INTRUDER}`;
  const accepts = (form: string): boolean => {
    const found = languages.names(
      pattern,
      { ...segment, namePatterns: [...namePatterns, anchored(form)] },
      1,
    );
    return found === "tooLarge" || found.list.length > 0;
  };
  const start = commonStart(names.list);
  const isStart = start.length > prefix.length && accepts(`${RE2JS.quote(start)}.*${INTRUDER}`);
  const examples = [`${before}${own}${after}`, `${before}.*${INTRUDER}${after}`, `${before}${name}${after}`];
  return {
    what: accepts(own)
      ? what
      : isStart
        ? `any ${noun} whose name begins like that`
        : `${noun === "branch" ? "branches" : `${noun}s`} of many names`,
    example: firstExample(languages, pattern, examples),
  };
}

/** The runs of unreviewed changes that have an exact subject. */
export function findRunsOf(
  languages: Languages,
  subject: string,
  refs: readonly UntrustedRef[],
  asked: ClaimConditions,
): UntrustedRuns[] {
  return refs
    .filter(({ chosen, subject: form }) => chosen === undefined && languages.matches(anchored(form), subject))
    .filter((ref) => fitsClaims(languages, ref, asked))
    .map(({ what }) => ({ what, example: subject }));
}

/** The runs of unreviewed changes whose subjects a pattern matches, and whose claims meet the required ones. */
export function findUntrustedRuns(
  languages: Languages,
  pattern: string,
  refs: readonly UntrustedRef[],
  asked: ClaimConditions,
): UntrustedRuns[] {
  const found = languages.budget.ask(() => refs.flatMap((ref) => findRuns(languages, pattern, ref, asked)));
  return found === "tooLarge" ? [UNJUDGED] : found;
}

function findRuns(
  languages: Languages,
  pattern: string,
  ref: UntrustedRef,
  asked: ClaimConditions,
): readonly UntrustedRuns[] {
  if (!fitsClaims(languages, ref, asked)) return [];
  const { chosen } = ref;
  if (chosen !== undefined) {
    const found = findChosenNames(languages, pattern, { ...ref, chosen }, asked);
    return found === undefined ? [] : [found];
  }
  const verdict = languages.intersects(pattern, anchored(ref.subject));
  if (verdict === "tooLarge") return [UNJUDGED];
  return verdict === "no"
    ? []
    : [{ what: ref.what, example: firstExample(languages, pattern, [ref.subject]) }];
}
