import { addressMatches, addressPattern } from "../trust/glob";
import type { Entity } from "../graph/model";
import { otherAudiences } from "../trust/data/audiences";
import { anchored, exactPattern } from "../trust/patternComparer";
import { SERVICE, judgeAudience, judgeIssuer } from "../trust/ownedIssuers";
import { acceptedText, fieldName, isOfTokens, pathOf, trustsOf } from "../graph/trust";
import type { Trust } from "../graph/trust";
import { labelEntity } from "./wording";
import { rememberByFacts } from "./facts";
import type { Facts, KnownBy } from "./facts";
import type { FindingInput, Rule } from "./rule";
import { isAssumable } from "./rule";
import { KnownBefore, isCustomer } from "./trustedOwners";
import { counterexampleOf, describeOpenPattern, judgeIssuersOf, judgePattern } from "./openSubjects";
import { boundBefore, listGrantsHeld, trustsToJudge } from "./trustedIdentities";
import { findPatternSign, listFirst } from "../../text/plain";

/** The pattern of the issuers whose tokens are accepted; undefined for a trust that accepts no tokens. */
function issuerPatternOf({ issuer }: Trust): string | undefined {
  return issuer?.exact === undefined ? issuer?.pattern : exactPattern(issuer.exact);
}

/** What is said of an issuer that is not known. */
const NEWNESS = {
  new: "no identity with a grant trusted before",
  elsewhere: "identities with a grant trusted before only on other groups",
  byHand: "only identities and grants that no given stack records trusted before",
} as const;

/** Where identities with a grant trusted an issuer before, if T7 does not judge whose its tokens are. */
function newnessOfIssuer(facts: Facts, entity: Entity, trust: Trust): keyof typeof NEWNESS | undefined {
  const { inventories, drift } = facts.comparison;
  // Drift reports each identity that no program declares, whatever it trusts.
  if (inventories.length === 0 || drift !== undefined || trust.hasKeys) return undefined;
  const judged = judgeIssuersOf(facts, trust);
  // What is not proven to be one owner's is a finding of its own.
  if (judged?.kind !== "pinned") return undefined;
  if (judged.owners.every((owner) => owner.what === SERVICE || isCustomer(owner))) return undefined;
  const accepted = issuerPatternOf(trust) ?? "";
  const isCovered = (patterns: readonly string[]): boolean =>
    patterns.includes(accepted) ||
    (patterns.length > 0 &&
      facts.comparer.acceptsAllOf(patterns.map((each) => `(?:${each})`).join("|"), accepted) === "yes");
  const groups = new Set(facts.heldThrough(entity.key).map(({ group }) => group.key));
  const known = knownIssuers(facts, "anybody");
  if (!isCovered(known.values())) return "new";
  const isKnownThere = [...groups].every((group) =>
    isCovered(known.values().filter((pattern) => known.isKnownAt(pattern, group))),
  );
  if (!isKnownThere) return "elsewhere";
  return isCovered(knownIssuers(facts, "stacks").values()) ? undefined : "byHand";
}

/**
 * The patterns of the issuers that identities with a grant trusted before. Whoever holds registered keys writes any issuer
 * beside them, which says nothing of the tokens of that issuer: T7 judges whose keys these are.
 */
const knownIssuers = rememberByFacts((facts, by: KnownBy): KnownBefore => {
  const found = new KnownBefore(facts);
  for (const { entity, groups } of boundBefore(facts, by)) {
    for (const trust of trustsOf(entity)) {
      const pattern = issuerPatternOf(trust);
      // A pattern that others can meet would make them all known.
      const isPinned = trust.issuer?.exact !== undefined || judgeIssuersOf(facts, trust)?.kind === "pinned";
      if (!trust.hasKeys && pattern !== undefined && isPinned) found.add(pattern, groups);
    }
  }
  return found;
});

/** Whether `--issuer-allow` names an issuer, or all that a pattern accepts. */
function isAllowedIssuer(facts: Facts, issuer: string, isExact: boolean): boolean {
  return facts.options.issuerAllow.some((glob) => {
    if (isExact) return addressMatches(glob, issuer);
    const allowed = addressPattern(glob);
    return allowed !== undefined && facts.comparer.isSubset(issuer, allowed) === "yes";
  });
}

/** The issuers that identities with a grant trusted before: a list of those that are allowed needs them too. */
const issuersInUse = rememberByFacts((facts, by: KnownBy): readonly string[] => {
  const trusts = boundBefore(facts, by).flatMap(({ entity }) => trustsOf(entity));
  return [...new Set(trusts.flatMap(({ issuer, hasKeys }) => (hasKeys ? [] : (issuer?.exact ?? []))))].sort();
});

/** Why an issuer needs a look; undefined where it needs none. */
function doubtOfIssuer(
  facts: Facts,
  entity: Entity,
  trust: Trust,
  issuer: string,
): Pick<FindingInput, "severity" | "message" | "advice"> | undefined {
  const isExact = trust.issuer?.pattern === undefined;
  if (isAllowedIssuer(facts, issuer, isExact)) return undefined;
  if (facts.options.issuerAllow.length > 0)
    return {
      severity: "high",
      message: "--issuer-allow does not name",
      advice: "use an issuer that --issuer-allow names, or add this one to it",
    };
  const newness = newnessOfIssuer(facts, entity, trust);
  if (newness === undefined) return undefined;
  const others = issuersInUse(facts, "anybody").filter((each) => each !== issuer);
  const beside =
    others.length === 0 ? "" : `, together with the issuers in use that you trust (${listFirst(others, 10)})`;
  return {
    severity: newness === "new" ? "high" : "medium",
    message: NEWNESS[newness],
    advice: `find out who runs the issuer, and that nobody else can have an account there; compare its address letter by letter, then name it with --issuer-allow or settings.issuerAllow${beside}: every issuer that the list lacks is reported from then on`,
  };
}

/** An issuer that is not proven to be one owner's. */
function findOpenIssuer(facts: Facts, entity: Entity, trust: Trust): FindingInput | undefined {
  if (trust.issuer === undefined || !isOfTokens(trust)) return undefined;
  const issuer = trust.issuer.exact;
  const pattern = issuerPatternOf(trust);
  const open = judgePattern(facts, "issuer", pattern, judgeIssuer);
  if (open === undefined) return undefined;
  const grants = facts.heldThrough(entity.key);
  const field = pathOf(trust.issuer);
  const what =
    issuer === undefined
      ? `trusts issuers that others ${open.example !== undefined && open.isOutsiders ? "can" : "may"} run: ${fieldName(field)} ${describeOpenPattern(open)}`
      : `trusts an issuer that others may run: ${issuer}: ${open.reason}`;
  return facts.aboutEntity(entity, {
    severity: open.isOutsiders ? "critical" : "high",
    field,
    message: `${labelEntity(entity)} ${what}`,
    ...counterexampleOf(open),
    details: [
      issuer === undefined ? `pattern: ${pattern ?? ""}` : `issuer: ${issuer}`,
      ...listGrantsHeld("whoever runs such an issuer gets", grants),
    ],
    advice:
      "write the exact https address of an issuer on a domain of yours; at a service for many customers, with the part that names you",
  });
}

export const anyIssuer: Rule = {
  id: "T2",
  name: "any-issuer",
  severities: ["critical", "high", "medium"],
  when: "critical for a pattern that accepts an issuer of an outsider, or that cannot be judged. High for an issuer that is not proven to be one owner's, is new, or is not in `--issuer-allow`. Medium for one that was trusted on other groups only, or only by what no given stack records",
  what: "An `issuer` or `issuerPattern` is not proven to be one owner's. Proven is an https address whose host is written out and belongs to one registered domain, by the public suffix list. The path may vary there. EKS, GKE, Okta, Auth0, Azure, S3 and others give each customer a host or a path: there it must name the customer. All else is reported: http, IP addresses, numbers, and hosts with letters of several alphabets. So is a host that varies, even below your own domain, and a pattern that cannot be judged. The finding shows an issuer that is accepted. With `--issuer-allow`, every issuer that it does not name is reported too. Without it, and with `--inventory`, an issuer is reported that no identity with a grant on that group, or above it, trusted before. The path counts: each can be another tenant. Not reported then: an issuer whose customers T7 judges, such as GitHub Actions, and one beside registered keys, which T7 judges too.",
  why: "Whoever runs an issuer can sign any subject and any claim. A look-alike domain costs little, and its owner can then assume the identity.",
  fix: "Write the exact `issuer`. For several issuers, create an identity for each, or write out each host: `^https://(?:ci|sso)\\.acme\\.example$`.",
  except:
    "Never for a pattern. For an issuer that `--issuer-allow` does not name, add it there, with all others that identities trust: the list is complete once it exists.",
  about: isAssumable,
  *find(facts) {
    for (const { entity, trust } of trustsToJudge(facts)) {
      if (trust.issuer === undefined) continue;
      const { pattern, patternPath, exactPath } = trust.issuer;
      const issuer = acceptedText(trust.issuer);
      const doubt = issuer === undefined ? undefined : doubtOfIssuer(facts, entity, trust, issuer);
      const isAllowed = pattern === undefined && facts.options.issuerAllow.length > 0 && doubt === undefined;
      const open = isAllowed ? undefined : findOpenIssuer(facts, entity, trust);
      if (open !== undefined) {
        yield open;
        continue;
      }
      if (issuer === undefined || doubt === undefined) continue;
      yield facts.aboutEntity(entity, {
        severity: doubt.severity,
        field: pattern === undefined ? fieldName(exactPath) : patternPath,
        message: `${labelEntity(entity)} trusts an issuer that ${doubt.message}: ${issuer}`,
        advice: doubt.advice,
      });
    }
  },
};

/** Values that are compared exactly, so that a star in them is a star, and where a pattern in their place would stand. */
function exactValues({ issuer, subject, audience, arn, userId, claims }: Trust) {
  const parts = [issuer, subject, audience, arn, userId].flatMap((part) =>
    part?.exact === undefined
      ? []
      : [
          {
            value: part.exact,
            path: part.exactPath,
            patternPath: part.patternPath === part.exactPath ? undefined : part.patternPath,
          },
        ],
  );
  const exactClaims = claims.flatMap(({ value, path, patternPath, isPattern }) =>
    typeof value === "string" && !isPattern ? [{ value, path, patternPath }] : [],
  );
  return [...parts, ...exactClaims];
}

/** Who receives the tokens that an identity accepts, where they are made for other services. */
function findReceivers(facts: Facts, accepted: string): readonly string[] {
  return otherAudiences
    .filter(({ audience }) => facts.comparer.intersects(accepted, anchored(audience)) === "yes")
    .map(({ receiver }) => receiver);
}

export const looseMatch: Rule = {
  id: "T6",
  name: "loose-audience",
  severities: ["medium", "low"],
  when: "medium for an audience pattern that other services match. Low for an audience of a known service, or a `*` or a leading `^` in an exact value",
  what: "An `audiencePattern` accepts audiences of other services: any host, or any word. Or it is the audience of tokens for AWS, Azure, Google Cloud, Vault or Sigstore, or the default audience of GitHub Actions, Buildkite or Vercel. Or an exact value (`subject`, `issuer`, `arn`, a claim) contains a `*` or begins with `^`. Neither means anything there, so it matches nothing that an issuer signs.",
  why: "Tokens issued for another service are accepted too, so whoever receives such tokens can use them here. An identity with such an exact value never works, and is then often repaired with a pattern that is too wide.",
  fix: "Omit the audience, so that the issuer's host name applies, or give the exact `audience`. If a part must vary, use an anchored `subjectPattern`.",
  except: "For an issuer that cannot set the audience.",
  about: isAssumable,
  *find(facts) {
    for (const { entity, trust } of trustsToJudge(facts)) {
      const { exact: audience, pattern, patternPath = "" } = trust.audience ?? {};
      const open = judgePattern(facts, "audience", pattern, judgeAudience);
      if (open !== undefined) {
        yield facts.aboutEntity(entity, {
          severity: "medium",
          field: patternPath,
          message: `${labelEntity(entity)} accepts tokens issued for other services: ${fieldName(patternPath)} ${describeOpenPattern(open)}`,
          ...counterexampleOf(open),
          details: [`pattern: ${pattern ?? ""}`],
          advice: "omit it, so that the issuer's host name applies, or give the exact audience",
        });
      }
      const accepted = audience === undefined ? pattern : exactPattern(audience);
      const receivers = open !== undefined || accepted === undefined ? [] : findReceivers(facts, accepted);
      if (trust.audience !== undefined && receivers.length > 0) {
        const field = pathOf(trust.audience);
        yield facts.aboutEntity(entity, {
          severity: "low",
          field,
          message: `${labelEntity(entity)} accepts tokens that are made for ${listFirst(receivers)}: ${fieldName(field)} ${JSON.stringify(audience ?? pattern)}`,
          advice:
            "omit it, so that the issuer's host name applies, or ask for an audience that no other service uses",
        });
      }
      for (const { value, path: field, patternPath: patternField } of exactValues(trust)) {
        const sign = findPatternSign(value);
        if (sign === undefined) continue;
        yield facts.aboutEntity(entity, {
          severity: "low",
          field,
          message: `${labelEntity(entity)} is hardly what is meant: ${field} is compared exactly, and the ${sign} in ${JSON.stringify(value)} stands for itself`,
          advice: `write the value without ^, $ and *; if a part must vary, ${patternField === undefined ? "create an identity for each value" : `use ${patternField}, anchored with ^ and $`}`,
        });
      }
    }
  },
};
