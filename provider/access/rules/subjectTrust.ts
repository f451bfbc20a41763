import { servicesWithRuns } from "../trust/issuers";
import type { RunsOfService, SharedIssuer } from "../trust/issuers";
import type { PatternComparer } from "../trust/patternComparer";
import type { Entity } from "../graph/model";
import { findUntrustedRuns, requireText } from "../trust/untrustedRefs";
import type { Required } from "../trust/untrustedRefs";
import { labelEntity } from "./wording";
import { listFirst } from "../../text/plain";
import { MOST_OWNERS } from "../trust/judgement";
import type { TrustedOwner } from "../trust/judgement";
import { ownerBySubject } from "../graph/principals";
import type { Grant } from "../graph/grant";
import {
  acceptedText,
  fieldName,
  isOfTokens,
  isTrustDoubtful,
  pathOf,
  readClaimConditions,
  trustsOf,
} from "../graph/trust";
import type { Trust, TrustPart } from "../graph/trust";
import { rememberByFacts } from "./facts";
import type { Facts } from "./facts";
import type { FindingInput, Rule } from "./rule";
import { isAssumable } from "./rule";
import {
  counterexampleOf,
  describeOpenPattern,
  findOpenDomains,
  findOpenPrincipal,
  findOpenSubject,
  isSubjectUnjudged,
  issuersToPin,
  judgeIssuersOf,
  ownersByClaims,
  ownersBySubject,
  sharedIssuersOf,
} from "./openSubjects";
import type { OpenSubject } from "./openSubjects";
import { GITHUB_ORGANISATION } from "../trust/data/pins";
import { pinningClaims } from "../trust/ownedSubjects";
import { SUBJECT } from "../trust/data/sharedIssuers";
import { listGrantsHeld, trustsToJudge } from "./trustedIdentities";

function describeGrantsOf(facts: Facts, { key }: Entity): string[] {
  const grants = facts.heldThrough(key);
  return grants.length === 0 ? ["it has no grant yet"] : listGrantsHeld("whoever assumes it gets", grants);
}

function reportOpenSubject(facts: Facts, entity: Entity, found: OpenSubject): FindingInput {
  const { open, field, pattern, claims, advice } = found;
  const isNarrowed = claims.length > 0;
  const isCertain = open.isOutsiders && !isNarrowed;
  const isBound = facts.heldThrough(entity.key).length > 0;
  return facts.aboutEntity(entity, {
    severity: isBound && isCertain ? "critical" : "high",
    field,
    message: `${labelEntity(entity)} ${isCertain && open.example !== undefined ? "can" : "may"} be assumed by outsiders: ${field} ${describeOpenPattern(open)}`,
    ...counterexampleOf(open),
    details: [
      `pattern: ${pattern}`,
      ...(isNarrowed ? [`restricted by claims only: ${claims.join(", ")}`] : []),
      ...describeGrantsOf(facts, entity),
    ],
    advice,
  });
}

function reportOpenDomains(
  facts: Facts,
  entity: Entity,
  { pattern = "", patternPath, exactPath }: TrustPart,
  domains: readonly TrustedOwner[],
): FindingInput {
  const names = listFirst(domains.map(({ name }) => JSON.stringify(name)));
  return facts.aboutEntity(entity, {
    severity: "medium",
    field: patternPath,
    message: `${labelEntity(entity)} can be assumed by everybody of the mail domain ${names}`,
    details: [`pattern: ${pattern}`, ...describeGrantsOf(facts, entity)],
    advice: `name the accounts that need it (${fieldName(exactPath)}), or bind it to a role that all of the domain may have`,
  });
}

/** The example of advice, which is a pattern, and where to write it in place of an exact subject. */
function exampleFor(
  { example }: RunsOfService,
  { exact, exactPath, patternPath }: Partial<TrustPart> = {},
): string {
  const isForPattern = exact !== undefined && example.startsWith("^");
  return `${JSON.stringify(example)}${isForPattern ? ` in ${patternPath ?? ""} in place of ${exactPath ?? ""}` : ""}`;
}

export const anySubject: Rule = {
  id: "T1",
  name: "any-subject",
  severities: ["critical", "high", "medium"],
  when: "critical for a subject of an outsider that is known, or for a pattern that cannot be judged, at an identity with a grant. High without a grant, with claims of an unknown issuer, or where nothing proves that outsiders are excluded. Medium where everybody of one mail domain is accepted",
  what: "A `subjectPattern`, or `arnPattern` and `userIdPattern` together, is not proven to pin its owners. Proven are the forms of a table that name an owner, if the pattern writes out each one. At GitHub Actions that is `repo:acme/…`, and so on for each known issuer. So `acme[0-9]` is reported, because anyone can register `acme7`; `(acme|globex)` is not. At an issuer of your own, proven are subjects that are written out. So are namespaces of Kubernetes, trust domains of SPIFFE, and mail domains that are no public mail host. So are, at the issuers of their owners, a project of CircleCI, Semaphore or Vercel, and a repository of Bitbucket. So are a stack of Spacelift and an application of Fly.io there. Where users have accounts of a service, as at Auth0, Okta, Cognito, Firebase and Microsoft Entra, only whole subjects are proven. There the operator may let everybody sign up. All else is reported, with a text that the pattern accepts: no anchors, a dot that is not escaped, `^user-.*$`. A pattern that cannot be judged is reported as well: it is too long, invalid or takes too many steps. So is one that asks for the edges of words or lines (`\\b`, `(?m)^`). The rule checks identities that are created or changed, and unchanged ones that gain a grant or begin to write. Not reported: a wildcard within your own organisation (T4 checks branches and pull requests), and a pattern that an exact claim restricts to an owner.",
  why: "A pattern may match anywhere in the subject, so one without `^` and `$` accepts every string that contains it. Whoever can make the issuer sign such a subject gets all access of the identity.",
  fix: "Write the exact `subject`. If it must vary, anchor the whole pattern, put alternatives in a group, and let only the last part vary: `^repo:acme/pay:ref:refs/heads/(?:main|release-[0-9]+)$`.",
  except: "Almost never: only if the issuer is your own and everyone who can sign in there is meant.",
  about: isAssumable,
  *find(facts) {
    for (const { entity, trust } of trustsToJudge(facts)) {
      const found = findOpenSubject(facts, trust) ?? findOpenPrincipal(facts, trust);
      if (found !== undefined) {
        yield reportOpenSubject(facts, entity, found);
        continue;
      }
      if (trust.subject === undefined || !isOfTokens(trust)) continue;
      const domains = findOpenDomains(facts, trust);
      if (domains.length > 0) yield reportOpenDomains(facts, entity, trust.subject, domains);
    }
  },
};

export const sharedIssuer: Rule = {
  id: "T3",
  name: "shared-issuer",
  severities: ["high"],
  when: "always",
  what: "An identity trusts an issuer that signs tokens for many customers, and neither its subject nor a claim names an organisation or repository. Such issuers are GitHub Actions, GitLab.com, Buildkite, HCP Terraform, Google, Vercel, Codefresh, Pulumi Cloud and Pulumi ESC. Claims that any customer can set, such as `ref`, `environment`, `workflow` and `actor`, do not restrict it. Nor does `job_workflow_ref` or `ci_config_ref_uri`: everybody can run what is public. Nor does `azp` of Google: everybody can use a public client.",
  why: "Every customer of that service gets tokens from the same issuer. Anyone can name an environment `production`.",
  fix: "Name the organisation in the subject (`repo:acme/pay:…`), or in an exact claim such as `repository_owner_id`. A numeric id is safer than a name, which can be given up and registered by others.",
  except: "Never while the issuer serves other customers.",
  about: isAssumable,
  *find(facts) {
    for (const { entity, trust } of trustsToJudge(facts)) {
      // Of tokens that are signed with what their issuer publishes, its customers matter.
      if (!isOfTokens(trust)) continue;
      const issuers = issuersToPin(facts, trust);
      if (ownersBySubject(facts, trust, issuers) !== undefined) continue;
      const [vendor] = issuers;
      // T1 reports what cannot be judged.
      if (vendor === undefined || isSubjectUnjudged(facts, trust, issuers)) continue;
      const claims = readClaimConditions(trust, "exact").map(([name]) => name);
      yield facts.aboutEntity(entity, {
        severity: "high",
        ...(trust.subject && { field: pathOf(trust.subject) }),
        message: `${labelEntity(entity)} trusts ${vendor.name}, which signs tokens for all its customers, but names no ${vendor.owner}`,
        details: [
          `subject: ${acceptedText(trust.subject) ?? ""}`,
          ...(claims.length > 0 ? [`claims that any customer can set: ${claims.join(", ")}`] : []),
        ],
        advice: `name the ${vendor.owner} in the subject, as in ${exampleFor(vendor, trust.subject)}, or by the claim ${pinningClaims(vendor).slice(0, 2).join(" or ")}`,
      });
    }
  },
};

/** The runs of a CI system that an identity accepts although nobody has reviewed what they run. */
interface UntrustedRuns {
  readonly part: TrustPart;
  /** The subject or the pattern, as the program writes it. */
  readonly accepted: string;
  readonly vendor: RunsOfService;
  /** As in "pull requests". */
  readonly runs: readonly string[];
  readonly example: string | undefined;
  /** The owners that a pattern names. */
  readonly owners: readonly string[];
}

function findUntrustedRunsOf(facts: Facts, trust: Trust): UntrustedRuns | undefined {
  const { exact: subject } = trust.subject ?? {};
  const accepted = acceptedText(trust.subject);
  if (!isOfTokens(trust) || trust.subject === undefined || accepted === undefined) return undefined;
  // What any outsider can be is reported by T1.
  if (subject === undefined && findOpenSubject(facts, trust) !== undefined) return undefined;
  const { comparer } = facts;
  const known = sharedIssuersOf(facts, trust);
  const owners = namedOwners(facts, trust, known);
  // A trust that names no owner is reported by T3.
  if (known.length > 0 && owners.length === 0) return undefined;
  const vendors: readonly RunsOfService[] =
    known.length > 0 ? known : [issuerWithSubjectsLike(comparer, subject, accepted) ?? []].flat();
  const required: Required =
    subject === undefined ? { part: SUBJECT, pattern: accepted } : requireText(SUBJECT, subject);
  const claims: readonly Required[] = [
    ...readClaimConditions(trust, "exact").map(([name, value]) => requireText(name, value)),
    ...readClaimConditions(trust, "patterns").map(([part, pattern]) => ({ part, pattern })),
  ];
  const organisations = owners.filter(({ what }) => what === GITHUB_ORGANISATION);
  const names = known.length > 0 ? organisations.map(({ name }) => name.split("@", 1)[0] ?? "") : undefined;
  const found = vendors.flatMap((vendor) =>
    findUntrustedRuns(comparer, vendor, required, claims, names).map((runs) => ({ ...runs, vendor })),
  );
  const [first] = found;
  if (first === undefined) return undefined;
  return {
    part: trust.subject,
    accepted,
    vendor: first.vendor,
    runs: [...new Set(found.map(({ what }) => what))],
    example: first.example,
    owners: subject === undefined ? owners.map(({ name }) => name) : [],
  };
}

function reportUntrustedRuns(facts: Facts, entity: Entity, found: UntrustedRuns): FindingInput {
  const { part, accepted, vendor, runs, example, owners } = found;
  const grants = facts.heldThrough(entity.key);
  const canWrite = grants.some(({ role }) => facts.roles.mayWrite(role));
  return facts.aboutEntity(entity, {
    severity: canWrite ? "high" : "medium",
    field: pathOf(part),
    message: `${labelEntity(entity)} can be assumed by ${new Intl.ListFormat("en-GB").format(runs)}${example === undefined ? "" : `: it accepts ${JSON.stringify(example)}`}`,
    counterexample: example,
    details: [
      `subject: ${accepted}`,
      ...(owners.length > 1 ? [`owners: ${owners.join(", ")}`] : []),
      ...describeGrantsOf(facts, entity),
    ],
    advice: `${canWrite || grants.length === 0 ? "" : "if it is for what nobody has reviewed yet, leave it to roles that only read, and accept it; else "}pin the branch or a protected environment, as in ${exampleFor(vendor, part)}`,
  });
}

export const pullRequestRef: Rule = {
  id: "T4",
  name: "pull-request-ref",
  severities: ["high", "medium"],
  when: "high if the identity has a write capability, or if the capabilities of its role are unknown; otherwise medium",
  what: "An identity accepts runs of a CI service, and nothing proves that somebody reviewed what they run. Proven are branches, tags and environments that the subject or a claim names, of at most nine names. A new environment has no protection. At GitHub Actions `ref_protected`, a scheduled run, and a `workflow_ref` at a branch or tag prove it too. So does a `job_workflow_ref` of the same owner. A customised subject without any of these, as `repo:acme/pay` and `repository_owner:acme`, is open to every pull request. So is a trust that asks for an event of pull requests. At GitLab CI `ref_protected` and `environment_protected` prove it. At HCP Terraform and Spacelift runs that apply do, and at Pulumi Cloud those of stacks that are named. At Vercel all environments but previews and development do, and at Bitbucket a named environment of a deployment. Jobs of CircleCI need a `vcs-ref`; runs of Azure DevOps and Harness need a claim. Unknown, and not reported: who deploys what runs at Fly.io, in a cluster, or as an account of Google. Without a `$` the pattern accepts every name that starts like the intended one. Not reported: a number after fixed words (`release-[0-9]+`), and what T1 and T3 report.",
  why: "Whoever can push a branch or open a pull request writes the workflow that runs. It acts as the identity before anyone has reviewed a line.",
  fix: "Pin the branch or, better, a protected environment: `repo:acme/pay:environment:production`. Use a second identity with a read-only role for pull requests.",
  except: "For an identity that only reads what pull requests need.",
  about: isAssumable,
  *find(facts) {
    for (const { entity, trust } of trustsToJudge(facts)) {
      const runs = findUntrustedRunsOf(facts, trust);
      if (runs !== undefined) yield reportUntrustedRuns(facts, entity, runs);
    }
  },
};

/** Whether a pattern of subjects writes out each repository, project or subject: of AWS, T1 asks for the role. */
function listsOwners(comparer: PatternComparer, trust: Trust): boolean {
  const pattern = trust.subject?.pattern;
  if (trust.account !== undefined || pattern === undefined) return true;
  if (!ownerBySubject(trust).isStart) return true;
  const subjects = comparer.names(pattern, { before: "", name: "(?s:.*)", after: "" }, MOST_OWNERS);
  return subjects !== "tooLarge" && subjects.unwritten === undefined;
}

/** Whether whoever can assume an identity is proven to be of the owners that it lists, in runs that somebody has reviewed. */
function isProvenPinned(facts: Facts, trust: Trust): boolean {
  const shared = issuersToPin(facts, trust);
  return (
    listsOwners(facts.comparer, trust) &&
    (trust.issuer === undefined || judgeIssuersOf(facts, trust)?.kind === "pinned") &&
    (shared.length === 0 || ownersBySubject(facts, trust, shared) !== undefined) &&
    findOpenSubject(facts, trust) === undefined &&
    findOpenPrincipal(facts, trust) === undefined &&
    findOpenDomains(facts, trust).length === 0 &&
    findUntrustedRunsOf(facts, trust) === undefined
  );
}

/** Whether a grant reaches the whole organisation, or several principals may be its subject. */
export function hasWideReach(facts: Facts, { group, subject }: Pick<Grant, "group" | "subject">): boolean {
  return group.isRoot || (subject.matchesMany && mayBeSeveral(facts, subject.key));
}

/** An identity may have thousands of grants, and each comparison of its pattern uses up steps that a review is limited to. */
const mayBeSeveral = rememberByFacts((facts, key: string): boolean => {
  const entity = facts.entity(key);
  const isJudged = entity !== undefined && isAssumable(entity.kind) && !isTrustDoubtful(entity);
  const trusts = isJudged ? trustsOf(entity) : [];
  return trusts.length !== 1 || !trusts.every((trust) => isProvenPinned(facts, trust));
});

/** An issuer of one's own may write subjects as a known one does: a GitHub Enterprise Server, a GitLab. */
function issuerWithSubjectsLike(
  comparer: PatternComparer,
  subject: string | undefined,
  pattern: string,
): RunsOfService | undefined {
  return servicesWithRuns.find(({ unreviewed, subjectPrefix }) => {
    const start = `\\A(?:${subjectPrefix})`;
    if (unreviewed.length === 0) return false;
    return subject === undefined
      ? comparer.isSubset(pattern, start) === "yes"
      : comparer.matches(start, subject);
  });
}

/** The owners that the subject pins, or else the claims. */
function namedOwners(facts: Facts, trust: Trust, issuers: readonly SharedIssuer[]): readonly TrustedOwner[] {
  return (
    ownersBySubject(facts, trust, issuers) ??
    issuers.flatMap((issuer) => ownersByClaims(facts, trust, issuer).flat())
  );
}
