import { globMatches } from "../trust/glob";
import type { Entity } from "../graph/model";
import { judgeIssuer, judgeAudience } from "../trust/ownedIssuers";
import { textAt } from "./inputValues";
import { labelOf } from "./wording";
import type { FindingInput } from "./findingInput";
import type { Rule } from "./rule";
import { judge, describeOpenPattern, counterexampleOf } from "./openPatterns";
import { identitiesToJudge, listGrants, claimsOf } from "./trustedIdentities";

export const anyIssuer: Rule = {
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

export const looseMatch: Rule = {
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
