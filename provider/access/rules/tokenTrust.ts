import { addressMatches, addressPattern } from "../trust/addressGlob";
import type { Entity } from "../graph/model";
import { judgeIssuer, judgeAudience } from "../trust/ownedIssuers";
import { textAt } from "./inputValues";
import { labelEntity } from "./wording";
import { knownIssuerOf } from "../trust/issuers";
import type { Facts } from "./facts";
import type { FindingInput } from "./findingInput";
import { isAssumable } from "./kindConditions";
import type { Rule } from "./rule";
import { judge, describeOpenPattern, counterexampleOf, languagesOf } from "./openPatterns";
import { identitiesToJudge, listGrants, readClaimConditions } from "./trustedIdentities";

/** The exact issuers whose tokens an identity accepts. */
const issuersOf = ({ inputs }: Entity): (string | undefined)[] => [
  textAt(inputs["claimMatch"], "issuer"),
  textAt(inputs["staticKeys"], "issuer"),
];

/** Whether nobody in the organisation trusts an issuer yet, and it is none of a vendor whose tokens the rules judge. */
function isNewIssuer({ comparison: { before, inventory, drift } }: Facts, issuer: string): boolean {
  // Drift reports each identity that no program declares, whatever it trusts.
  if (inventory === undefined || drift !== undefined || knownIssuerOf(issuer) !== undefined) return false;
  return ![...before.entities.values()].some((entity) => issuersOf(entity).includes(issuer));
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
  issuer: string,
  isExact: boolean,
): Pick<FindingInput, "message" | "advice"> | undefined {
  if (isAllowedIssuer(facts, issuer, isExact)) return undefined;
  if (facts.options.issuerAllow.length > 0)
    return {
      message: "--issuer-allow does not name",
      advice: "use an issuer that --issuer-allow names, or add this one to it",
    };
  if (!isExact || !isNewIssuer(facts, issuer)) return undefined;
  return {
    message: "no identity of the organisation trusts yet",
    advice:
      "find out who runs the issuer, compare its address letter by letter, then name it with --issuer-allow",
  };
}

export const anyIssuer: Rule = {
  id: "T2",
  name: "any-issuer",
  severities: ["critical", "high"],
  when: "critical for a pattern that accepts issuers others can run; high for an issuer that is new or not in `--issuer-allow`",
  what: "An `issuerPattern` accepts an issuer that others can run: its dots are not escaped, it is not anchored, or a wildcard accepts another host. `.*` also matches slashes, and `https://*.acme.com` is a shell pattern that means something else as a regular expression. The registered domain of the host, by the public suffix list, must be fixed: `[a-z]+\\.github\\.io` is reported. At services that give each customer a host or a path, the customer must be fixed too: EKS, GKE, Okta, Auth0, Azure, S3 and others. The finding shows an issuer that the pattern accepts. With `--issuer-allow`, every issuer that it does not name is reported too. Without it, and with `--inventory`, an issuer is reported that no identity of the organisation trusts yet. Not reported then: an issuer of a vendor whose subjects these rules judge, such as GitHub Actions.",
  why: "Whoever runs an issuer can sign any subject and any claim. A look-alike domain costs little, and its owner can then assume the identity.",
  fix: "Write the exact `issuer`. For several issuers, create an identity for each, or anchor and escape the pattern: `^https://[a-z0-9-]+\\.acme\\.example$`.",
  except: "Never for a pattern. For an issuer that `--issuer-allow` does not name, add it there.",
  exampleMatch: { issuer: "https://oidc.partner.example" },
  needsBefore: false,
  about: isAssumable,
  find: (facts) => {
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
            message: `${labelEntity(entity)} trusts issuers that others can run: issuerPattern ${describeOpenPattern(open)}`,
            ...counterexampleOf(open),
            details: [
              `pattern: ${pattern ?? ""}`,
              ...(grants.length === 0 ? [] : ["whoever runs such an issuer gets:", ...listGrants(grants)]),
            ],
            advice:
              'write the exact issuer, or an anchored pattern with escaped dots: "^https://[a-z0-9-]+\\\\.acme\\\\.example$"',
          }),
        );
        continue;
      }
      const issuer = textAt(claimMatch, "issuer") ?? textAt(staticKeys, "issuer") ?? pattern;
      if (issuer === undefined) continue;
      const doubt = doubtOfIssuer(facts, issuer, pattern === undefined);
      if (doubt === undefined) continue;
      findings.push(
        facts.aboutEntity(entity, {
          severity: "high",
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

export const looseMatch: Rule = {
  id: "T6",
  name: "loose-audience",
  severities: ["medium", "low"],
  when: "medium for an audience pattern that accepts audiences of other services; low for a `*` in an exact value",
  what: "An `audiencePattern` accepts audiences of other services: any host, or any word. Or an exact value (`subject`, `issuer`, `arn`, a claim) contains a `*`, which is no wildcard there and matches nothing that an issuer signs.",
  why: "Tokens issued for another service are accepted too, so whoever receives such tokens can use them here. An identity with a `*` in an exact value never works, and is then often repaired with a pattern that is too wide.",
  fix: "Omit the audience, so that the issuer's host name applies, or give the exact `audience`. If a part must vary, use an anchored `subjectPattern`.",
  except: "For an issuer that cannot set the audience.",
  exampleMatch: { issuer: "https://legacy-ci.acme.example" },
  needsBefore: false,
  about: isAssumable,
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
            message: `${labelEntity(entity)} accepts tokens issued for other services: audiencePattern ${describeOpenPattern(open)}`,
            ...counterexampleOf(open),
            details: [`pattern: ${pattern ?? ""}`],
            advice: "omit it, so that the issuer's host name applies, or give the exact audience",
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
