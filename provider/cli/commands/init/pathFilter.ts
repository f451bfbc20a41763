import { isMap, Scalar, visit } from "yaml";
import type { Document, YAMLMap, YAMLSeq } from "yaml";
import { CodedError } from "../../../errors/codedError";
import type { FurtherProject } from "./secondProject";

/*
 * GitHub sets no status where its own filter of paths skips a workflow, and a pull request then waits for a required one
 * for ever. So a job compares the commit with the default branch, and the others depend on it.
 */

/** Prints whether a response of GitHub's comparison names one of the paths. GitHub lists 300 files at most. */
const COMPARE = `node -e '
  const { files } = JSON.parse(fs.readFileSync(process.argv[1], "utf8"));
  const paths = process.env.PATHS.trim().split("\\n");
  const isRead = (name) => paths.some((path) => (path.endsWith("/") ? name.startsWith(path) : name === path));
  const isChanged = ({ filename, previous_filename: before = filename }) => isRead(filename) || isRead(before);
  console.log("changed=" + (files.length >= 300 || files.some(isChanged)));
' "$RUNNER_TEMP/compare.json" >> "$GITHUB_OUTPUT"
`;

/** Of the jobs that set a status: its secret is the key of the app that the required status has as its source. */
const STATUS_ENVIRONMENT = "access-status";

interface ChangesJob {
  readonly condition?: string;
  /** Where the workflow does not name it. */
  readonly commit?: string;
  readonly paths: readonly string[];
  /** Of the status that the job sets where nothing is to be reviewed. */
  readonly status?: { readonly context: string; readonly description: string };
}

function changesJob({ condition, commit, paths, status }: ChangesJob, branch: string): object {
  const compare = {
    name: "Compare the commit with the default branch",
    id: "compare",
    env: {
      GITHUB_TOKEN: "${{ github.token }}",
      BASE: branch,
      ...(commit !== undefined && { COMMIT: commit }),
      PATHS: `${paths.join("\n")}\n`,
    },
    run: `gh api "repos/$GITHUB_REPOSITORY/compare/$BASE...$COMMIT" > "$RUNNER_TEMP/compare.json"\n${COMPARE}`,
  };
  const setStatus = status && {
    name: "Set the status where there is nothing to review",
    if: "steps.compare.outputs.changed == 'false'",
    env: { GITHUB_TOKEN: "${{ steps.app.outputs.token }}", DESCRIPTION: status.description },
    run:
      'gh api --silent --method POST "repos/$GITHUB_REPOSITORY/statuses/$COMMIT" \\\n' +
      `  -f context=${status.context} -f state=success -f target_url="$RUN_URL" -f description="$DESCRIPTION"\n`,
  };
  return {
    ...(condition !== undefined && { if: condition }),
    "runs-on": "ubuntu-latest",
    "timeout-minutes": 10,
    ...(status && { environment: STATUS_ENVIRONMENT }),
    permissions: { contents: "read" },
    outputs: { changed: "${{ steps.compare.outputs.changed }}" },
    steps: [compare, ...(setStatus ? [setStatus] : [])],
  };
}

function jobOf(document: Document, name: string): YAMLMap {
  const job = document.getIn(["jobs", name]);
  if (!isMap(job)) throw new CodedError("PP9001", `a workflow has no job ${name}`);
  return job;
}

/** Lets a job run after the comparison, and where its result allows it. */
function addCondition(document: Document, name: string, condition: string): void {
  const job = jobOf(document, name);
  const needs: unknown = job.get("needs");
  job.set("needs", document.createNode(typeof needs === "string" ? ["changes", needs] : "changes"));
  const existing = String(job.get("if"));
  job.set("if", `${existing} && needs.changes.outputs.changed ${condition}`);
}

function addChangesJob(document: Document, job: ChangesJob, branch: string): void {
  const jobs = document.get("jobs") as YAMLMap;
  const node = document.createNode(changesJob(job, branch));
  visit(node, {
    Scalar(_, scalar) {
      if (typeof scalar.value === "string" && scalar.value.includes("\n")) scalar.type = Scalar.BLOCK_LITERAL;
    },
  });
  const pair = document.createPair("changes", node);
  jobs.items.unshift(pair);
  if (job.status === undefined) return;
  const [app] = (jobOf(document, "gate").get("steps") as YAMLSeq<YAMLMap>).items;
  if (app?.get("id") !== "app")
    throw new CodedError("PP9001", "the job gate does not begin with the app's token");
  const ofChanges: unknown = app.clone();
  if (!isMap(ofChanges)) throw new CodedError("PP9001", "the step of the app's token is no map");
  ofChanges.set("if", "steps.compare.outputs.changed == 'false'");
  (jobOf(document, "changes").get("steps") as YAMLSeq).items.splice(1, 0, ofChanges);
}

/** Characters of a folder that a pattern of GitHub gives a meaning. */
const pattern = (path: string): string => `${path.replace(/\+/g, "\\+")}${path.endsWith("/") ? "**" : ""}`;

/**
 * Limits a workflow to changes of a project's paths.
 *
 * @param example The name of its file in the examples.
 */
export function addPathFilter(
  document: Document,
  example: string,
  { suffix, paths }: FurtherProject,
  branch: string,
): void {
  if (paths.length === 0) return;
  if (example === "access-deploy.yml") document.setIn(["on", "push", "paths"], paths.map(pattern));
  if (example === "access-preview.yml") {
    addCondition(document, "preview", "== 'true'");
    const commit = "${{ github.event.pull_request.head.sha }}";
    addChangesJob(document, { commit, paths }, branch);
  }
  if (example === "access-review.yml") {
    for (const name of ["start", "review"]) addCondition(document, name, "== 'true'");
    // Where the comparison fails, these report that nothing was reviewed.
    for (const name of ["post", "gate"]) addCondition(document, name, "!= 'false'");
    const status = { context: `access-review${suffix}`, description: `No change of ${paths[0] ?? ""}` };
    const condition = "github.event.workflow_run.event == 'pull_request'";
    addChangesJob(document, { condition, paths, status }, branch);
  }
}

/** The names that a repository has once, in the text of a workflow or an action. */
const GITHUB_NAMES = /(?<!team:)\baccess-(?:preview|review|plan|deploy|drift|verification)\b/g;

/** Gives the workflow, its status, its artifacts and its group a project's own names. */
export const withGithubSuffix = (text: string, suffix = ""): string =>
  text.replace(GITHUB_NAMES, `$&${suffix}`);

/** The jobs of a pipeline, which share its environments. */
const GITLAB_NAMES =
  /(?<!name: )\baccess-(?:plan-review|plan|start|preview|review|post|gate|deploy|verify|drift)\b/g;

/** The rules for events that have changes; a schedule has none. */
const GITLAB_RULES = /^( *)- if: \$CI_PIPELINE_SOURCE == "(?:merge_request_event|push)".*$/gm;

/** Gives the jobs of a component a project's own names, and limits them to changes of its paths. */
export function forFurtherGitlabProject(text: string, { suffix, paths }: FurtherProject): string {
  const patterns = paths.map((path) => JSON.stringify(path.endsWith("/") ? `${path}**/*` : path));
  const named = text.replace(GITLAB_NAMES, `$&${suffix}`);
  return patterns.length === 0
    ? named
    : named.replace(GITLAB_RULES, `$&\n$1  changes: [${patterns.join(", ")}]`);
}
