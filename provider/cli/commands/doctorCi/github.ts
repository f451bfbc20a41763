import { printable } from "../../../text/printable";
import type { Environment } from "../../../settings/environment";
import { editCommand, quoteForShell, quoteWord } from "../../../text/plain";
import {
  findBelow,
  listAll,
  listMember,
  memberByPath,
  numberMember,
  apiOf,
  PostError,
  request,
  stringMember,
} from "../../post/http";
import type { ApiHost } from "../../post/http";
import { judge, judgeAll, missing, ok, unchecked } from "../checkResult";
import type { CheckResult } from "../checkResult";
import { branchesOf, isGithubCom } from "../init/folder";
import type { ProjectFolder } from "../init/folder";
import { isOfReview } from "./files";
import type { CiFile } from "./files";

/*
 * What GitHub shows of a repository, by its REST API. A token that may not read something leaves it unchecked.
 */

interface CheckedRepository {
  readonly host: ApiHost;
  /** `/repos/owner/name`. */
  readonly path: string;
  readonly branch: string;
  /** The workflows of the review. */
  readonly files: readonly CiFile[];
}

/** Whether the workflows review and deploy the default branch. */
function checkStarts({ files, branch }: CheckedRepository): CheckResult[] {
  const written = /^[\w./-]+$/.test(branch) ? branch : "<branch>";
  return files.flatMap(({ path, text }) => {
    const [other, ...more] = branchesOf(text);
    if (other === undefined || [other, ...more].includes(branch)) return [];
    return [
      missing(
        "workflows",
        `${path} is for ${printable(other, 100)}, and the default branch is ${branch}`,
        editCommand(`s|branches: \\[.*\\]|branches: [${written}]|`, [path]),
      ),
    ];
  });
}

/** Names and values of a list. */
async function readNamedValues(
  { host, path }: CheckedRepository,
  below: string,
  member: string,
): Promise<Map<string, string>> {
  const entries = await listAll(host, `${path}${below}`, member);
  return new Map(
    entries.map((entry) => [stringMember(entry, "name") ?? "", stringMember(entry, "value") ?? ""]),
  );
}

/** The names that workflows read of `vars` or `secrets`, those with a default left out. */
const namesRead = (files: readonly CiFile[], context: "vars" | "secrets"): string[] => {
  const text = files.map((file) => file.text).join("\n");
  const names = text.matchAll(new RegExp(`\\b${context}\\.([A-Z]\\w+)(?!\\w|\\s*\\|\\|)`, "g"));
  return [...new Set([...names].map(([, name = ""]) => name))].sort();
};

/** Variables or secrets, by their names; a secret has no value here. */
interface NamedValues {
  readonly own: ReadonlyMap<string, string>;
  /** Those of the organisation too. */
  readonly values: ReadonlyMap<string, string>;
  /** Whether the token may read those of the organisation. */
  readonly areAllRead: boolean;
}

/** Those of the repository and of its organisation. A repository of a person has no organisation. */
async function readWithOrganization(
  repository: CheckedRepository,
  what: "variables" | "secrets",
): Promise<NamedValues> {
  const own = await readNamedValues(repository, `/actions/${what}`, what);
  try {
    const shared = await readNamedValues(repository, `/actions/organization-${what}`, what);
    return { own, values: new Map([...shared, ...own]), areAllRead: true };
  } catch (error) {
    const status = error instanceof PostError ? error.status : undefined;
    if (status !== 401 && status !== 403 && status !== 404) throw error;
    return { own, values: own, areAllRead: status === 404 };
  }
}

const perhapsOfOrganization = (check: string, name: string, command: string): CheckResult =>
  unchecked(
    check,
    `${name} is none of the repository, and the token may not read those of its organisation`,
    command,
  );

/** What is wrong with the value of a variable; undefined where nothing is. */
function variableProblem(value = ""): string | undefined {
  if (value === "") return "is not set";
  // A command was pasted as it stands: `--body "<id of your GitHub App>"`.
  return /^<[^<>]+>$/.test(value) ? `still holds ${printable(value, 100)}` : undefined;
}

function checkVariables(
  { files }: CheckedRepository,
  { values, areAllRead }: NamedValues,
  commands: readonly string[],
): CheckResult[] {
  const names = namesRead(files, "vars");
  const results = names.flatMap((name) => {
    const problem = variableProblem(values.get(name));
    const set = `gh variable set ${name} `;
    const command = commands.find((line) => line.startsWith(set)) ?? `${set}--body "<value>"`;
    if (!areAllRead && !values.has(name)) return [perhapsOfOrganization("variables", name, command)];
    return problem === undefined ? [] : [missing("variables", `${name} ${problem}`, command)];
  });
  return results.length === 0 ? [ok("variables", `all ${names.length} are set`)] : results;
}

const KEY = "ACCESS_APP_PRIVATE_KEY";
const STATUS_ENVIRONMENT = "access-status";

async function checkSecrets(repository: CheckedRepository): Promise<CheckResult[]> {
  const { own: ofRepository, values, areAllRead } = await readWithOrganization(repository, "secrets");
  const environment = await findBelow(repository, `/environments/${STATUS_ENVIRONMENT}`);
  const own =
    environment === undefined
      ? new Map<string, string>()
      : await readNamedValues(repository, `/environments/${STATUS_ENVIRONMENT}/secrets`, "secrets");
  const absent = namesRead(repository.files, "secrets").filter((name) => name !== KEY && !values.has(name));
  const results = absent.map((name) => {
    const set = `gh secret set ${name}`;
    return areAllRead
      ? missing("secrets", `${name} is not set`, set)
      : perhapsOfOrganization("secrets", name, set);
  });
  if (!own.has(KEY)) {
    const text = `${KEY} is not a secret of the environment ${STATUS_ENVIRONMENT}`;
    const set = `gh secret set ${KEY} --env ${STATUS_ENVIRONMENT} < "<file of the key>"`;
    results.push(missing("secrets", text, set));
  }
  if (ofRepository.has(KEY)) {
    const text = `${KEY} is a secret of the repository, which a workflow of every branch can read`;
    results.push(missing("secrets", text, `gh secret delete ${KEY}`));
  } else if (values.has(KEY)) {
    const text = `${KEY} is a secret of the organisation, which workflows of its repositories can read`;
    results.push(missing("secrets", text, `gh secret delete ${KEY} --org "<organisation>"`));
  }
  return results.length === 0 ? [ok("secrets", "all are set, each where it belongs")] : results;
}

/**
 * The parameters of an environment beside its branches: a PUT removes what it leaves out.
 * @param rules what the environment has
 * @param needsApproval whether somebody must approve: those who do now, else a team to fill in
 */
function protectionParameters(rules: readonly unknown[], needsApproval: boolean): string {
  const ruleOf = (type: string): unknown => rules.find((rule) => stringMember(rule, "type") === type);
  const waitMinutes = numberMember(ruleOf("wait_timer"), "wait_timer") ?? 0;
  const approval = ruleOf("required_reviewers");
  const given = listMember(approval, "reviewers").map((one) => ({
    type: stringMember(one, "type") ?? "Team",
    id: numberMember(memberByPath(one, "reviewer"), "id") ?? UNKNOWN_TEAM,
  }));
  const reviewers = given.length > 0 || !needsApproval ? given : [{ type: "Team", id: UNKNOWN_TEAM }];
  const forbidsSelfReview = needsApproval || memberByPath(approval, "prevent_self_review") === true;
  return [
    ...(waitMinutes > 0 ? [` -F wait_timer=${waitMinutes}`] : []),
    ...reviewers.map(({ type, id }) => ` -F "reviewers[][type]=${type}" -F "reviewers[][id]=${id}"`),
    ...(forbidsSelfReview ? [' -F "prevent_self_review=true"'] : []),
  ].join("");
}

/** Whether only the default branch can use an environment. @param hasReviewers Whether somebody must approve. */
async function checkEnvironment(
  repository: CheckedRepository,
  name: string,
  hasReviewers: boolean,
): Promise<CheckResult[]> {
  const { branch } = repository;
  const check = `env ${name}`;
  const address = `"repos/{owner}/{repo}/environments/${name}"`;
  const policies = `"repos/{owner}/{repo}/environments/${name}/deployment-branch-policies"`;
  const limit =
    '-F "deployment_branch_policy[protected_branches]=false" -F "deployment_branch_policy[custom_branch_policies]=true"';
  const environment = await findBelow(repository, `/environments/${name}`);
  const rules = listMember(environment, "protection_rules");
  const approval = rules.find(
    (rule) => stringMember(rule, "type") === "required_reviewers" && listMember(rule, "reviewers").length > 0,
  );
  const change = `gh api --silent -X PUT ${address} ${limit}${protectionParameters(rules, hasReviewers)}`;
  const admit = `gh api --silent -X POST ${policies} -f name=${quoteWord(branch)}`;
  if (environment === undefined) return [missing(check, "does not exist", `${change} && ${admit}`)];
  if (memberByPath(environment, "deployment_branch_policy", "custom_branch_policies") !== true)
    return [missing(check, `is not limited to the branch ${branch}`, `${change} && ${admit}`)];
  const entries = listMember(
    await findBelow(repository, `/environments/${name}/deployment-branch-policies`),
    "branch_policies",
  );
  const other = entries.find((entry) => stringMember(entry, "name") !== branch);
  if (other !== undefined) {
    const shown = printable(stringMember(other, "name") ?? "", 100);
    const id = numberMember(other, "id") ?? 0;
    const remove = `gh api --silent -X DELETE ${policies.slice(0, -1)}/${id}"`;
    return [missing(check, `${shown} may use it too, beside ${branch}`, remove)];
  }
  if (entries.length === 0) return [missing(check, `${branch} may not use it`, admit)];
  if (!hasReviewers) return [ok(check, `only ${branch} can use it`)];
  if (approval === undefined) return [missing(check, "nobody has to approve", change)];
  return [
    memberByPath(approval, "prevent_self_review") === true
      ? ok(check, `only ${branch} can use it, after an approval by somebody who did not start the run`)
      : missing(check, "who starts a run may approve it: prevent self-review", change),
  ];
}

/** GitHub Actions itself: every workflow of every branch is this app. */
const ACTIONS_APP = 15368;

/** What stands for the team that approves in a command, until somebody fills it in. */
const UNKNOWN_TEAM = "<id of your team>";

/** What stands for the app of the status in a command, until somebody fills it in. */
const UNKNOWN_APP = "<id of the app>";

interface Protection {
  /** The rules of all rule sets, which everyone who may read the repository sees. */
  readonly rules: readonly unknown[];
  /** The older protection of the branch; undefined where there is none. */
  readonly classic: unknown;
  /** Why the older protection could not be read. */
  readonly hidden?: string;
}

async function readProtection({ host, path, branch }: CheckedRepository): Promise<Protection> {
  const name = encodeURIComponent(branch);
  const rules = await listAll(host, `${path}/rules/branches/${name}`);
  try {
    return { rules, classic: await request(host, "GET", `${path}/branches/${name}/protection`) };
  } catch (error) {
    if (!(error instanceof PostError)) throw error;
    const isNone = error.status === 404 && /not protected/i.test(error.message);
    return { rules, classic: undefined, ...(!isNone && { hidden: error.message }) };
  }
}

const ofType = ({ rules }: Protection, type: string): readonly unknown[] =>
  rules.filter((rule) => stringMember(rule, "type") === type);

const DEMANDING = ["pull_request", "required_status_checks"];

/** The command that adds a rule set which demands all that the page asks for: it holds beside the rules that exist. */
function demandCommand({ rules }: Protection, contexts: readonly string[], app: string): string {
  const demanding = rules.find((rule) => DEMANDING.includes(stringMember(rule, "type") ?? ""));
  // Each rule set has a name of its own.
  const beside = numberMember(demanding, "ruleset_id");
  const source = /^\d+$/.test(app) ? Number(app) : UNKNOWN_APP;
  const ruleSet = {
    name: beside === undefined ? "access review" : `access review beside ${beside}`,
    target: "branch",
    enforcement: "active",
    conditions: { ref_name: { include: ["~DEFAULT_BRANCH"], exclude: [] } },
    rules: [
      {
        type: "pull_request",
        parameters: {
          required_review_thread_resolution: false,
          dismiss_stale_reviews_on_push: true,
          require_last_push_approval: true,
          required_approving_review_count: 1,
          require_code_owner_review: true,
        },
      },
      {
        type: "required_status_checks",
        parameters: {
          strict_required_status_checks_policy: true,
          required_status_checks: contexts.map((context) => ({ context, integration_id: source })),
        },
      },
    ],
  };
  // The id is an integer, also where it is still to be filled in.
  const body = JSON.stringify(ruleSet).replaceAll(`"${UNKNOWN_APP}"`, UNKNOWN_APP);
  return `echo ${quoteForShell(body)} | gh api --silent -X POST "repos/{owner}/{repo}/rulesets" --input -`;
}

/** What a protection lacks: not checked where a part of it could not be read. */
const lacking = (check: string, { hidden }: Protection, text: string, command: string): CheckResult =>
  hidden === undefined
    ? missing(check, text, command)
    : unchecked(
        check,
        `perhaps ${text}: no rule set says otherwise, and the protection of the branch cannot be read: ${hidden}`,
        command,
      );

/** Whether a status is required, from the app alone. */
function checkStatus(
  protection: Protection,
  context: string,
  app: string | undefined,
  command: string,
): CheckResult {
  const checks = [
    ...ofType(protection, "required_status_checks").flatMap((rule) =>
      listMember(rule, "parameters", "required_status_checks").map((one) => ({
        name: stringMember(one, "context"),
        app: numberMember(one, "integration_id"),
      })),
    ),
    ...listMember(protection.classic, "required_status_checks", "checks").map((one) => ({
      name: stringMember(one, "context"),
      app: numberMember(one, "app_id"),
    })),
  ].filter(({ name }) => name === context);
  if (checks.length === 0) return lacking("status", protection, `${context} is not required`, command);
  const apps = checks
    .map((one) => one.app)
    .filter((one) => one !== undefined && one > 0 && one !== ACTIONS_APP);
  if (apps.length === 0) {
    const sources = checks.some((one) => one.app === ACTIONS_APP) ? "GitHub Actions" : "any source";
    return missing(
      "status",
      `${context} is required from ${sources}: a workflow of every branch can set it; require it from the app, and no longer from ${sources}`,
      command,
    );
  }
  const isCurrent =
    memberByPath(protection.classic, "required_status_checks", "strict") === true ||
    ofType(protection, "required_status_checks").some(
      (rule) => memberByPath(rule, "parameters", "strict_required_status_checks_policy") === true,
    );
  if (!isCurrent)
    return lacking(
      "status",
      protection,
      `${context} may be older than the last merge, and two harmless changes may be harmful together: require branches to be up to date`,
      command,
    );
  if (!app) return unchecked("status", `whether app ${apps.join(", ")} is yours: ACCESS_APP_ID was not read`);
  return apps.some((one) => String(one) === app)
    ? ok("status", `${context} is required, from the app ${app}`)
    : missing(
        "status",
        `${context} is required from app ${apps.join(", ")}, not from ACCESS_APP_ID ${app}; require it from this one alone`,
        command,
      );
}

/** Who may bypass what demands the status and the review. */
async function checkBypass(
  repository: CheckedRepository,
  protection: Protection,
  demand: string,
): Promise<CheckResult> {
  const { host, path, branch } = repository;
  const rules = DEMANDING.flatMap((type) => ofType(protection, type));
  const ids = [...new Set(rules.flatMap((rule) => numberMember(rule, "ruleset_id") ?? []))];
  for (const id of ids) {
    const body = await request(host, "GET", `${path}/rulesets/${id}`);
    const actors = memberByPath(body, "bypass_actors");
    if (!Array.isArray(actors))
      return unchecked("bypass", `the token may not see who bypasses rule set ${id}`);
    if (actors.length > 0) {
      const command = `echo '{"bypass_actors":[]}' | gh api --silent -X PUT "repos/{owner}/{repo}/rulesets/${id}" --input -`;
      return missing("bypass", `${actors.length} may bypass the rule set ${id}`, command);
    }
  }
  if (ids.length > 0) return ok("bypass", "nobody may bypass the rule sets");
  if (memberByPath(protection.classic, "enforce_admins", "enabled") === true)
    return ok("bypass", "the protection holds for administrators too");
  return lacking(
    "bypass",
    protection,
    "administrators may bypass the protection",
    protection.classic === undefined
      ? demand
      : `gh api --silent -X POST "repos/{owner}/{repo}/branches/${encodeURIComponent(branch)}/protection/enforce_admins"`,
  );
}

async function checkProtection(
  repository: CheckedRepository,
  app: string | undefined,
): Promise<CheckResult[]> {
  const protection = await readProtection(repository);
  // Of a rule set, or of the older protection, whose names differ a little.
  const reviews = [
    ...ofType(protection, "pull_request").map((rule) => memberByPath(rule, "parameters")),
    memberByPath(protection.classic, "required_pull_request_reviews"),
  ];
  const demands = (...names: string[]): boolean =>
    names.some((name) => reviews.some((review) => memberByPath(review, name) === true));
  const isReviewed = demands("require_code_owner_review", "require_code_owner_reviews");
  const isRenewed = demands("dismiss_stale_reviews_on_push", "dismiss_stale_reviews");
  const forbidsSelfReview = demands("require_last_push_approval");
  const texts = repository.files.map(({ text }) => text).join("\n");
  const named = Array.from(texts.matchAll(/context=(access-review[\w.-]*)/g), ([, context = ""]) => context);
  const contexts = named.length === 0 ? ["access-review"] : [...new Set(named)].sort();
  const command = demandCommand(protection, contexts, app ?? "");
  return [
    isReviewed && isRenewed && forbidsSelfReview
      ? ok("branch", `${repository.branch} changes by a pull request that its code owners approve`)
      : lacking(
          "branch",
          protection,
          !isReviewed
            ? `${repository.branch} does not demand a review of code owners`
            : !isRenewed
              ? "an approval holds for what is pushed after it: dismiss approvals when new commits are pushed"
              : "who pushes to a pull request of another person may approve it: require approval of the most recent push",
          command,
        ),
    ...contexts.map((context) => checkStatus(protection, context, app, command)),
    ...(await judge("bypass", async () => [await checkBypass(repository, protection, command)])),
  ];
}

async function checkOwnersErrors({ host, path }: CheckedRepository): Promise<CheckResult[]> {
  const body = await request(host, "GET", `${path}/codeowners/errors`);
  const [first] = listMember(body, "errors");
  if (first === undefined) return [];
  const shown = printable(stringMember(first, "message") ?? "", 300).split("\n")[0] ?? "";
  const command = `gh api "repos/{owner}/{repo}/codeowners/errors" --jq ".errors[].message"`;
  return [missing("codeowners", `GitHub ignores a line: ${shown}`, command)];
}

/** Whether the identities of CI trust the subjects as GitHub writes them for this repository. */
async function checkSubjects(
  { host, path }: CheckedRepository,
  identities: CiFile | undefined,
): Promise<CheckResult[]> {
  const [, written] = /^const prefix = "([^"]*)"/m.exec(identities?.text ?? "") ?? [];
  if (identities === undefined || written === undefined) return [];
  const body = await request(host, "GET", `${path}/actions/oidc/customization/sub`);
  const prefix = stringMember(body, "sub_claim_prefix");
  if (prefix === undefined)
    return [unchecked("subjects", "this server does not say how it begins the subjects of tokens")];
  return [
    prefix === written
      ? ok("subjects", `begin with ${prefix}, as in ${identities.path}`)
      : missing(
          "subjects",
          `begin with ${printable(prefix, 200)}, and ${identities.path} has ${written}`,
          editCommand(`s|${written}|${printable(prefix, 200)}|`, [identities.path]),
        ),
  ];
}

/** The checks of the repository, and the variables, which name the identities. */
export async function checkGithub(
  found: ProjectFolder,
  env: Environment,
  given: {
    readonly files: readonly CiFile[];
    readonly commands: readonly string[];
    readonly identities?: CiFile;
  },
): Promise<{ readonly results: CheckResult[]; readonly variables: ReadonlyMap<string, string> }> {
  const none = new Map<string, string>();
  const name = env["GITHUB_REPOSITORY"] ?? found.repository ?? "";
  const token = env["GITHUB_TOKEN"] ?? env["GH_TOKEN"] ?? "";
  const get = 'export GITHUB_TOKEN="$(gh auth token)"';
  const areas = "variables, secrets, environments, branch, status, bypass and subjects";
  const all = (reason: string) => ({
    results: [unchecked("github", `${reason}; so nothing is known of ${areas}`, get)],
    variables: none,
  });
  if (token === "")
    return all("GITHUB_TOKEN is not set; it must read administration, variables, secrets and environments");
  if (!/^[\w.-]+\/[\w.-]+$/.test(name)) return all("the remote origin names no repository of GitHub");
  const { server } = found;
  const api = isGithubCom(server) ? "https://api.github.com" : `https://${server}/api/v3`;
  const host = apiOf(env, "GITHUB_API_URL", api, token);
  const path = `/repos/${name}`;
  let repository: CheckedRepository = {
    host,
    path,
    branch: found.defaultBranch,
    files: given.files.filter(isOfReview),
  };
  let variables: ReadonlyMap<string, string> = none;
  const results = await judgeAll("github", [
    [
      "github",
      async () => {
        // What a token may not see is answered as what does not exist.
        const shown = await findBelow({ host, path }, "");
        if (shown === undefined) return all(`the token may not see ${name}`).results;
        repository = { ...repository, branch: stringMember(shown, "default_branch") ?? repository.branch };
        return checkStarts(repository);
      },
    ],
    [
      "variables",
      async () => {
        const read = await readWithOrganization(repository, "variables");
        variables = read.values;
        return checkVariables(repository, read, given.commands);
      },
    ],
    ["secrets", () => checkSecrets(repository)],
    [`env ${STATUS_ENVIRONMENT}`, () => checkEnvironment(repository, STATUS_ENVIRONMENT, false)],
    ["env production", () => checkEnvironment(repository, "production", true)],
    ["branch", () => checkProtection(repository, variables.get("ACCESS_APP_ID"))],
    ["codeowners", () => checkOwnersErrors(repository)],
    ["subjects", () => checkSubjects(repository, given.identities)],
  ]);
  return { results, variables };
}
