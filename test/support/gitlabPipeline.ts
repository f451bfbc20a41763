import { randomUUID } from "node:crypto";
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { parse, parseAllDocuments } from "yaml";
import { ROOT } from "./engine";
import { evaluate, runScript } from "./shell";
import type { Values } from "./shell";

type Need = string | { readonly job: string; readonly optional?: boolean; readonly artifacts?: boolean };

interface Rule {
  readonly if?: string;
  /** Not read: they hold as in a schedule, whatever changes. */
  readonly changes?: readonly string[];
  /** A person starts each manual job. */
  readonly when?: "always" | "manual";
}

export interface Job {
  readonly extends?: string;
  readonly stage?: string;
  readonly needs?: readonly Need[];
  readonly rules?: readonly Rule[];
  readonly variables?: Values;
  readonly environment?: { readonly name: string; readonly action?: string };
  readonly id_tokens?: Readonly<Record<string, { readonly aud: string }>>;
  readonly before_script?: readonly string[];
  readonly script?: readonly string[];
  readonly artifacts?: {
    readonly when?: "always";
    readonly paths?: readonly string[];
    readonly reports?: { readonly dotenv?: string };
  };
}

export interface Pipeline {
  readonly stages: readonly string[];
  readonly variables: Values;
  readonly jobs: Readonly<Record<string, Job>>;
}

/** What `spec: inputs:` of a component says of one input. */
export interface ComponentInput {
  readonly description: string;
  readonly default?: string;
  readonly options?: readonly string[];
}

interface ComponentInclude {
  readonly component: string;
  readonly inputs: Values;
}

/** A file beside the configuration. */
interface LocalInclude {
  readonly local: string;
}

type Include = ComponentInclude | LocalInclude;

type WrittenVariables = Readonly<
  Record<string, string | { readonly value: string; readonly expand: boolean }>
>;
type WrittenJob = Omit<Job, "variables"> & { readonly variables?: WrittenVariables };
type Configuration = Readonly<Record<string, WrittenJob>>;

const keywords = ["workflow", "stages", "default", "variables", "include"];

/** The component of a name such as `host/OWNER/pulumi-platform/review@v1.2.3` is the folder of this repository. */
const templateOf = (component: string): string => {
  const [, name] = /\/[\w-]+\/pulumi-platform\/([\w-]+)@v[\d.]+$/.exec(component) ?? [];
  if (name === undefined) throw new Error(`${component} is not a component of this repository`);
  return join(ROOT, "templates", name, "template.yml");
};

/** The inputs of a component, and its jobs before the inputs are filled in. */
export function readComponent(file: string): {
  readonly inputs: Readonly<Record<string, ComponentInput>>;
  readonly jobs: Configuration;
} {
  const [header, body] = parseAllDocuments(readFileSync(file, "utf8"), { strict: true });
  const { spec } = header!.toJS() as { spec: { inputs: Readonly<Record<string, ComponentInput>> } };
  return { inputs: spec.inputs, jobs: body?.toJS() as Configuration };
}

/** Fills inputs into the strings of parsed YAML, as GitLab does: a value never changes the structure. */
function fillInputs(value: unknown, inputs: Values): unknown {
  if (typeof value === "string") {
    return value.replace(/\$\[\[ inputs\.([\w-]+) \]\]/g, (_, name: string) => {
      const input = inputs[name];
      if (input === undefined) throw new Error(`the input ${name} is not declared`);
      return input;
    });
  }
  if (Array.isArray(value)) return value.map((item) => fillInputs(item, inputs));
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, fillInputs(item, inputs)]));
}

/** The jobs that an include adds. @throws Error for an input that GitLab refuses. */
function includedJobs(include: Include, overrides: Values, folder: string): Configuration {
  if ("local" in include)
    return parse(readFileSync(join(folder, include.local), "utf8"), { strict: true }) as Configuration;
  const { component, inputs: given } = include;
  const { inputs, jobs } = readComponent(templateOf(component));
  for (const name of Object.keys(given)) {
    if (!(name in inputs)) throw new Error(`${component} has no input ${name}`);
  }
  const values = Object.entries(inputs).map(([name, input]) => {
    const value = new Map(Object.entries({ ...given, ...overrides })).get(name) ?? input.default;
    if (value === undefined) throw new Error(`${component} needs the input ${name}`);
    if (input.options?.includes(value) === false) throw new Error(`${value} is no option of ${name}`);
    return [name, value] as const;
  });
  return fillInputs(jobs, Object.fromEntries(values)) as Configuration;
}

function withTemplates(name: string, all: Configuration): WrittenJob {
  const job = all[name];
  if (job === undefined) throw new Error(`there is no job ${name}`);
  if (job.extends === undefined) return job;
  const template = withTemplates(job.extends, all);
  return { ...template, ...job, variables: { ...template.variables, ...job.variables } };
}

/** No test writes a variable that GitLab expands. */
const valuesOf = (variables: WrittenVariables = {}): Values =>
  Object.fromEntries(
    Object.entries(variables).map(([key, value]) => [key, typeof value === "string" ? value : value.value]),
  );

/**
 * Reads a configuration, with the components that it includes.
 *
 * @param inputs Replaces inputs of all components, as the user of the configuration does.
 */
export function readPipeline(file: string, inputs: Values = {}): Pipeline {
  const main = parse(readFileSync(file, "utf8"), { strict: true }) as Configuration;
  const {
    stages = [],
    include = [],
    variables = {},
  } = main as unknown as Partial<Pipeline> & { include?: Include[] };
  const components = include.map((one) => includedJobs(one, inputs, dirname(file)));
  const all: Configuration = Object.assign({}, ...components, main) as Configuration;
  const jobs = Object.keys(all)
    .filter((name) => !keywords.includes(name) && !name.startsWith("."))
    .map((name) => {
      const job = withTemplates(name, all);
      if (!stages.includes(job.stage ?? "")) throw new Error(`${name} has no stage of the pipeline`);
      return [name, { ...job, variables: valuesOf(job.variables) }] as const;
    });
  return { stages, variables, jobs: Object.fromEntries(jobs) };
}

export interface JobResult {
  readonly result: "success" | "failure" | "skipped" | "absent";
  readonly log: string;
}

/** What a job has left behind. */
export interface RecordedJob {
  readonly result: JobResult;
  readonly stored: StoredJob;
}

/** A job as GitLab knows it: its artifacts, and the variables of its dotenv report. */
export interface StoredJob {
  readonly name: string;
  readonly token: string;
  /** The folder of its artifacts. */
  artifacts: string | undefined;
  dotenv: Values | undefined;
}

const parseDotenv = (text: string): Values =>
  Object.fromEntries(
    text
      .split("\n")
      .filter((line) => line.includes("="))
      .map((line) => [line.slice(0, line.indexOf("=")), line.slice(line.indexOf("=") + 1)]),
  );

/** The jobs of a pipeline, with the requests of GitLab's API about them. */
export class JobStore {
  /** By their ids. */
  readonly jobs = new Map<number, StoredJob>();
  private next = 1000;

  constructor(private readonly scratch: string) {}

  add(name: string, stored: Partial<StoredJob> = {}): [id: number, job: StoredJob] {
    const job = { token: randomUUID(), artifacts: undefined, dotenv: undefined, ...stored, name };
    const id = (this.next += 1);
    this.jobs.set(id, job);
    return [id, job];
  }

  /**
   * Lists jobs and reads one file of a job's artifacts for a token with the scope read_api. Stores an archive or a dotenv
   * report for the job whose token it is; files come as JSON in place of a zip.
   */
  answer(
    method: string,
    { pathname, searchParams }: URL,
    token: string,
    body: unknown,
  ): readonly [status: number, body: unknown] | undefined {
    const [, uploaded] = /^\/api\/v4\/jobs\/(\d+)\/artifacts$/.exec(pathname) ?? [];
    if (method === "POST" && uploaded !== undefined) {
      const job = this.jobs.get(Number(uploaded));
      if (job?.token !== token) return [403, { message: "403 Forbidden" }];
      if (searchParams.get("artifact_type") === "dotenv") job.dotenv ??= parseDotenv(String(body));
      else job.artifacts ??= this.writeFiles(body as Values);
      return [201, {}];
    }
    const [, listed] = /^\/api\/v4\/projects\/12\/pipelines\/(\d+)\/jobs$/.exec(pathname) ?? [];
    const [, id, path = ""] = /^\/api\/v4\/projects\/12\/jobs\/(\d+)\/artifacts\/(.+)$/.exec(pathname) ?? [];
    if (method !== "GET" || (listed ?? id) === undefined) return undefined;
    if (token !== READ_TOKEN) return [401, { message: "401 Unauthorized" }];
    if (listed !== undefined) {
      if (listed !== PIPELINE_ID || searchParams.get("page") !== "1") return [200, []];
      return [200, [...this.jobs].map(([one, { name }]) => ({ id: one, name }))];
    }
    const file = join(this.jobs.get(Number(id))?.artifacts ?? "/nowhere", path);
    return existsSync(file) ? [200, readFileSync(file)] : [404, { message: "404 Not found" }];
  }

  private writeFiles(files: Values): string {
    const folder = mkdtempSync(join(this.scratch, "uploaded-"));
    for (const [path, text] of Object.entries(files)) {
      mkdirSync(dirname(join(folder, path)), { recursive: true });
      writeFileSync(join(folder, path), text);
    }
    return folder;
  }
}

/** The project's token with the scope read_api. */
export const READ_TOKEN = "glpat-reader";
const PIPELINE_ID = "77";

/** A variable of the project: for jobs of one environment, or for all. */
export interface Variable {
  readonly value: string;
  readonly scope: string;
}

export interface PipelineOptions {
  /** The variables that GitLab sets for the pipeline. */
  readonly predefined: Values;
  /** By name; several for one name differ in their scope. */
  readonly project: Readonly<Record<string, readonly Variable[]>>;
  /** The OIDC token of a job. */
  readonly token: (audience: string) => string;
  /** Lays out what the pipeline is for. */
  readonly checkout: (folder: string) => void;
  /** Where the jobs are known, as their requests to GitLab see them. */
  readonly jobs: JobStore;
  /** The folder of all jobs, of a runner that keeps it; without it, each job has a new one. */
  readonly kept?: string;
  readonly tools: () => Values;
  /** Jobs that do not run: their results and artifacts are those of another pipeline. */
  readonly recorded?: Readonly<Record<string, RecordedJob>>;
  readonly scratch: string;
}

/** Runs a pipeline's jobs in the order of their stages, on folders in place of machines. */
export class PipelineRun {
  readonly results: Record<string, JobResult> = {};
  /** What each job had in its environment. */
  readonly environments: Record<string, Values> = {};
  private readonly stored: Record<string, StoredJob> = {};

  constructor(
    private readonly pipeline: Pipeline,
    private readonly options: PipelineOptions,
  ) {}

  async run(): Promise<this> {
    const { stages, jobs } = this.pipeline;
    for (const stage of stages) {
      for (const [name, job] of Object.entries(jobs).filter(([, one]) => one.stage === stage)) {
        this.results[name] = await this.runJob(name, job);
      }
    }
    return this;
  }

  /** What some jobs have left behind, for another pipeline. */
  record(...names: readonly string[]): Readonly<Record<string, RecordedJob>> {
    const entries = names.map((name) => {
      const [result, stored] = [this.results[name], this.stored[name]];
      if (result === undefined || stored === undefined) throw new Error(`${name} did not run`);
      return [name, { result, stored }] as const;
    });
    return Object.fromEntries(entries);
  }

  /** As GitLab says it of the whole: a job that failed fails the pipeline. */
  get status(): "success" | "failure" {
    return Object.values(this.results).some(({ result }) => result === "failure") ? "failure" : "success";
  }

  private async runJob(name: string, job: Job): Promise<JobResult> {
    const rule = job.rules?.find((one) => one.if === undefined || this.holds(one.if));
    if (job.rules !== undefined && rule === undefined) return { result: "absent", log: "" };
    const recorded = this.options.recorded?.[name];
    if (recorded !== undefined) {
      [, this.stored[name]] = this.options.jobs.add(name, recorded.stored);
      return recorded.result;
    }
    const needs = this.neededBy(job);
    const isReady = needs.every((need) => this.results[need]?.result === "success");
    if (!isReady && rule?.when !== "always") return { result: "skipped", log: "" };
    const [id, stored] = this.options.jobs.add(name);
    this.stored[name] = stored;
    const folder = this.prepareFolder(job);
    const given = needs.filter((need) => this.takesArtifacts(job, need)).map((need) => this.stored[need]);
    for (const one of given) if (one?.artifacts) cpSync(one.artifacts, folder, { recursive: true });
    const env = {
      ...this.environmentOf(name, job, folder),
      CI_JOB_ID: String(id),
      CI_JOB_TOKEN: stored.token,
      // GitLab lets them take precedence.
      ...Object.fromEntries(given.flatMap((one) => Object.entries(one?.dotenv ?? {}))),
    };
    this.environments[name] = env;
    const script = [...(job.before_script ?? []), ...(job.script ?? [])].join("\n");
    const { code, output } = await runScript(script, folder, env, this.options.scratch);
    if (code === 0 || job.artifacts?.when === "always") this.store(stored, job, folder, String(id));
    return { result: code === 0 ? "success" : "failure", log: output };
  }

  /** As the runner's Git strategies leave a folder that may have been used before. */
  private prepareFolder({ variables: { GIT_STRATEGY: strategy, GIT_CHECKOUT: checkout } = {} }: Job): string {
    const { kept, scratch } = this.options;
    const folder = kept ?? mkdtempSync(join(scratch, "runner-"));
    if (strategy !== "none") {
      rmSync(folder, { recursive: true, force: true });
      mkdirSync(folder);
      if (checkout !== "false") this.options.checkout(folder);
    }
    return folder;
  }

  private takesArtifacts(job: Job, need: string): boolean {
    const found = job.needs?.find((one) => typeof one !== "string" && one.job === need);
    return typeof found !== "object" || found.artifacts !== false;
  }

  private neededBy(job: Job): string[] {
    const { jobs, stages } = this.pipeline;
    const before = stages.slice(0, stages.indexOf(job.stage ?? ""));
    const names =
      job.needs?.map((need) => (typeof need === "string" ? need : need.job)) ??
      Object.keys(jobs).filter((name) => before.includes(jobs[name]?.stage ?? ""));
    const isOptional = (name: string): boolean =>
      job.needs?.some((need) => typeof need !== "string" && need.job === name && need.optional === true) ??
      true;
    return names.filter((name) => {
      if (this.results[name]?.result !== "absent") return true;
      if (!isOptional(name)) throw new Error(`a job needs ${name}, which is not in the pipeline`);
      return false;
    });
  }

  /** An upload of the program comes first: GitLab refuses a second one. */
  private store(stored: StoredJob, { artifacts }: Job, folder: string, id: string): void {
    const target = mkdtempSync(join(this.options.scratch, "artifact-"));
    const named = (path: string): string => path.replaceAll("$CI_JOB_ID", id);
    for (const path of (artifacts?.paths ?? []).map(named)) {
      if (existsSync(join(folder, path))) cpSync(join(folder, path), join(target, path), { recursive: true });
    }
    stored.artifacts ??= target;
    const dotenv = artifacts?.reports?.dotenv;
    const file = dotenv === undefined ? undefined : join(folder, named(dotenv));
    if (file !== undefined && existsSync(file)) stored.dotenv ??= parseDotenv(readFileSync(file, "utf8"));
  }

  private environmentOf(name: string, job: Job, folder: string): Values {
    const { predefined, project, token, tools } = this.options;
    const given = Object.entries(project).flatMap(([key, all]) => {
      const found = all.find(({ scope }) => scope === job.environment?.name || scope === "*");
      return found === undefined ? [] : [[key, found.value] as const];
    });
    const tokens = Object.entries(job.id_tokens ?? {}).map(([key, { aud }]) => [key, token(aud)] as const);
    return {
      HOME: mkdtempSync(join(this.options.scratch, "user-")),
      ...tools(),
      ...this.pipeline.variables,
      ...job.variables,
      ...Object.fromEntries([...given, ...tokens]),
      CI_PIPELINE_ID: PIPELINE_ID,
      ...predefined,
      CI_JOB_NAME: name,
      CI_PROJECT_DIR: folder,
    };
  }

  private holds(condition: string): boolean {
    const script = condition.replace(/\$(\w+)/g, (_, name: string) =>
      JSON.stringify(this.options.predefined[name] ?? null),
    );
    return Boolean(evaluate(script, {}));
  }
}
