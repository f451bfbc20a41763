import { RE2JS } from "re2js";
import { getPublicSuffix } from "tldts";
import { formOf, judgeForm, judgeForms, judgeWithin, MOST_OWNERS, openJudgement } from "./judgement";
import type { PatternJudgement, OwnedForm } from "./judgement";
import { anchored } from "./languages";
import type { Languages, SegmentSpec } from "./languages";
import { INTRUDER } from "./ownedSubjects";

const VISIBLE = "[^\\x00-\\x20\\x7f]";
const LABEL = "[A-Za-z0-9_-]+";
const TOP_LEVEL = "(?:[A-Za-z]{2,}|xn--[A-Za-z0-9-]+)";
const USER = "(?:[^/?#@\\x00-\\x20\\x7f]*@)?";
const REST = `(?::[0-9]+)?(?:[/?#]${VISIBLE}*)?`;
const STRANGER = `${INTRUDER}\\.example`;

/** Addresses that a stranger can serve, the easiest to read first. */
const EXAMPLES = [
  `https://${STRANGER}`,
  `https://(?:[a-z0-9-]+\\.)*${STRANGER}`,
  `https://(?:[a-z0-9-]+\\.)*${STRANGER}/${VISIBLE}*`,
  `https://(?:[a-z0-9-]+\\.)*${LABEL}${INTRUDER}\\.${TOP_LEVEL}(?:/${VISIBLE}*)?`,
  `https://${USER}(?:[a-z0-9-]+\\.)*${STRANGER}${REST}`,
];

/** The part of a host that is registered, below a suffix; the last two labels without one. */
function registrableDomain(before: string, suffix: string, after: string): SegmentSpec {
  const name = suffix === "" ? `${LABEL}\\.${TOP_LEVEL}` : `${LABEL}\\.${RE2JS.quote(suffix)}`;
  return { before: `${before}(?:${LABEL}\\.)*`, name, after, ignoresCase: true };
}

/** Names below which anyone can register names: `co.uk`, `github.io`. */
function isPublicSuffix(name: string): boolean {
  return getPublicSuffix(name, { allowPrivateDomains: true }) === name;
}

const DEEPEST_SUFFIX = 5;

/** Judges whether outsiders can register hosts that a pattern matches. */
function judgeHosts(
  languages: Languages,
  pattern: string,
  before: string,
  after: string,
  examples: readonly string[],
): PatternJudgement {
  const domains = new Set<string>();
  let suffixes = [""];
  for (let depth = 0; depth < DEEPEST_SUFFIX && suffixes.length > 0; depth += 1) {
    const following: string[] = [];
    for (const suffix of suffixes) {
      const form = formOf(registrableDomain(before, suffix, after), examples);
      const judged = judgeForm(languages, pattern, form);
      if (judged.kind === "open" || judged.kind === "unjudged") return judged;
      if (judged.kind === "unrelated") continue;
      for (const name of judged.names) {
        if (isPublicSuffix(name)) following.push(name);
        else domains.add(name);
      }
    }
    suffixes = following;
  }
  if (domains.size > MOST_OWNERS) return openJudgement(languages, pattern, undefined);
  return domains.size === 0 ? { kind: "unrelated" } : { kind: "pinned", names: [...domains] };
}

const addressForm = formOf(
  {
    before: `https://${USER}`,
    name: "[0-9]{1,3}(?:\\.[0-9]{1,3}){3}|\\[[0-9a-fA-F:.]+\\]",
    after: REST,
  },
  ["https://203\\.0\\.113\\.1", "https://[0-9]{2}(?:\\.[0-9]{2}){3}"],
);

/** An address below a host that serves many customers, each under a path of its own. */
function inPath(host: string, path: string, name?: string): OwnedForm {
  const owner = {
    before: `https://${host}/${path}`,
    name: name ?? "[^/?#\\x00-\\x20\\x7f]+",
    after: `(?:[/?#]${VISIBLE}*)?`,
  };
  return formOf(owner, name === undefined ? [`${owner.before}${INTRUDER}(?:/${VISIBLE}*)?`] : []);
}

/** An address whose host begins with the name of a customer. */
const inHost = (host: string): OwnedForm =>
  formOf(
    { before: "https://", name: "[A-Za-z0-9-]+", after: `\\.${host}(?:/${VISIBLE}*)?`, ignoresCase: true },
    [`https://${INTRUDER}\\.${host}(?:/${VISIBLE}*)?`],
  );

const HEX = "[0-9A-Fa-f]+";
const GUID = "[0-9A-Za-z.-]+";
const REGION = "[a-z0-9-]+";
const AWS = "amazonaws\\.com(?:\\.cn)?";

/** Issuers of which each customer has a part, and services on which anyone can publish the files of an issuer. */
const tenantForms: readonly OwnedForm[] = [
  inPath(`oidc\\.eks\\.${REGION}\\.${AWS}`, "id/", HEX),
  inPath(`cognito-idp\\.${REGION}\\.${AWS}`, ""),
  inPath(`s3[a-z0-9.-]*\\.${AWS}`, ""),
  inHost(`(?:[a-z0-9.-]+\\.)?s3[a-z0-9.-]*\\.${AWS}`),
  inHost(
    `(?:execute-api|${REGION}\\.elb|elb\\.${REGION}|(?:${REGION}\\.)?compute(?:-1)?)(?:\\.${REGION})?\\.${AWS}`,
  ),
  inPath("container\\.googleapis\\.com", "v1(?:beta1)?/projects/"),
  inPath("storage\\.googleapis\\.com", ""),
  inHost("storage\\.googleapis\\.com"),
  inPath("securetoken\\.google\\.com", ""),
  inPath("(?:login\\.microsoftonline\\.(?:com|us)|sts\\.windows\\.net)", "", GUID),
  inPath(`${REGION}\\.oic\\.prod-aks\\.azure\\.com`, "", GUID),
  inPath("vstoken\\.dev\\.azure\\.com", "", GUID),
  inHost("(?:[a-z0-9]+\\.)?(?:blob|web)\\.core\\.windows\\.net"),
  inHost(`${REGION}\\.cloudapp\\.azure\\.com`),
  inHost("(?:[a-z0-9-]+\\.)?auth0\\.com"),
  inHost("(?:okta|oktapreview|okta-emea|okta-gov)\\.com"),
  inHost("onelogin\\.com"),
  inHost("cloudflareaccess\\.com"),
  inHost("semaphoreci\\.com"),
  inHost("app\\.(?:[a-z]+\\.)?spacelift\\.io"),
  inPath("auth\\.pingone\\.[a-z.]+", ""),
  inPath("token\\.actions\\.githubusercontent\\.com", ""),
  formOf({ before: "https://token\\.actions\\.", name: LABEL, after: `\\.ghe\\.com(?:/${VISIBLE}*)?` }),
  inPath("oidc\\.circleci\\.com", "org/"),
  inPath("oidc\\.vercel\\.com", ""),
  inPath("oidc\\.fly\\.io", ""),
  inPath("api\\.bitbucket\\.org", "2\\.0/workspaces/"),
  inPath("app\\.harness\\.io", "ng/api/oidc/account/"),
  inPath("(?:raw\\.githubusercontent|gist\\.githubusercontent|github|gitlab)\\.com", ""),
  inPath("bitbucket\\.org", ""),
  inPath("cdn\\.jsdelivr\\.net", "(?:gh|npm)/"),
];

/** All of these together: most patterns match none of them. */
const ANY_TENANT = tenantForms.map(({ whole }) => whole).join("|");

function judgeTenants(languages: Languages, pattern: string): PatternJudgement {
  const isAny = languages.intersects(pattern, anchored(ANY_TENANT));
  return isAny === "no" ? { kind: "unrelated" } : judgeForms(languages, pattern, tenantForms);
}

/** The first of some judgements that is open or not known; else the last. */
function firstOpening(...judgements: readonly (() => PatternJudgement)[]): PatternJudgement {
  let judged: PatternJudgement = { kind: "unrelated" };
  for (const judge of judgements) {
    const next = judge();
    if (next.kind === "open" || next.kind === "unjudged") return next;
    if (next.kind === "pinned") judged = next;
  }
  return judged;
}

/** Judges whether outsiders can run issuers that a pattern matches. */
export function judgeIssuer(languages: Languages, pattern: string): PatternJudgement {
  return judgeWithin(languages, pattern, () =>
    firstOpening(
      () => judgeHosts(languages, pattern, `https://${USER}`, REST, EXAMPLES),
      () => judgeForm(languages, pattern, addressForm),
      () => judgeTenants(languages, pattern),
    ),
  );
}

const wordForm = formOf({ before: "", name: "[A-Za-z0-9_-]+", after: "" }, [
  INTRUDER,
  `[a-z0-9-]*${INTRUDER}[a-z0-9-]*`,
]);

/** Judges whether a pattern matches audiences of other services: addresses, hosts, single words. */
export function judgeAudience(languages: Languages, pattern: string): PatternJudgement {
  return judgeWithin(languages, pattern, () =>
    firstOpening(
      () => judgeHosts(languages, pattern, `https://${USER}`, REST, EXAMPLES),
      () => judgeHosts(languages, pattern, "", "", [STRANGER, `${LABEL}\\.${STRANGER}`]),
      () => judgeForm(languages, pattern, wordForm),
    ),
  );
}
