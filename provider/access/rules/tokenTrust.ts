import { addressMatches, addressPattern } from "../trust/addressGlob";
import type { Entity } from "../graph/model";
import { knownIssuerOf } from "../trust/issuers";
import { otherAudiences } from "../trust/data/audiences";
import { anchored, exactPattern } from "../trust/languages";
import { judgeIssuer, judgeAudience, SERVICE } from "../trust/ownedIssuers";
import { textAt } from "./inputValues";
import { labelEntity, listFirst } from "./wording";
import type { Facts } from "./facts";
import type { FindingInput } from "./findingInput";
import { isAssumable } from "./kindConditions";
import type { Rule } from "./rule";
import { KnownBefore } from "./knownBefore";
import { isCustomer } from "./trustedOwners";
import { judgePattern, describeOpenPattern, counterexampleOf, languagesOf } from "./openPatterns";
import { judgeIssuersOf } from "./openSubjects";
import { boundBefore, identitiesToJudge, listGrants, readClaimConditions } from "./trustedIdentities";
import type { KnownBy } from "./trustedIdentities";

/** The exact issuers whose tokens an identity accepts. */
const issuersOf = ({ inputs }: Entity): (string | undefined)[] => [
  textAt(inputs["claimMatch"], "issuer"),
  textAt(inputs["staticKeys"], "issuer"),
];

/** The pattern of the issuers whose tokens an identity accepts; undefined for one that accepts no tokens. */
function issuerPatternOf(entity: Entity): string | undefined {
  const exact = issuersOf(entity).find((issuer) => issuer !== undefined);
  return exact === undefined ? textAt(entity.inputs["claimMatch"], "issuerPattern") : exactPattern(exact);
}

/** What is said of an issuer that is not known. */
const NEWNESS = {
  new: "no identity with a grant trusted before",
  elsewhere: "identities with a grant trusted before only on other groups",
  byHand: "only identities and grants that no given stack records trusted before",
} as const;

/** Where identities with a grant trusted an issuer before, if T7 does not judge whose its tokens are. */
function newnessOfIssuer(facts: Facts, entity: Entity, issuer: string): keyof typeof NEWNESS | undefined {
  const { inventory, drift } = facts.comparison;
  // Drift reports each identity that no program declares, whatever it trusts.
  if (inventory === undefined || drift !== undefined) return undefined;
  const { claimMatch } = entity.inputs;
  if (textAt(claimMatch, "issuerPattern") === undefined) {
    if (knownIssuerOf(issuer) !== undefined) return undefined;
  } else {
    const judged = judgeIssuersOf(facts, claimMatch);
    if (judged?.kind !== "pinned") return undefined;
    if (judged.owners.every((owner) => owner.what === SERVICE || isCustomer(owner))) return undefined;
  }
  const accepted = issuerPatternOf(entity) ?? "";
  const isCovered = (patterns: readonly string[]): boolean =>
    patterns.includes(accepted) ||
    (patterns.length > 0 &&
      languagesOf(facts).isSubset(accepted, patterns.map((each) => `(?:${each})`).join("|")) === "yes");
  const groups = new Set(facts.grantsThrough(entity.key).map(({ group }) => group.key));
  const known = knownIssuers(facts, "anybody");
  if (!isCovered(known.values())) return "new";
  const isKnownThere = [...groups].every((group) =>
    isCovered(known.values().filter((pattern) => known.isKnownAt(pattern, group))),
  );
  if (!isKnownThere) return "elsewhere";
  return isCovered(knownIssuers(facts, "stacks").values()) ? undefined : "byHand";
}

const issuersBefore: Readonly<Record<KnownBy, WeakMap<Facts, KnownBefore>>> = {
  anybody: new WeakMap(),
  stacks: new WeakMap(),
};

/** The patterns of the issuers that identities with a grant trusted before. */
function knownIssuers(facts: Facts, by: KnownBy): KnownBefore {
  const known = issuersBefore[by].get(facts);
  if (known !== undefined) return known;
  const found = new KnownBefore(facts);
  issuersBefore[by].set(facts, found);
  for (const { entity, groups } of boundBefore(facts, by)) {
    const pattern = issuerPatternOf(entity);
    const isExact = issuersOf(entity).some((issuer) => issuer !== undefined);
    // A pattern that others can meet would make them all known.
    const isPinned = isExact || judgeIssuersOf(facts, entity.inputs["claimMatch"])?.kind === "pinned";
    if (pattern !== undefined && isPinned) found.add(pattern, groups);
  }
  return found;
}

/** Whether `--issuer-allow` names an issuer, or all that a pattern accepts. */
function isAllowedIssuer(facts: Facts, issuer: string, isExact: boolean): boolean {
  return facts.options.issuerAllow.some((glob) => {
    if (isExact) return addressMatches(glob, issuer);
    const allowed = addressPattern(glob);
    return allowed !== undefined && languagesOf(facts).isSubset(issuer, allowed) === "yes";
  });
}

/** Why an issuer needs a look; undefined where it needs none. */
function doubtOfIssuer(
  facts: Facts,
  entity: Entity,
  issuer: string,
): Pick<FindingInput, "severity" | "message" | "advice"> | undefined {
  const isExact = textAt(entity.inputs["claimMatch"], "issuerPattern") === undefined;
  if (isAllowedIssuer(facts, issuer, isExact)) return undefined;
  if (facts.options.issuerAllow.length > 0)
    return {
      severity: "high",
      message: "--issuer-allow does not name",
      advice: "use an issuer that --issuer-allow names, or add this one to it",
    };
  const newness = newnessOfIssuer(facts, entity, issuer);
  if (newness === undefined) return undefined;
  return {
    severity: newness === "new" ? "high" : "medium",
    message: NEWNESS[newness],
    advice:
      "find out who runs the issuer, compare its address letter by letter, then name it with --issuer-allow",
  };
}

/** An issuer that is not proven to be one owner's. */
function findOpenIssuer(facts: Facts, entity: Entity): FindingInput | undefined {
  const { claimMatch } = entity.inputs;
  const issuer = textAt(claimMatch, "issuer");
  const pattern = issuer === undefined ? textAt(claimMatch, "issuerPattern") : exactPattern(issuer);
  const open = judgePattern(facts, "issuer", pattern, judgeIssuer);
  if (open === undefined) return undefined;
  const grants = facts.grantsAfter(entity.key);
  const field = issuer === undefined ? "issuerPattern" : "issuer";
  const what =
    issuer === undefined
      ? `trusts issuers that others ${open.isOutsiders ? "can" : "may"} run: issuerPattern ${describeOpenPattern(open)}`
      : `trusts an issuer that others may run: ${issuer}: ${open.reason}`;
  return facts.aboutEntity(entity, {
    severity: open.isOutsiders ? "critical" : "high",
    field: `claimMatch.${field}`,
    message: `${labelEntity(entity)} ${what}`,
    ...counterexampleOf(open),
    details: [
      issuer === undefined ? `pattern: ${pattern ?? ""}` : `issuer: ${issuer}`,
      ...(grants.length === 0 ? [] : ["whoever runs such an issuer gets:", ...listGrants(grants)]),
    ],
    advice:
      "write the exact https address of an issuer on a domain of yours; at a service for many customers, with the part that names you",
  });
}

export const anyIssuer: Rule = {
  id: "T2",
  name: "any-issuer",
  severities: ["critical", "high", "medium"],
  when: "critical for a pattern that accepts an issuer of an outsider. High for an issuer that is not proven to be one owner's, is new, or is not in `--issuer-allow`. Medium for one that was trusted on other groups only, or only by what no given stack records",
  what: "An `issuer` or `issuerPattern` is not proven to be one owner's. Proven is an https address whose host is written out and belongs to one registered domain, by the public suffix list. The path may vary there. EKS, GKE, Okta, Auth0, Azure, S3 and others give each customer a host or a path: there it must name the customer. All else is reported: http, IP addresses, numbers, and hosts with letters of several alphabets. So is a host that varies, even below your own domain, and a pattern that cannot be judged. The finding shows an issuer that is accepted. With `--issuer-allow`, every issuer that it does not name is reported too. Without it, and with `--inventory`, an issuer is reported that no identity with a grant on that group, or above it, trusted before. The path counts: each can be another tenant. Not reported then: an issuer whose customers T7 judges, such as GitHub Actions.",
  why: "Whoever runs an issuer can sign any subject and any claim. A look-alike domain costs little, and its owner can then assume the identity.",
  fix: "Write the exact `issuer`. For several issuers, create an identity for each, or write out each host: `^https://(?:ci|sso)\\.acme\\.example$`.",
  except: "Never for a pattern. For an issuer that `--issuer-allow` does not name, add it there.",
  exampleMatch: {},
  needsBefore: false,
  about: isAssumable,
  find: (facts) => {
    const findings: FindingInput[] = [];
    for (const entity of identitiesToJudge(facts)) {
      const { claimMatch, staticKeys } = entity.inputs;
      const pattern = textAt(claimMatch, "issuerPattern");
      const issuer = textAt(claimMatch, "issuer") ?? textAt(staticKeys, "issuer") ?? pattern;
      const doubt = issuer === undefined ? undefined : doubtOfIssuer(facts, entity, issuer);
      const isAllowed = pattern === undefined && facts.options.issuerAllow.length > 0 && doubt === undefined;
      const open = isAllowed ? undefined : findOpenIssuer(facts, entity);
      if (open !== undefined) {
        findings.push(open);
        continue;
      }
      if (issuer === undefined || doubt === undefined) continue;
      findings.push(
        facts.aboutEntity(entity, {
          severity: doubt.severity,
          field: pattern === undefined ? "issuer" : "claimMatch.issuerPattern",
          message: `${labelEntity(entity)} trusts an issuer that ${doubt.message}: ${issuer}`,
          advice: doubt.advice,
        }),
      );
    }
    return findings;
  },
};

const CLAIM = "claimMatch.claims.";

/** The property that takes a pattern in place of an exact value. */
const patternFieldOf = (field: string): string =>
  field.startsWith(CLAIM) ? `claimMatch.claimPatterns.${field.slice(CLAIM.length)}` : `${field}Pattern`;

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
  for (const [name, value] of readClaimConditions(inputs["claimMatch"], "claims"))
    yield [`claimMatch.claims.${name}`, value];
}

/** Who receives the tokens that an identity accepts, where they are made for other services. */
function findReceivers(facts: Facts, accepted: string): readonly string[] {
  return otherAudiences
    .filter(({ audience }) => languagesOf(facts).intersects(accepted, anchored(audience)) === "yes")
    .map(({ receiver }) => receiver);
}

export const looseMatch: Rule = {
  id: "T6",
  name: "loose-audience",
  severities: ["medium", "low"],
  when: "medium for an audience pattern that other services match. Low for an audience of a known service, or a `*` in an exact value",
  what: "An `audiencePattern` accepts audiences of other services: any host, or any word. Or it is the audience of tokens for AWS, Azure, Google Cloud, Vault or Sigstore, or the default audience of GitHub Actions, Buildkite or Vercel. Or an exact value (`subject`, `issuer`, `arn`, a claim) contains a `*`, which is no wildcard there and matches nothing that an issuer signs.",
  why: "Tokens issued for another service are accepted too, so whoever receives such tokens can use them here. An identity with a `*` in an exact value never works, and is then often repaired with a pattern that is too wide.",
  fix: "Omit the audience, so that the issuer's host name applies, or give the exact `audience`. If a part must vary, use an anchored `subjectPattern`.",
  except: "For an issuer that cannot set the audience.",
  exampleMatch: {},
  needsBefore: false,
  about: isAssumable,
  find: (facts) => {
    const findings: FindingInput[] = [];
    for (const entity of identitiesToJudge(facts)) {
      const pattern = textAt(entity.inputs["claimMatch"], "audiencePattern");
      const open = judgePattern(facts, "audience", pattern, judgeAudience);
      if (open !== undefined) {
        findings.push(
          facts.aboutEntity(entity, {
            severity: "medium",
            field: "claimMatch.audiencePattern",
            message: `${labelEntity(entity)} accepts tokens issued for other services: audiencePattern ${describeOpenPattern(open)}`,
            ...counterexampleOf(open),
            details: [`pattern: ${pattern ?? ""}`],
            advice: "omit it, so that the issuer's host name applies, or give the exact audience",
          }),
        );
      }
      const audience = textAt(entity.inputs["claimMatch"], "audience");
      const accepted = audience === undefined ? pattern : exactPattern(audience);
      const receivers = open !== undefined || accepted === undefined ? [] : findReceivers(facts, accepted);
      if (receivers.length > 0) {
        const field = audience === undefined ? "audiencePattern" : "audience";
        findings.push(
          facts.aboutEntity(entity, {
            severity: "low",
            field: `claimMatch.${field}`,
            message: `${labelEntity(entity)} accepts tokens that are made for ${listFirst(receivers)}: ${field} ${JSON.stringify(audience ?? pattern)}`,
            advice:
              "omit it, so that the issuer's host name applies, or ask for an audience that no other service uses",
          }),
        );
      }
      for (const [field, value] of exactValues(entity)) {
        if (!value.includes("*")) continue;
        findings.push(
          facts.aboutEntity(entity, {
            severity: "low",
            field,
            message: `${labelEntity(entity)} can never be assumed: ${field} is compared exactly, and the * in ${JSON.stringify(value)} is no wildcard`,
            advice: `if a part must vary, use ${patternFieldOf(field)}, anchored with ^ and $`,
          }),
        );
      }
    }
    return findings;
  },
};
