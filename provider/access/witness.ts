import type { ProposalToken, SharedIssuer } from "./issuers";
import { INTRUDER, sharedIssuerThat } from "./issuers";
import { textOf } from "./pattern";
import type { Branch, Part, Pattern } from "./pattern";

/** A text that a pattern accepts and should not, and why it does. */
export interface Witness {
  readonly text: string;
  /** Ends the sentence "… is accepted: ": "the pattern is not anchored at its end". */
  readonly because: string;
}

interface Candidate extends Witness {
  /** The text of the same branch as it is likely meant; undefined where the candidate comes from no branch. */
  readonly meant?: string;
  readonly by: "whole" | "wild" | "dot" | "start" | "end";
  /** What stands in place of a wildcard. */
  readonly fill?: string;
}

const MOST_CANDIDATES = 1500;
const MOST_WILDS = 6;
const DOMAIN = `${INTRUDER}.example`;

const ANYTHING = "it matches any text";
const NO_START = "the pattern is not anchored at its start: begin it with ^";
const NO_END = "the pattern is not anchored at its end: end it with $";
const DOT = "a dot stands for any character: write \\.";
const WILD = "a wildcard reaches over the part that names the owner";

interface Attacks {
  /** In place of a wildcard. */
  readonly fill: readonly string[];
  readonly before: readonly string[];
  readonly after: readonly string[];
  /** In place of a dot that was probably meant as one. */
  readonly dot: readonly string[];
}

const isOpenEnd = (part: Part | undefined): boolean => part?.is === "wild";

/** Alternatives that are anchored on one side each need more than one anchor: the advice says so. */
function endReason(branches: readonly Branch[], reason: string): string {
  return branches.length > 1 ? `${reason} (each alternative needs it: ^(?:a|b)$)` : reason;
}

function* branchCandidates(branch: Branch, attacks: Attacks, all: readonly Branch[]): Generator<Candidate> {
  const meant = textOf(branch);
  const at = (index: number, text: string): string =>
    textOf(branch, (_, i) => (i === index ? text : undefined));
  const places = [...branch.keys()];
  for (const index of places.filter((i) => branch[i]?.is === "wild").slice(0, MOST_WILDS)) {
    for (const fill of attacks.fill) yield { text: at(index, fill), because: WILD, meant, by: "wild", fill };
  }
  if (!isOpenEnd(branch[0])) {
    for (const before of attacks.before) {
      yield { text: before + meant, because: endReason(all, NO_START), meant, by: "start" };
    }
  }
  if (!isOpenEnd(branch.at(-1))) {
    for (const after of attacks.after) {
      yield { text: meant + after, because: endReason(all, NO_END), meant, by: "end" };
    }
  }
  for (const index of places.filter((i) => branch[i]?.is === "dot")) {
    for (const dot of attacks.dot) yield { text: at(index, dot), because: DOT, meant, by: "dot" };
  }
}

/** The first candidate that the pattern accepts and that is an outsider's. */
function firstAccepted(
  pattern: Pattern,
  whole: readonly string[],
  attacks: Attacks,
  isForeign: (candidate: Candidate) => boolean,
): Witness | undefined {
  let tried = 0;
  const test = (candidate: Candidate): Witness | undefined => {
    tried += 1;
    return isForeign(candidate) && pattern.accepts(candidate.text)
      ? { text: candidate.text, because: candidate.because }
      : undefined;
  };
  const anything = pattern.accepts("") || pattern.accepts(`${INTRUDER} ${INTRUDER}`);
  for (const text of whole) {
    const found = test({ text, because: anything ? ANYTHING : WILD, by: "whole" });
    if (found) return found;
  }
  for (const branch of pattern.branches) {
    for (const candidate of branchCandidates(branch, attacks, pattern.branches)) {
      if (tried > MOST_CANDIDATES) return undefined;
      const found = test(candidate);
      if (found) return found;
    }
  }
  return undefined;
}

/** The part of a host name that somebody can register. */
function registrable(host: string): string {
  const labels = host.split(".");
  const last = labels.at(-1) ?? "";
  const second = labels.at(-2) ?? "";
  const isCountry = last.length === 2 && second.length <= 3 && labels.length > 2;
  return labels.slice(isCountry ? -3 : -2).join(".");
}

function hostOf(issuer: string): string | undefined {
  return URL.canParse(issuer) ? new URL(issuer).hostname : undefined;
}

/**
 * An issuer that somebody else runs and that the pattern accepts.
 * @param pattern An `issuerPattern`.
 */
export function foreignIssuer(pattern: Pattern): Witness | undefined {
  return firstAccepted(
    pattern,
    [`https://${DOMAIN}`, `https://${DOMAIN}/acme`],
    {
      fill: [DOMAIN, `${DOMAIN}/`, `${DOMAIN}/a`, `https://${DOMAIN}`, `https://${DOMAIN}/a`, INTRUDER],
      before: [`https://${DOMAIN}/`, `https://${DOMAIN}/?`, `https://${INTRUDER}`, "https://"],
      after: [`.${DOMAIN}`, `@${DOMAIN}`, DOMAIN],
      dot: ["-", "x", "/"],
    },
    ({ text, meant, by }) => {
      const host = hostOf(text);
      if (host === undefined) return false;
      if (registrable(host).includes(INTRUDER)) return true;
      const own = meant === undefined ? undefined : hostOf(meant);
      return by === "dot" && own !== undefined && own !== host;
    },
  );
}

/** A subject of another owner at an issuer that serves everybody. */
function foreignSubjectAt(vendor: SharedIssuer, pattern: Pattern): Witness | undefined {
  const projects = new Set<string>([INTRUDER]);
  for (const branch of pattern.branches.slice(0, MOST_WILDS)) projects.add(vendor.projectOf(textOf(branch)));
  const whole = [...projects].flatMap((project) => vendor.subjects(INTRUDER, project));
  const full = vendor.subjects(INTRUDER, INTRUDER);
  return firstAccepted(
    pattern,
    [...whole, INTRUDER],
    {
      fill: [
        ...full.map((subject) => subject.replace(/^[^:]*:/, "-")),
        ...full.map((subject) => subject.replace(/^[^:]*:/, "")),
        ...full,
        `-${INTRUDER}/${INTRUDER}`,
        `${INTRUDER}/${INTRUDER}`,
        `-${INTRUDER}`,
        INTRUDER,
      ],
      before: [
        ...full.map((subject) => `${subject}:`),
        ...full.map((subject) => subject.slice(0, subject.lastIndexOf(":") + 1)),
        ...full.map((subject) => subject.slice(0, subject.indexOf(INTRUDER) + INTRUDER.length)),
        ...full.map((subject) => `${subject.slice(0, subject.indexOf(INTRUDER) + INTRUDER.length)}-`),
      ],
      after: [
        ...full.map((subject) => subject.replace(/^[^:]*:/, "-")),
        ...full.map((subject) => subject.replace(/^[^:]*:/, "")),
      ],
      dot: ["-", "x"],
    },
    ({ text, meant, by }) => {
      if (text === INTRUDER) return true;
      const owner = vendor.ownerOf(text);
      if (owner === undefined) return false;
      if (owner.includes(INTRUDER)) return true;
      if (by === "whole") return true;
      return by === "dot" && meant !== undefined && vendor.ownerOf(meant) !== owner;
    },
  );
}

/** Subjects of issuers that nothing is known of. */
const FOREIGN_SUBJECTS = [
  INTRUDER,
  `${INTRUDER}@${DOMAIN}`,
  `repo:${INTRUDER}/${INTRUDER}:ref:refs/heads/main`,
  `project_path:${INTRUDER}/${INTRUDER}:ref_type:branch:ref:main`,
  `system:serviceaccount:${INTRUDER}:${INTRUDER}`,
  `spiffe://${DOMAIN}/${INTRUDER}`,
  "100000000000000000000",
  "00000000-0000-4000-8000-000000000000",
];

const SEPARATOR = /[-_.:/|@ ]/;

/** Whether a mail address, or a host, still ends in a domain that somebody can register. */
function isPlausible(text: string): boolean {
  const at = text.lastIndexOf("@");
  return at < 0 || text.slice(at + 1).includes(".");
}

function foreignSubjectAnywhere(pattern: Pattern): Witness | undefined {
  return firstAccepted(
    pattern,
    FOREIGN_SUBJECTS,
    {
      fill: [`${INTRUDER}:serviceaccount:${INTRUDER}`],
      before: [INTRUDER, `${INTRUDER}-`, `${INTRUDER}:`, `${INTRUDER}/`],
      after: [`-${INTRUDER}`, `.${DOMAIN}`, INTRUDER, `/${INTRUDER}`],
      dot: ["x", "-"],
    },
    ({ text, meant = "", by }) => {
      switch (by) {
        case "whole":
          return true;
        case "wild":
          return false;
        case "dot":
          return isPlausible(text);
        // A pattern that begins or ends with a separator is a name space, left open on purpose.
        case "start":
          return !SEPARATOR.test(meant.charAt(0));
        case "end":
          return !SEPARATOR.test(meant.slice(-1));
      }
    },
  );
}

/**
 * A subject of somebody else that the pattern accepts.
 * @param vendor The issuer, where it is one that serves everybody.
 */
export function foreignSubject(pattern: Pattern, vendor: SharedIssuer | undefined): Witness | undefined {
  return vendor === undefined ? foreignSubjectAnywhere(pattern) : foreignSubjectAt(vendor, pattern);
}

/** A value of a claim that names an owner (`acme`, `acme/pay`, a number) which is somebody else's. */
export function foreignOwnerClaim(pattern: Pattern): Witness | undefined {
  const workflow = `${INTRUDER}/${INTRUDER}/.github/workflows/ci.yml@refs/heads/main`;
  return firstAccepted(
    pattern,
    [INTRUDER, `${INTRUDER}/${INTRUDER}`, workflow, "999999999"],
    {
      fill: [`-${INTRUDER}`, `-${INTRUDER}/${INTRUDER}`, INTRUDER, `${INTRUDER}/${INTRUDER}`],
      before: [INTRUDER, `${INTRUDER}-`, `${INTRUDER}/`, "9"],
      after: [`-${INTRUDER}`, `-${INTRUDER}/${INTRUDER}`, "9"],
      dot: ["-", "x"],
    },
    ({ text, meant, by }) => by === "whole" || text.split("/")[0] !== meant?.split("/")[0],
  );
}

/** The role's or user's name in an ARN of a principal. */
function principalOf(arn: string): string | undefined {
  return /^arn:aws[\w-]*:(?:iam|sts)::\d*:(?:role|user|assumed-role|federated-user)\/([^/]+)/.exec(arn)?.[1];
}

/**
 * A principal of the same account, or of another one, that the pattern accepts though it names others.
 * @param account 12 digits.
 */
export function foreignPrincipal(pattern: Pattern, account: string): Witness | undefined {
  const principals = (name: string): string[] =>
    [account, "999999999999"].flatMap((number) => [
      `arn:aws:sts::${number}:assumed-role/${name}/${INTRUDER}`,
      `arn:aws:iam::${number}:role/${name}`,
      `arn:aws:iam::${number}:user/${name}`,
    ]);
  return firstAccepted(
    pattern,
    principals(INTRUDER),
    {
      fill: [`${INTRUDER}/${INTRUDER}`, INTRUDER, `-${INTRUDER}/${INTRUDER}`, `-${INTRUDER}`],
      before: principals(INTRUDER).flatMap((arn) => [`${arn}/`, arn.slice(0, arn.lastIndexOf("/") + 1)]),
      after: [`-${INTRUDER}`, `-${INTRUDER}/${INTRUDER}`],
      dot: ["-", "x"],
    },
    ({ text, meant, by, fill = "" }) => {
      const name = principalOf(text);
      if (name === undefined) return false;
      if (name.startsWith(INTRUDER)) return true;
      const own = meant === undefined ? undefined : principalOf(meant);
      if (by === "end" || by === "dot") return own !== undefined && name !== own;
      // A wildcard after a separator is a name space within the account, left open on purpose.
      const index = text.indexOf(`-${INTRUDER}`);
      return by === "wild" && fill.startsWith("-") && /[A-Za-z0-9]-/.test(text.slice(index - 1, index + 1));
    },
  );
}

/** A user id of another principal (`AROA…:session`) that the pattern accepts. */
export function foreignUserId(pattern: Pattern): Witness | undefined {
  const ids = [`AROAINTRUDER000000000:${INTRUDER}`, "AIDAINTRUDER000000000"];
  return firstAccepted(
    pattern,
    ids,
    { fill: ids, before: ["AROAINTRUDER000000000:"], after: [], dot: [] },
    ({ text }) => /^A(?:ROA|IDA)INTRUDER/.test(text),
  );
}

/** An audience of somebody else that the pattern accepts. */
export function foreignAudience(pattern: Pattern): Witness | undefined {
  return firstAccepted(
    pattern,
    [`https://${DOMAIN}`, DOMAIN, INTRUDER],
    { fill: [], before: [], after: [], dot: [] },
    () => true,
  );
}

/** A proposal's subject: what it is, and which claims tell it from a run of the main branch. */
export interface Proposal extends Witness {
  readonly claims: ProposalToken["claims"];
  readonly what: string;
}

const BRANCH_SUFFIX = `-${INTRUDER}`;

/**
 * Subjects of pull requests, and of branches that anyone who may push can make, of the owners that
 * the pattern names.
 * @param subjects What the pattern, or the exact subject, is likely meant to match.
 */
export function proposals(
  vendor: SharedIssuer,
  accepts: (subject: string) => boolean,
  subjects: readonly string[],
): Proposal[] {
  const found = new Map<string, Proposal>();
  for (const meant of subjects) {
    const owner = vendor.ownerOf(`${meant}:`) ?? INTRUDER;
    const known = vendor
      .proposals(owner, vendor.projectOf(`${meant}:`))
      .filter(({ subject }) => accepts(subject));
    const longer = /(?:refs\/heads\/|ref_type:branch:ref:)[^:]+$/.test(meant)
      ? meant + BRANCH_SUFFIX
      : undefined;
    const beginning = "any branch whose name begins like that";
    const all =
      known.length === 0 && longer !== undefined && accepts(longer)
        ? [{ subject: longer, claims: {}, what: beginning }]
        : known;
    for (const { subject, claims, what } of all) {
      found.set(subject, { text: subject, because: `it is ${what}`, claims, what });
    }
  }
  return [...found.values()];
}

/** What a pattern is likely meant to match, a text for each of its alternatives. */
export function likelyTexts(pattern: Pattern): string[] {
  return [...new Set(pattern.branches.map((branch) => textOf(branch)))].slice(0, 12);
}

/** The issuer among those that serve everybody that an `issuerPattern` is meant for, or lets in. */
export function sharedIssuerIn(pattern: Pattern): SharedIssuer | undefined {
  return sharedIssuerThat((issuer) => pattern.accepts(issuer));
}
