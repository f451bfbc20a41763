import { formOf, judgeForm, judgeForms, judgeWithin } from "./judgement";
import type { PatternJudgement, OwnedForm } from "./judgement";
import type { Languages, SegmentSpec } from "./languages";

/** The name of the outsider in examples. */
export const INTRUDER = "intruder";

/** Any text but control characters. */
const TEXT = "[^\\x00-\\x1f\\x7f]";

/** Names of strangers, the easiest to read first. */
const STRANGERS = [INTRUDER, `(?:[a-z0-9]+-)+${INTRUDER}`, `[a-z0-9-]*(?:evil|${INTRUDER})[a-z0-9-]*`];

/** A text for each stranger, with each of the endings. */
export function examplesOf(before: string, after: readonly string[]): string[] {
  return STRANGERS.flatMap((name) => after.map((end) => `${before}${name}${end}`));
}

const GITHUB_OWNER = "[A-Za-z0-9]+(?:-[A-Za-z0-9]+)*-?(?:_[A-Za-z0-9]+)?";
const GITHUB_REPOSITORY = "[A-Za-z0-9._-]+";
const ID = "(?:@[0-9]+)?";
const GITHUB_REST = `/${GITHUB_REPOSITORY}${ID}:${TEXT}+`;

/** Claims that an organisation may put into the subjects of its workflows in place of `repo:…`. */
const GITHUB_OWNER_KEYS =
  "(?:repository|repository_owner|repository_owner_id|repository_id|job_workflow_ref|workflow_ref|enterprise|enterprise_id|organization)";
const GITHUB_FREE_KEYS =
  "(?:environment|ref|ref_type|ref_protected|head_ref|base_ref|workflow|actor|actor_id|event_name|sha|run_id|run_number|run_attempt|runner_environment|repository_visibility|workflow_sha|job_workflow_sha|context|check_run_id)";
const GITHUB_FREE = `(?:${GITHUB_FREE_KEYS}:[^:\\x00-\\x1f\\x7f]*|pull_request)`;

const BEFORE_REPO = `(?:${GITHUB_FREE}:)*repo:`;
const githubOwner: SegmentSpec = {
  before: BEFORE_REPO,
  name: GITHUB_OWNER,
  after: GITHUB_REST,
  ignoresCase: true,
};
const githubOwnerWithId: SegmentSpec = {
  before: BEFORE_REPO,
  name: GITHUB_OWNER,
  after: `@[0-9]+${GITHUB_REST}`,
  ignoresCase: true,
};

const githubDefault = formOf(
  githubOwner,
  examplesOf("repo:", [
    `/${INTRUDER}:ref:refs/heads/main`,
    `/${GITHUB_REPOSITORY}:ref:refs/heads/main`,
    `/${GITHUB_REPOSITORY}:(?:pull_request|environment:[a-z]+)`,
    GITHUB_REST,
  ]),
  [`/${INTRUDER}:ref:refs/heads/main`, `/${GITHUB_REPOSITORY}:ref:refs/heads/main`],
);

/** Subjects of GitHub's workflows: by default, with the numbers of owner and repository, and as an organisation can set them. */
export const githubForms: readonly OwnedForm[] = [
  githubDefault,
  {
    ...formOf(githubOwnerWithId),
    owners: [
      githubOwnerWithId,
      { before: `${BEFORE_REPO}${GITHUB_OWNER}@`, name: "[0-9]+", after: GITHUB_REST },
    ],
  },
  formOf({
    before: `(?:${GITHUB_FREE}:)*${GITHUB_OWNER_KEYS}:`,
    name: "[^/:@\\x00-\\x1f\\x7f]+",
    after: `(?:[/:@]${TEXT}*)?`,
    ignoresCase: true,
  }),
  {
    whole: `${GITHUB_FREE}(?::${GITHUB_FREE})*`,
    owners: [],
    examples: [`${GITHUB_FREE_KEYS}:[a-z/]+`],
  },
];

const GITLAB_PROJECT = "(?:/[A-Za-z0-9_.-]+)+";
const GITLAB_REST = `${GITLAB_PROJECT}:${TEXT}+`;

const gitlabForm = formOf(
  {
    before: "project_path:",
    name: "[A-Za-z0-9_][A-Za-z0-9_.-]*",
    after: GITLAB_REST,
    ignoresCase: true,
  },
  examplesOf("project_path:", [
    `/${INTRUDER}:ref_type:branch:ref:main`,
    `${GITLAB_PROJECT}:ref_type:branch:ref:main`,
    GITLAB_REST,
  ]),
);
export const gitlabForms: readonly OwnedForm[] = [gitlabForm];

/** Subjects that begin with the name of an owner, up to a colon: `organization:acme:pipeline:…`. */
export function colonForms(before: string, kind: string, rest: string): OwnedForm[] {
  return [
    formOf(
      { before: `${before}:`, name: "[^:\\x00-\\x1f\\x7f]+", after: `:${TEXT}*`, ignoresCase: true },
      examplesOf(`${before}:`, [`:${kind}:${INTRUDER}${rest}`, `:${TEXT}*`]),
    ),
  ];
}

export const googleForms: readonly OwnedForm[] = [
  formOf({ before: "", name: "[0-9]{10,30}", after: "" }, ["100000000000000000000"]),
];

const kubernetesForm = formOf(
  { before: "system:serviceaccount:", name: "[a-z0-9-]+", after: ":[a-z0-9.-]+" },
  examplesOf("system:serviceaccount:", [`:${INTRUDER}`, ":[a-z0-9.-]+"]),
);
const spiffeForm = formOf({ before: "spiffe://", name: "[a-z0-9._-]+", after: `(?:/${TEXT}*)?` }, [
  `spiffe://${INTRUDER}\\.example/${INTRUDER}`,
  `spiffe://${INTRUDER}\\.example(?:/${TEXT}*)?`,
]);

/** Forms of subjects that any issuer may write: a GitHub Enterprise Server, a GitLab, a cluster. */
const structuredForms = [githubDefault, gitlabForm, kubernetesForm, spiffeForm];
const STRUCTURED = "(?:repo|project_path|system:serviceaccount|spiffe):";

const SEPARATOR = "[-_.:/|@ ]";
const NO_SEPARATOR = "[^-_.:/|@ \\x00-\\x1f\\x7f]";
const DOMAIN = "[A-Za-z0-9-]+(?:\\.(?:com?|net|org|gov|edu|ac))?\\.[A-Za-z]{2,}";

/** Anybody can have an address there. */
const MAIL_FOR_ALL =
  /^(?:gmail|googlemail|outlook|hotmail|live|msn|yahoo|icloud|me|aol|proton|protonmail|gmx|mail|zoho|yandex|qq|163|fastmail|tutanota|hey)\.(?:com|me|net|de|fr|ru|eu|co\.[a-z]{2})$/;

/** A text's first and last word: one that does not vary is a name space, left open on purpose. */
const firstWord: SegmentSpec = {
  before: "",
  name: `${SEPARATOR}*${NO_SEPARATOR}+`,
  after: `(?:${SEPARATOR}${TEXT}*)?`,
};
const lastWord: SegmentSpec = {
  before: `(?:${TEXT}*[-_:/| ])?`,
  name: `${NO_SEPARATOR}+`,
  after: "[-_:/| ]*",
};
const domain: SegmentSpec = { before: `(?:${TEXT}*[@.])?`, name: DOMAIN, after: "", ignoresCase: true };

const anyForm: OwnedForm = {
  whole: `${TEXT}+`,
  owners: [firstWord, lastWord],
  examples: [
    INTRUDER,
    "100000000000000000000",
    `${INTRUDER}@${INTRUDER}\\.example`,
    `[a-z0-9-]*${INTRUDER}[a-z0-9-]*`,
    `[a-z0-9]+@[a-z0-9]+\\.[a-z]+`,
  ],
};

/** How many exact texts a pattern may list: as many as it has alternatives. */
function mostListed(pattern: string): number {
  return Math.min(100, Math.max(9, pattern.split("|").length));
}

/** Whether each matching string ends in one of few domains, in which only their owners have addresses. */
function isPinnedToDomain(languages: Languages, pattern: string): boolean {
  if (languages.isSubset(pattern, `(?:\\A|[@.])${DOMAIN}\\z`) !== "yes") return false;
  const names = languages.names(pattern, domain, mostListed(pattern));
  return names !== "tooLarge" && !names.isMany && !names.list.some((name) => MAIL_FOR_ALL.test(name));
}

function judgeAnySubject(languages: Languages, pattern: string): PatternJudgement {
  if (isPinnedToDomain(languages, pattern)) return { kind: "pinned", names: [] };
  const structured = judgeForms(languages, pattern, structuredForms);
  if (structured.kind === "open" || structured.kind === "unjudged") return structured;
  const isStructured = languages.isSubset(pattern, `\\A${STRUCTURED}`) === "yes";
  if (isStructured && structured.kind === "pinned") return structured;
  return judgeForm(languages, pattern, anyForm, mostListed(pattern));
}

/** Judges whether outsiders can have subjects that a pattern matches, at an unknown issuer. */
export function judgeUnknownSubject(languages: Languages, pattern: string): PatternJudgement {
  return judgeWithin(languages, pattern, () => judgeAnySubject(languages, pattern));
}

/** Judges whether outsiders can have subjects that a pattern matches, at an issuer whose subjects have these forms. */
export function judgeSubject(
  languages: Languages,
  pattern: string,
  forms: readonly OwnedForm[],
): PatternJudgement {
  return judgeWithin(languages, pattern, () => {
    const judged = judgeForms(languages, pattern, forms);
    return judged.kind === "unrelated" ? judgeAnySubject(languages, pattern) : judged;
  });
}

/** Whether strangers can have a claim that names an owner: `acme`, `acme/pay`, a number, an address. */
export function judgeOwnerClaim(languages: Languages, claim: string, pattern: string): PatternJudgement {
  const owner: SegmentSpec =
    claim === "email"
      ? { before: "", name: `${TEXT}+`, after: "", ignoresCase: true }
      : { before: "", name: "[^/@:\\x00-\\x1f\\x7f]+", after: `(?:[/@:]${TEXT}*)?`, ignoresCase: true };
  const examples = [INTRUDER, `${INTRUDER}/${INTRUDER}`, "999999999"];
  return judgeWithin(languages, pattern, () =>
    claim === "email" && isPinnedToDomain(languages, pattern)
      ? { kind: "pinned", names: [] }
      : judgeForm(languages, pattern, formOf(owner, examples)),
  );
}

const NAME_REST = "[\\w+=,.@-]";
const WORD_END = "[=,.@_+-]";

/** Judges whether a pattern matches principals with other names than those that it contains. */
export function judgePrincipal(languages: Languages, pattern: string, account: string): PatternJudgement {
  const own = /^\d{12}$/.test(account) ? account : "[0-9]{12}";
  const before = (service: string, types: string): string => `arn:aws[a-z-]*:${service}::[0-9]{12}:${types}/`;
  const name = "[A-Za-z0-9]+";
  const forms = [
    formOf(
      {
        before: `${before("sts", "assumed-role")}${WORD_END}*`,
        name,
        after: `(?:${WORD_END}${NAME_REST}*)?/${NAME_REST}+`,
      },
      examplesOf(`arn:aws:sts::${own}:assumed-role/`, [`/${INTRUDER}`, `/${NAME_REST}+`]),
    ),
    formOf(
      {
        before: `${before("(?:iam|sts)", "(?:role|user|federated-user)")}${WORD_END}*`,
        name,
        after: `(?:[/=,.@_+-][\\w+=,.@/-]*)?`,
      },
      ["role", "user"].flatMap((type) => examplesOf(`arn:aws:iam::${own}:${type}/`, ["", "/[\\w+=,.@/-]*"])),
    ),
  ];
  return judgeWithin(languages, pattern, () => judgeForms(languages, pattern, forms));
}

/** Judges whether a pattern matches user ids of other principals than those that it contains. */
export function judgeUserId(languages: Languages, pattern: string): PatternJudgement {
  const form = formOf({ before: "", name: "A[A-Z]{3}[A-Z0-9]+|[0-9]{12}", after: `(?::${NAME_REST}+)?` }, [
    `AROAINTRUDER000000000:${INTRUDER}`,
    "AIDAINTRUDER000000000",
    `AROAINTRUDER000000000:${NAME_REST}+`,
    `A(?:ROA|IDA)[A-Z0-9]{17}(?::${INTRUDER})?`,
  ]);
  return judgeWithin(languages, pattern, () => judgeForm(languages, pattern, form));
}
