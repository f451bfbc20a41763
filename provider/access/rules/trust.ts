import { isObject } from "../../engine/values";
import type { Json } from "../../engine/spec";
import { isWriting } from "../graph/capabilities";
import { mayWiden } from "../effects";
import { globMatches } from "../trust/glob";
import { multiTenantIssuerOf, findMultiTenantIssuer, filterMultiTenantIssuers } from "../trust/issuers";
import type { MultiTenantIssuer } from "../trust/issuers";
import type { Entity } from "../graph/model";
import type { Grant } from "../graph/grant";
import { judgeForms, namesOwner, findPatternProblem } from "../trust/judgement";
import type { PatternJudgement } from "../trust/judgement";
import { exactPattern, Languages } from "../trust/languages";
import { judgeAudience, judgeIssuer } from "../trust/ownedIssuers";
import {
  judgeOwnerClaim,
  judgePrincipal,
  judgeSubject,
  judgeUnknownSubject,
  judgeUserId,
} from "../trust/ownedSubjects";
import { findRunsOf, findUntrustedRuns } from "../trust/untrustedRefs";
import { limitLines, labelOf, plural, textAt } from "./facts";
import type { Facts } from "./facts";
import type { FindingInput } from "./findingInput";
import type { Rule } from "./rule";

const TRUST = /^(?:claimMatch|staticKeys|awsIdentity|servicePrincipal)(?:[.[]|$)/;

/**
 * Identities whose trust is to be judged: made or changed in what they trust, or unchanged and given
 * something new to hold.
 */
function* identitiesToJudge(facts: Facts): Generator<Entity> {
  const seen = new Set<string>();
  for (const { op, after, fields } of facts.writes("Identity")) {
    if (op === "update" && !fields.some(({ path }) => TRUST.test(path))) continue;
    seen.add(after.key);
    yield after;
  }
  for (const { grant } of facts.newOrWiderGrants()) {
    const entity = facts.comparison.after.entities.get(grant.subject.key);
    if (entity?.kind !== "Identity" || seen.has(entity.key)) continue;
    seen.add(entity.key);
    yield entity;
  }
}

/** What a pattern lets in that it should not. */
interface OpenPattern {
  /** A text of a stranger; undefined where the pattern cannot be judged. */
  readonly example: string | undefined;
  /** Ends the sentence "… is accepted: ": "the pattern is not anchored at its end". */
  readonly reason: string;
}

/** What is known of the patterns of one review: all questions share a budget, and none is asked twice. */
class PatternJudge {
  private readonly judgements = new Map<string, PatternJudgement>();

  constructor(readonly languages: Languages) {}

  judge(
    about: string,
    pattern: string,
    find: (languages: Languages, pattern: string) => PatternJudgement,
  ): PatternJudgement {
    const key = JSON.stringify([about, pattern]);
    const known = this.judgements.get(key) ?? find(this.languages, pattern);
    this.judgements.set(key, known);
    return known;
  }
}

const judges = new WeakMap<Facts, PatternJudge>();

function judgeOf(facts: Facts): PatternJudge {
  const known = judges.get(facts) ?? new PatternJudge(facts.comparison.languages ?? new Languages());
  judges.set(facts, known);
  return known;
}

const languagesOf = (facts: Facts): Languages => judgeOf(facts).languages;

/** A pattern that cannot be judged counts as open. */
function openPatternOf(judged: PatternJudgement): OpenPattern | undefined {
  if (judged.kind === "open") return judged;
  return judged.kind === "unjudged" ? { example: undefined, reason: judged.reason } : undefined;
}

function judge(
  facts: Facts,
  about: string,
  text: string | undefined,
  find: (languages: Languages, pattern: string) => PatternJudgement,
): OpenPattern | undefined {
  return text === undefined ? undefined : openPatternOf(judgeOf(facts).judge(about, text, find));
}

const judgeSubjectAt = (
  facts: Facts,
  vendor: MultiTenantIssuer,
  pattern: string | undefined,
): OpenPattern | undefined =>
  judge(facts, vendor.issuer, pattern, (languages, text) => judgeSubject(languages, text, vendor.forms));

/** "accepts “x”: why", or that it cannot be judged. */
const describeOpenPattern = ({ example, reason }: OpenPattern): string =>
  example === undefined ? `cannot be judged: ${reason}` : `accepts ${JSON.stringify(example)}: ${reason}`;
const counterexampleOf = ({ example }: OpenPattern): { counterexample?: string } =>
  example === undefined ? {} : { counterexample: example };

/** The issuers that serve everybody among those that an identity trusts. */
function multiTenantIssuersOf(facts: Facts, claimMatch: Json | undefined): readonly MultiTenantIssuer[] {
  const issuer = textAt(claimMatch, "issuer");
  if (issuer !== undefined) return [multiTenantIssuerOf(issuer) ?? []].flat();
  const pattern = textAt(claimMatch, "issuerPattern");
  if (pattern === undefined || findPatternProblem(languagesOf(facts), pattern) !== undefined) return [];
  return filterMultiTenantIssuers((vendor) => languagesOf(facts).matches(pattern, vendor.issuer));
}

function claimsOf(claimMatch: Json | undefined, key: "claims" | "claimPatterns"): [string, string][] {
  const value = isObject(claimMatch) ? claimMatch[key] : undefined;
  if (!isObject(value)) return [];
  return Object.entries(value).filter((entry): entry is [string, string] => typeof entry[1] === "string");
}

/** Whether a claim names the owner: by its exact value, or by a pattern that fits no outsider. */
function isPinnedByClaims(facts: Facts, claimMatch: Json | undefined, vendor: MultiTenantIssuer): boolean {
  if (
    claimsOf(claimMatch, "claims").some(
      ([name, value]) => vendor.pinningClaims.includes(name) && value !== "",
    )
  ) {
    return true;
  }
  return claimsOf(claimMatch, "claimPatterns").some(
    ([name, text]) =>
      vendor.pinningClaims.includes(name) &&
      judgeOwnerClaim(languagesOf(facts), name, text).kind === "pinned",
  );
}

interface OpenSubject {
  readonly field: string;
  readonly pattern: string;
  readonly open: OpenPattern;
  readonly advice: string;
  /** Claims that narrow it, of an issuer that nothing is known of. */
  readonly claims: readonly string[];
}

function findOpenSubject(facts: Facts, claimMatch: Json | undefined): OpenSubject | undefined {
  const pattern = textAt(claimMatch, "subjectPattern");
  if (pattern === undefined) return undefined;
  const field = "claimMatch.subjectPattern";
  const vendors = multiTenantIssuersOf(facts, claimMatch);
  for (const vendor of vendors.filter((each) => !isPinnedByClaims(facts, claimMatch, each))) {
    const open = judgeSubjectAt(facts, vendor, pattern);
    const advice = `name the ${vendor.owner} in an anchored pattern, as in ${JSON.stringify(vendor.example)}, or use subject`;
    if (open !== undefined) return { field, pattern, open, advice, claims: [] };
  }
  if (vendors.length > 0) return undefined;
  const open = judge(facts, "subject", pattern, judgeUnknownSubject);
  if (open === undefined) return undefined;
  return {
    field,
    pattern,
    open,
    advice:
      "name the subject exactly (subject), or anchor the pattern with ^(?:…)$ and let it vary only where it must",
    claims: claimsOf(claimMatch, "claims").map(([name]) => name),
  };
}

/** An AWS principal fits by its ARN and its user id: one that is exact is enough. */
function findOpenPrincipal(facts: Facts, aws: Json | undefined): OpenSubject | undefined {
  if (!isObject(aws) || textAt(aws, "arn") !== undefined || textAt(aws, "userId") !== undefined)
    return undefined;
  const account = textAt(aws, "awsAccount") ?? "123456789012";
  const arnPattern = textAt(aws, "arnPattern");
  const userIdPattern = textAt(aws, "userIdPattern");
  const arn = judge(facts, `principal ${account}`, arnPattern, (languages, text) =>
    judgePrincipal(languages, text, account),
  );
  const userId = judge(facts, "user id", userIdPattern, judgeUserId);
  if (arnPattern !== undefined && arn === undefined) return undefined;
  if (userIdPattern !== undefined && userId === undefined) return undefined;
  const [field, pattern, open] =
    arn === undefined
      ? ["awsIdentity.userIdPattern", userIdPattern, userId]
      : ["awsIdentity.arnPattern", arnPattern, arn];
  if (open === undefined || pattern === undefined) return undefined;
  return {
    field,
    pattern,
    open,
    advice: `name the role, as in ${JSON.stringify(`^arn:aws:sts::${account}:assumed-role/deployer/[\\w=,.@-]+$`)}`,
    claims: [],
  };
}

function listGrants(grants: readonly Grant[]): string[] {
  return limitLines(
    [
      ...new Set(grants.map(({ role, group }) => `${role.name ?? role.uid ?? role.key} on ${group.path}`)),
    ].sort(),
  );
}

const anySubject: Rule = {
  id: "T1",
  name: "any-subject",
  severities: ["critical", "high"],
  when: "critical for an identity that holds a grant; high while it holds none, or where claims of an issuer that is not known narrow it",
  what: "A `subjectPattern`, or `arnPattern` and `userIdPattern` together, accepts somebody else: another organisation's repository, another role, any text. All texts that the pattern accepts are compared with all subjects that an outsider can have at that issuer, and one of both is shown. A pattern is closed when it names its owners: at most nine of them, each in full. So `acme[0-9]` is open, because anybody can register `acme7`; `(acme|globex)` is not. Found are also patterns that are not anchored, whose alternatives are anchored on one side only (`^a|b$`), or whose dot is not escaped. A pattern that cannot be judged is reported as open: one that is too long, is not valid, or takes too many steps. At an issuer that is not known, a fixed first or last word (`^user-.*$`) or mail domain counts as a name. Judged are identities that are made or changed, and unchanged ones that gain a grant. A wildcard within your own organisation is not reported (T4 looks at branches and pull requests), nor is one that an exact claim narrows to an owner.",
  why: "A pattern is searched for anywhere in the subject, so one without `^` and `$` accepts whatever contains it. Whoever can make the issuer write such a subject holds all that the identity holds.",
  fix: "Write the exact `subject`. If it must vary, anchor the whole pattern, put alternatives in a group, and let only the last part vary: `^repo:acme/pay:ref:refs/heads/(?:main|release-[0-9]+)$`.",
  except: "Hardly ever. When the issuer is your own and everybody there is meant.",
  exampleMatch: { name: "internal-sso", issuer: "https://sso.acme.example" },
  needsBefore: false,
  find: (facts) => {
    const findings: FindingInput[] = [];
    for (const entity of identitiesToJudge(facts)) {
      const found =
        findOpenSubject(facts, entity.inputs["claimMatch"]) ??
        findOpenPrincipal(facts, entity.inputs["awsIdentity"]);
      if (found === undefined) continue;
      const grants = facts.grantsAfter(entity.key);
      const isNarrowed = found.claims.length > 0;
      findings.push(
        facts.aboutEntity(entity, {
          severity: grants.length > 0 && !isNarrowed ? "critical" : "high",
          field: found.field,
          message: `${labelOf(entity)} can be assumed by outsiders: ${found.field} ${describeOpenPattern(found.open)}`,
          ...counterexampleOf(found.open),
          details: [
            `pattern: ${found.pattern}`,
            ...(isNarrowed ? [`narrowed by claims only: ${found.claims.join(", ")}`] : []),
            ...(grants.length === 0
              ? ["it holds no grant yet"]
              : [`who assumes it holds ${plural(grants.length, "grant")}:`, ...listGrants(grants)]),
          ],
          advice: found.advice,
        }),
      );
    }
    return findings;
  },
};

const anyIssuer: Rule = {
  id: "T2",
  name: "any-issuer",
  severities: ["critical", "high"],
  when: "critical for a pattern that accepts an issuer of somebody else; high for an issuer that is not on the list given with --issuer-allow",
  what: "An `issuerPattern` accepts an issuer that somebody else can run: its dots are not escaped, it is not anchored on both sides, or a wildcard lets another host in (`.*` reaches over slashes; `https://*.acme.com` is a shell's pattern, and as a regular expression means something else). The registered domain of the host must be fixed, by the public suffix list: `[a-z]+\\.github\\.io` is open. At services that give each customer a host or a path (EKS, GKE, Okta, Auth0, Azure, S3 and others), so must the customer. The look-alike is shown. With `--issuer-allow`, every issuer that is not on that list is reported too.",
  why: "Whoever runs an issuer signs any subject and any claim. One look-alike domain, bought for a few coins, is then whoever the identity is for.",
  fix: "Write the exact `issuer`. If there are several, make an identity for each, or anchor and escape: `^https://[a-z0-9-]+\\.acme\\.example$`.",
  except: "Not for a pattern. For an issuer that is not on the list, add it to the list.",
  exampleMatch: { issuer: "https://oidc.partner.example" },
  needsBefore: false,
  find: (facts) => {
    const { issuerAllow } = facts.options;
    const findings: FindingInput[] = [];
    for (const entity of identitiesToJudge(facts)) {
      const { claimMatch, staticKeys } = entity.inputs;
      const pattern = textAt(claimMatch, "issuerPattern");
      const open = judge(facts, "issuer", pattern, judgeIssuer);
      if (open !== undefined) {
        const grants = facts.grantsAfter(entity.key);
        findings.push(
          facts.aboutEntity(entity, {
            severity: "critical",
            field: "claimMatch.issuerPattern",
            message: `${labelOf(entity)} trusts issuers of others: issuerPattern ${describeOpenPattern(open)}`,
            ...counterexampleOf(open),
            details: [
              `pattern: ${pattern ?? ""}`,
              ...(grants.length === 0 ? [] : ["who runs such an issuer holds:", ...listGrants(grants)]),
            ],
            advice:
              'write the exact issuer, or an anchored pattern with escaped dots: "^https://[a-z0-9-]+\\\\.acme\\\\.example$"',
          }),
        );
        continue;
      }
      const issuer = textAt(claimMatch, "issuer") ?? textAt(staticKeys, "issuer") ?? pattern;
      if (issuer === undefined || issuerAllow.length === 0) continue;
      if (issuerAllow.some((glob) => globMatches(glob, issuer))) continue;
      findings.push(
        facts.aboutEntity(entity, {
          severity: "high",
          field: pattern === undefined ? "issuer" : "claimMatch.issuerPattern",
          message: `${labelOf(entity)} trusts an issuer that is not on the list of --issuer-allow: ${issuer}`,
          advice: "use an issuer that is on the list, or add this one to it",
        }),
      );
    }
    return findings;
  },
};

/** Whether neither a subject nor a pattern of subjects names an owner at an issuer that serves everybody. */
function namesNoOwner(
  facts: Facts,
  vendor: MultiTenantIssuer,
  subject: string | undefined,
  pattern: string | undefined,
): boolean {
  if (subject !== undefined) return !namesOwner(languagesOf(facts), subject, vendor.forms);
  return judgeSubjectAt(facts, vendor, pattern) !== undefined;
}

const sharedIssuer: Rule = {
  id: "T3",
  name: "shared-issuer",
  severities: ["high"],
  when: "always",
  what: "An identity trusts an issuer that signs tokens for everybody (GitHub Actions, GitLab.com, Buildkite, HCP Terraform, Google, Vercel, Codefresh, Pulumi Cloud), and neither its subject nor a claim names an organisation or repository. Claims that everybody can set do not count: `ref`, `environment`, `workflow`, `actor` and the like.",
  why: "Every customer of that service gets tokens from the same issuer. `environment:production` is a name that anybody can give to an environment.",
  fix: "Name the organisation: in the subject (`repo:acme/pay:…`), or by an exact claim such as `repository_owner_id`. A number is better than a name: names can be given up, and taken by others.",
  except: "Not while the issuer serves others than you.",
  exampleMatch: { name: "public-demo", issuer: "https://token.actions.githubusercontent.com" },
  needsBefore: false,
  find: (facts) => {
    const findings: FindingInput[] = [];
    for (const entity of identitiesToJudge(facts)) {
      const { claimMatch } = entity.inputs;
      const subject = textAt(claimMatch, "subject");
      const pattern = textAt(claimMatch, "subjectPattern");
      const vendor = multiTenantIssuersOf(facts, claimMatch).find(
        (each) => !isPinnedByClaims(facts, claimMatch, each) && namesNoOwner(facts, each, subject, pattern),
      );
      if (vendor === undefined) continue;
      const claims = claimsOf(claimMatch, "claims").map(([name]) => name);
      findings.push(
        facts.aboutEntity(entity, {
          severity: "high",
          field: subject === undefined ? "claimMatch.subjectPattern" : "claimMatch.subject",
          message: `${labelOf(entity)} trusts ${vendor.name}, which serves everybody, and names no ${vendor.owner}`,
          details: [
            `subject: ${subject ?? pattern ?? ""}`,
            ...(claims.length > 0 ? [`claims that anybody can have: ${claims.join(", ")}`] : []),
          ],
          advice: `name the ${vendor.owner} in the subject, as in ${JSON.stringify(vendor.example)}, or by the claim ${vendor.pinningClaims.slice(0, 2).join(" or ")}`,
        }),
      );
    }
    return findings;
  },
};

const pullRequestRef: Rule = {
  id: "T4",
  name: "pull-request-ref",
  severities: ["high", "medium"],
  when: "high where the identity holds a capability that changes something (or its role's capabilities are not known); medium else",
  what: "An identity of a CI system accepts runs of pull requests, of any branch, or of branches of many names: more than nine, or all that begin like the one that is meant (the pattern has no `$`). A number that varies after fixed words (`release-[0-9]+`) is not reported. What T1 finds is not reported here again. Branches that a claim such as `ref` excludes are not reported, nor are environments and named branches.",
  why: "Whoever may push a branch, or open a pull request, writes the workflow that runs, and thereby acts as the identity before anybody has reviewed a line.",
  fix: "Pin the branch or, better, a protected environment: `repo:acme/pay:environment:production`. Use a second identity with a reading role for pull requests.",
  except: "For an identity that only reads what pull requests need.",
  exampleMatch: { name: "ci-preview", subject: "repo:acme/*:pull_request" },
  needsBefore: false,
  find: (facts) => {
    const findings: FindingInput[] = [];
    for (const entity of identitiesToJudge(facts)) {
      const { claimMatch } = entity.inputs;
      const subject = textAt(claimMatch, "subject");
      const text = textAt(claimMatch, "subjectPattern");
      if (subject === undefined && findOpenSubject(facts, claimMatch) !== undefined) continue;
      const pattern = subject === undefined ? text : exactPattern(subject);
      if (pattern === undefined) continue;
      const languages = languagesOf(facts);
      const known = multiTenantIssuersOf(facts, claimMatch);
      const vendors =
        known.length > 0 ? known : [issuerWithSubjectsLike(languages, subject, pattern) ?? []].flat();
      const asked = {
        exact: claimsOf(claimMatch, "claims"),
        patterns: claimsOf(claimMatch, "claimPatterns"),
      };
      const found = vendors.flatMap(({ untrustedRefs }) =>
        subject === undefined
          ? findUntrustedRuns(languages, pattern, untrustedRefs, asked)
          : findRunsOf(languages, subject, untrustedRefs, asked),
      );
      const [first] = found;
      const [vendor] = vendors;
      if (first === undefined || vendor === undefined) continue;
      const owners =
        subject === undefined ? vendors.flatMap(({ forms }) => ownersIn(languages, pattern, forms)) : [];
      const grants = facts.grantsAfter(entity.key);
      const canWrite = grants.some(({ role }) => role.capabilities?.some(isWriting) ?? true);
      const whats = [...new Set(found.map(({ what }) => what))];
      findings.push(
        facts.aboutEntity(entity, {
          severity: canWrite ? "high" : "medium",
          field: subject === undefined ? "claimMatch.subjectPattern" : "claimMatch.subject",
          message: `${labelOf(entity)} can be assumed by ${whats.join(" and by ")}${first.example === undefined ? "" : `: it accepts ${JSON.stringify(first.example)}`}`,
          ...(first.example === undefined ? {} : { counterexample: first.example }),
          details: [
            `subject: ${subject ?? text ?? ""}`,
            ...(owners.length > 1 ? [`owners: ${owners.join(", ")}`] : []),
            ...(grants.length === 0
              ? ["it holds no grant yet"]
              : ["who assumes it holds:", ...listGrants(grants)]),
          ],
          advice: `pin the branch or a protected environment, as in ${JSON.stringify(vendor.example)}`,
        }),
      );
    }
    return findings;
  },
};

/** An issuer of one's own may write subjects as a known one does: a GitHub Enterprise Server, a GitLab. */
function issuerWithSubjectsLike(
  languages: Languages,
  subject: string | undefined,
  pattern: string,
): MultiTenantIssuer | undefined {
  return findMultiTenantIssuer(({ untrustedRefs, subjectPrefix }) => {
    const start = `\\A(?:${subjectPrefix})`;
    if (untrustedRefs.length === 0) return false;
    return subject === undefined
      ? languages.isSubset(pattern, start) === "yes"
      : languages.matches(start, subject);
  });
}

function ownersIn(
  languages: Languages,
  pattern: string,
  forms: MultiTenantIssuer["forms"],
): readonly string[] {
  const judged = judgeForms(languages, pattern, forms);
  return judged.kind === "pinned" ? judged.names : [];
}

const INHERITED = /^(?:claimMatch|staticKeys|awsIdentity|servicePrincipal|oidc)(?:[.[]|$)/;
const NOT_WHO =
  /^(?:staticKeys\.expirationTime|oidc\.(?:clientSecret|additionalScopes|pkceEnabled))(?:[.[]|$)/;

const trustChanged: Rule = {
  id: "T5",
  name: "trust-changed",
  severities: ["high"],
  when: "always",
  what: "The trust of an identity that holds grants changes, so that a different principal holds them: its issuer, subject, audience, claims, keys or AWS match change, or it goes from one way of proving itself to another. What the new holder inherits is listed. Of identity providers the issuer, the client id, the claim that holds the groups and the correlation rule count. A change after which it accepts the same or less is not reported, such as a further claim or a pattern within the old one; one that cannot be judged is. Nor is an identity without grants, a new description, or another end of its keys.",
  why: "No binding changes, so nothing in the diff says that a different principal now holds all of this.",
  fix: "Make a new identity for the new holder, bind what it needs, and remove the old one. If it is the same holder under another name, say so in the pull request.",
  except:
    "After a move of a repository or of an issuer, for that identity, for as long as the pull request is open.",
  exampleMatch: { name: "ci-deployer", subject: "repo:acme/pay:*" },
  needsBefore: true,
  driftAdvice:
    "restore the trust unless one of you changed it; then change it in the program, and have it reviewed",
  find: (facts) => {
    const findings: FindingInput[] = [];
    for (const { op, before, after, fields } of facts.writes("Identity", "IdentityProvider")) {
      if (op === "create" || before === undefined) continue;
      const changed = fields.filter(
        ({ path, direction }) => INHERITED.test(path) && !NOT_WHO.test(path) && mayWiden(direction),
      );
      if (changed.length === 0) continue;
      const grants = facts.grantsThrough(after.key);
      if (grants.length === 0) continue;
      findings.push(
        facts.aboutEntity(after, {
          severity: "high",
          field: changed[0]?.path ?? "",
          message: `the trust of ${labelOf(after)} changes: a different principal inherits ${plural(grants.length, "grant")}: ${changed.map(({ path }) => path).join(", ")}`,
          details: [
            ...limitLines(
              changed.map(
                ({ path, before: old, after: now, direction, reason }) =>
                  `${path}: ${old ?? "not set"} → ${now ?? "not set"}${direction === "unknown" ? ` (${reason})` : ""}`,
              ),
            ),
            "inherits:",
            ...listGrants(grants),
          ],
          advice:
            "make a new identity for the new holder and bind what it needs, instead of changing who this one is",
        }),
      );
    }
    return findings;
  },
};

/** Values that are compared exactly, so that a star in them is a star. */
function* exactValues({ inputs }: Entity): Generator<[string, string]> {
  for (const [block, keys] of [
    ["claimMatch", ["issuer", "subject", "audience"]],
    ["staticKeys", ["issuer", "subject"]],
    ["awsIdentity", ["arn", "userId"]],
  ] as const) {
    for (const key of keys) {
      const value = textAt(inputs[block], key);
      if (value !== undefined) yield [`${block}.${key}`, value];
    }
  }
  for (const [name, value] of claimsOf(inputs["claimMatch"], "claims"))
    yield [`claimMatch.claims.${name}`, value];
}

const looseMatch: Rule = {
  id: "T6",
  name: "loose-audience",
  severities: ["medium", "low"],
  when: "medium for an audience pattern that accepts audiences of others; low for a star in an exact value",
  what: "An `audiencePattern` accepts audiences of others: any host, or any word; or an exact value (`subject`, `issuer`, `arn`, a claim) holds a `*`, which there is a plain character and matches nothing that an issuer writes.",
  why: "A token that was made for another service is accepted too, so whoever receives such tokens can use them here. A star in an exact value is usually meant as a pattern: the identity then never works, and is `fixed` later by one that is too wide.",
  fix: "Leave the audience out (the issuer's host name then counts), or give the exact `audience`. Use `subjectPattern`, anchored, where a part must vary.",
  except: "For an issuer that cannot set the audience.",
  exampleMatch: { issuer: "https://legacy-ci.acme.example" },
  needsBefore: false,
  find: (facts) => {
    const findings: FindingInput[] = [];
    for (const entity of identitiesToJudge(facts)) {
      const pattern = textAt(entity.inputs["claimMatch"], "audiencePattern");
      const open = judge(facts, "audience", pattern, judgeAudience);
      if (open !== undefined) {
        findings.push(
          facts.aboutEntity(entity, {
            severity: "medium",
            field: "claimMatch.audiencePattern",
            message: `${labelOf(entity)} takes tokens that were made for others: audiencePattern ${describeOpenPattern(open)}`,
            ...counterexampleOf(open),
            details: [`pattern: ${pattern ?? ""}`],
            advice: "leave it out, so that the issuer's host name counts, or give the exact audience",
          }),
        );
      }
      for (const [field, value] of exactValues(entity)) {
        if (!value.includes("*")) continue;
        findings.push(
          facts.aboutEntity(entity, {
            severity: "low",
            field,
            message: `${labelOf(entity)} can never be assumed: ${field} is compared exactly, and ${JSON.stringify(value)} holds a star`,
            advice: `if a part must vary, use ${field.replace(/(?:claims\.)?([^.]+)$/, (_, key: string) => (field.includes("claims.") ? `claimPatterns.${key}` : `${key}Pattern`))}, anchored with ^ and $`,
          }),
        );
      }
    }
    return findings;
  },
};

export const trustRules: readonly Rule[] = [
  anySubject,
  anyIssuer,
  sharedIssuer,
  pullRequestRef,
  trustChanged,
  looseMatch,
];
