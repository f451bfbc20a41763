import type { Environment } from "../../../settings/environment";
import {
  findBelow,
  listAll,
  listMember,
  memberByPath,
  apiOf,
  numberMember,
  request,
  stringMember,
} from "../../post/http";
import { quoteWord } from "../../../text/plain";
import type { ApiHost } from "../../post/http";
import { judgeAll, missing, ok, unchecked } from "../checkResult";
import type { CheckResult } from "../checkResult";
import type { ProjectFolder } from "../init/folder";
import { checkImages, checkPlaceholders } from "./files";

/*
 * What GitLab shows of a project, by its REST API. A token that may not read something leaves it unchecked.
 */

interface Project {
  readonly host: ApiHost;
  /** `/projects/<id>`. */
  readonly path: string;
  readonly branch: string;
}

/** The variables that the commands set: each in its environment, hidden where a command says so. */
function checkVariables(variables: readonly unknown[], commands: readonly string[]): CheckResult[] {
  const expected = commands.flatMap((command) => {
    const [, name] = /^glab variable set (\w+) /.exec(command) ?? [];
    const [, scope = "*"] = / --scope (\S+)/.exec(command) ?? [];
    return name === undefined ? [] : [{ name, scope, command }];
  });
  const results = expected.flatMap(({ name, scope, command }) => {
    const variable = variables.find(
      (one) => stringMember(one, "key") === name && stringMember(one, "environment_scope") === scope,
    );
    const where = scope === "*" ? "" : ` of the environment ${scope}`;
    const shared = variables.some(
      (one) => stringMember(one, "key") === name && stringMember(one, "environment_scope") === "*",
    );
    if (variable === undefined && shared)
      return [missing("variables", `${name} has all environments in place of ${scope}`, command)];
    if (variable === undefined) return [missing("variables", `${name}${where} is not set`, command)];
    const isForAll = expected.some((one) => one.name === name && one.scope === "*");
    if (shared && !isForAll)
      return [
        missing(
          "variables",
          `${name} is also set for all environments, whose jobs all read it`,
          `glab variable delete ${name} --scope "*"`,
        ),
      ];
    const update = command.replace("variable set", "variable update");
    const lacks = ["masked", "protected"].filter(
      (word) => command.includes(`--${word}`) && memberByPath(variable, word) !== true,
    );
    return lacks.length === 0
      ? []
      : [missing("variables", `${name}${where} is not ${lacks.join(" and not ")}`, update)];
  });
  // One that is set in two environments may be wrong in both for one reason.
  const different = [...new Map(results.map((result) => [result.text, result])).values()];
  return different.length === 0 ? [ok("variables", `all ${expected.length} are set`)] : different;
}

/** The settings of a project: the member of the response, its values, and what another value allows. */
const SETTINGS: readonly (readonly [string, readonly unknown[], string])[] = [
  [
    "only_allow_merge_if_pipeline_succeeds",
    [true],
    "a merge request can be merged although its pipeline failed",
  ],
  ["allow_merge_on_skipped_pipeline", [false], "a skipped pipeline counts as a success"],
  [
    "merge_method",
    ["rebase_merge", "ff"],
    "a merge request can be merged though its pipeline ran before the last merge: two harmless ones may be harmful together",
  ],
  ["forking_access_level", ["disabled"], "the pipeline of a fork runs with the fork's configuration"],
  [
    "ci_pipeline_variables_minimum_override_role",
    ["no_one_allowed"],
    "whoever starts a pipeline can replace variables of its jobs",
  ],
];

/** What approvals of merge requests must be, as SETTINGS says it of a project. */
const APPROVALS: typeof SETTINGS = [
  ["merge_requests_author_approval", [false], "who opens a merge request may approve it"],
  [
    "merge_requests_disable_committers_approval",
    [true],
    "who pushes to a merge request of another person may approve it",
  ],
  ["reset_approvals_on_push", [true], "an approval holds for what is pushed after it"],
];

/** The settings that differ. @param change The command that sets one, without it. */
const compareSettings = (
  check: string,
  settings: typeof SETTINGS,
  shown: unknown,
  change: string,
): CheckResult[] =>
  settings.flatMap(([name, values, meaning]) => {
    const is = memberByPath(shown, name);
    if (values.includes(is)) return [];
    const command = `${change} -f ${name}=${String(values[0])}`;
    return [
      is === undefined || is === null
        ? unchecked(check, `this GitLab does not show ${name} to the token`, command)
        : missing(check, meaning, command),
    ];
  });

function checkSettings(project: unknown): CheckResult[] {
  const results = compareSettings("settings", SETTINGS, project, "glab api -X PUT projects/:id");
  return results.length === 0 ? [ok("settings", "merges need a pipeline of the project itself")] : results;
}

/** Whether the pipeline comes from another project, and what that project's file holds. */
async function checkPipeline({ host }: Project, project: unknown): Promise<CheckResult[]> {
  const given = stringMember(project, "ci_config_path") ?? "";
  const [, file = "", other, ref = "HEAD"] = /^([^@]+)@([^:]+)(?::(.+))?$/.exec(given) ?? [];
  if (other === undefined) {
    const own = given === "" ? ".gitlab-ci.yml" : given;
    return [
      missing(
        "pipeline",
        `${own} is a file of this project, which a merge request can change`,
        "glab api -X PUT projects/:id -f ci_config_path=gitlab-ci.yml@<project of the pipeline>",
      ),
    ];
  }
  const where = `/projects/${encodeURIComponent(other)}/repository/files/${encodeURIComponent(file)}`;
  const body = await request(host, "GET", `${where}?ref=${encodeURIComponent(ref)}`);
  const text = Buffer.from(stringMember(body, "content") ?? "", "base64").toString("utf8");
  const files = [{ path: given, text }];
  const problems = checkPlaceholders("pipeline", files);
  return [...(problems.length > 0 ? problems : [ok("pipeline", `comes from ${given}`)]), checkImages(files)];
}

/** The access level of developers; Maintainers have 40. */
const DEVELOPERS = 30;

/** Who may push to a protected branch, or merge into it: whom it names, and the access level of everybody else. */
function readAccess(protection: unknown, what: "push" | "merge") {
  const levels = listMember(protection, `${what}_access_levels`);
  const named = levels.flatMap((level) =>
    ["user_id", "group_id", "deploy_key_id"].flatMap((key) => {
      const id = numberMember(level, key);
      return id === undefined ? [] : [{ key, id, level }];
    }),
  );
  const general = levels
    .filter((level) => !named.some((one) => one.level === level))
    .map((level) => numberMember(level, "access_level") ?? 0);
  return {
    named,
    general,
    /** Whether everybody may who works in the project. */
    isOpen: general.some((level) => level > 0 && level <= DEVELOPERS),
  };
}

/** The command that protects a branch, with what its protection means beside the access of developers. */
function protectCommand(branch: string, protection: unknown): string {
  const parameters = (["push", "merge"] as const).flatMap((what) => {
    const { named, general, isOpen } = readAccess(protection, what);
    // Where only those may who are named, nobody else may from then on.
    const usual = what === "push" || (!isOpen && named.length > 0) ? 0 : 40;
    const [level = usual] = isOpen ? [] : general;
    return [
      `-f ${what}_access_level=${level}`,
      ...named.map(({ key, id }) => `-F "allowed_to_${what}[][${key}]=${id}"`),
    ];
  });
  return `glab api -X POST projects/:id/protected_branches -f name=${quoteWord(branch)} ${parameters.join(" ")} -f code_owner_approval_required=true`;
}

async function checkBranch(project: Project, shown: unknown): Promise<CheckResult[]> {
  const branch = stringMember(shown, "default_branch") ?? project.branch;
  const protection = await findBelow(project, `/protected_branches/${encodeURIComponent(branch)}`);
  const protect = protectCommand(branch, protection);
  if (protection === undefined) return [missing("branch", `${branch} is not protected`, protect)];
  const isOwned = memberByPath(protection, "code_owner_approval_required");
  const open = (["push", "merge"] as const).find((what) => readAccess(protection, what).isOpen);
  const patch = `glab api -X PATCH projects/:id/protected_branches/${quoteWord(encodeURIComponent(branch))} -f`;
  return [
    memberByPath(protection, "allow_force_push") === true
      ? missing("branch", `${branch} can be overwritten`, `${patch} allow_force_push=false`)
      : open !== undefined
        ? missing(
            "branch",
            `every developer may ${open === "push" ? "push to" : "merge into"} ${branch}`,
            `glab api -X DELETE projects/:id/protected_branches/${quoteWord(encodeURIComponent(branch))} && ${protect}`,
          )
        : ok("branch", `${branch} is protected`),
    ...(isOwned === true
      ? await checkApprovals(project)
      : [
          isOwned === false
            ? missing(
                "approval",
                "code owners need not approve",
                `${patch} code_owner_approval_required=true`,
              )
            : unchecked("approval", "this GitLab has no approval of code owners: it needs Premium"),
        ]),
  ];
}

/** Whose approvals the approval of code owners may be. */
async function checkApprovals(project: Project): Promise<CheckResult[]> {
  const shown = await findBelow(project, "/approvals");
  const results = compareSettings("approval", APPROVALS, shown, "glab api -X POST projects/:id/approvals");
  return results.length === 0
    ? [ok("approval", "code owners must approve, none of them what they wrote")]
    : results;
}

async function checkProduction(project: Project, shown: unknown): Promise<CheckResult[]> {
  const environment = await findBelow(project, "/protected_environments/production");
  const name = "allow_pipeline_trigger_approve_deployment";
  if (environment !== undefined && memberByPath(shown, name) === true)
    return [
      missing(
        "production",
        "who starts a pipeline may approve its deployment",
        `glab api -X PUT projects/:id -f ${name}=false`,
      ),
    ];
  if (environment !== undefined) return [ok("production", "the environment is protected")];
  const levels = '-F "deploy_access_levels[][access_level]=40" -F required_approval_count=1';
  return [
    missing(
      "production",
      "the environment is not protected, or this GitLab cannot: it needs Premium",
      `glab api -X POST projects/:id/protected_environments -f name=production ${levels}`,
    ),
  ];
}

/** The checks of the project, and the variables, which name the identities. */
export async function checkGitlab(
  found: ProjectFolder,
  env: Environment,
  commands: readonly string[],
): Promise<{ readonly results: CheckResult[]; readonly variables: ReadonlyMap<string, string> }> {
  const id = env["CI_PROJECT_ID"] ?? encodeURIComponent(found.repository ?? "");
  const token = env["GITLAB_TOKEN"] ?? "";
  const server = found.server === "" ? "gitlab.com" : found.server;
  const get = `export GITLAB_TOKEN="$(glab config get token --host ${server})"`;
  const areas = "variables, settings, pipeline, branch, approval and production";
  const all = (reason: string) => ({
    results: [unchecked("gitlab", `${reason}; so nothing is known of ${areas}`, get)],
    variables: new Map<string, string>(),
  });
  if (token === "")
    return all("GITLAB_TOKEN is not set; it needs the scope read_api and the role Maintainer");
  if (id === "") return all("the remote origin names no project of GitLab");
  const project: Project = {
    host: apiOf(env, "CI_API_V4_URL", `https://${server}/api/v4`, token),
    path: `/projects/${id}`,
    branch: found.defaultBranch,
  };
  const variables = new Map<string, string>();
  let shown: unknown;
  const results = await judgeAll("gitlab", [
    [
      "gitlab",
      async () => {
        shown = await findBelow(project, "");
        return shown === undefined ? all(`the token may not see ${found.repository ?? id}`).results : [];
      },
    ],
    [
      "variables",
      async () => {
        const list = await listAll(project.host, `${project.path}/variables`);
        for (const one of list)
          variables.set(stringMember(one, "key") ?? "", stringMember(one, "value") ?? "");
        return checkVariables(list, commands);
      },
    ],
    ["settings", () => Promise.resolve(checkSettings(shown))],
    ["pipeline", () => checkPipeline(project, shown)],
    ["branch", () => checkBranch(project, shown)],
    ["production", () => checkProduction(project, shown)],
  ]);
  return { results, variables };
}
