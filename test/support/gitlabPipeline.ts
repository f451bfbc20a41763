import { cpSync, existsSync, mkdtempSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { parse, parseAllDocuments } from "yaml";
import { ROOT } from "./engine";
import { evaluate, runScript } from "./shell";
import type { Values } from "./shell";

type Need = string | { readonly job: string; readonly optional?: boolean };

interface Rule {
  readonly if?: string;
  /** Patterns of the paths of which one must have changed: a file, or a folder with all below it. */
  readonly changes?: readonly string[];
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
  readonly artifacts?: { readonly when?: "always"; readonly paths?: readonly string[] };
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
  const { spec } = header?.toJS() as { spec: { inputs: Readonly<Record<string, ComponentInput>> } };
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
  /** The folder of its artifacts. */
  readonly artifacts: string;
}

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
  /** Paths that the event changes; without them, rules for changes hold, as in a schedule. */
  readonly changed?: readonly string[];
  /** Lays out what the pipeline is for. */
  readonly checkout: (folder: string) => void;
  readonly tools: () => Values;
  /** The manual jobs that a person starts. */
  readonly manual?: readonly string[];
  /** Jobs that do not run: their results and artifacts are those of another pipeline. */
  readonly recorded?: Readonly<Record<string, RecordedJob>>;
  readonly scratch: string;
}

/** Runs a pipeline's jobs in the order of their stages, on folders in place of machines. */
export class PipelineRun {
  readonly results: Record<string, JobResult> = {};
  /** What each job had in its environment. */
  readonly environments: Record<string, Values> = {};
  private readonly artifacts: Record<string, string> = {};

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
      const [result, artifacts] = [this.results[name], this.artifacts[name]];
      if (result === undefined || artifacts === undefined) throw new Error(`${name} did not run`);
      return [name, { result, artifacts }] as const;
    });
    return Object.fromEntries(entries);
  }

  /** As GitLab says it of the whole: a job that failed fails the pipeline. */
  get status(): "success" | "failure" {
    return Object.values(this.results).some(({ result }) => result === "failure") ? "failure" : "success";
  }

  private async runJob(name: string, job: Job): Promise<JobResult> {
    const rule = job.rules?.find(
      (one) => (one.if === undefined || this.holds(one.if)) && this.isChanged(one.changes),
    );
    if (job.rules !== undefined && rule === undefined) return { result: "absent", log: "" };
    if (rule?.when === "manual" && !this.options.manual?.includes(name)) {
      return { result: "skipped", log: "" };
    }
    const recorded = this.options.recorded?.[name];
    if (recorded !== undefined) {
      this.artifacts[name] = recorded.artifacts;
      return recorded.result;
    }
    const needs = this.neededBy(job);
    const isReady = needs.every((need) => this.results[need]?.result === "success");
    if (!isReady && rule?.when !== "always") return { result: "skipped", log: "" };
    const folder = mkdtempSync(join(this.options.scratch, `runner-`));
    if (job.variables?.["GIT_STRATEGY"] !== "none") this.options.checkout(folder);
    for (const need of needs) {
      const stored = this.artifacts[need];
      if (stored !== undefined) cpSync(stored, folder, { recursive: true });
    }
    const env = this.environmentOf(name, job, folder);
    this.environments[name] = env;
    const script = [...(job.before_script ?? []), ...(job.script ?? [])].join("\n");
    const { code, output } = await runScript(script, folder, env, this.options.scratch);
    if (code === 0 || job.artifacts?.when === "always") this.store(name, job, folder);
    return { result: code === 0 ? "success" : "failure", log: output };
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

  private store(name: string, job: Job, folder: string): void {
    const target = mkdtempSync(join(this.options.scratch, "artifact-"));
    for (const path of job.artifacts?.paths ?? []) {
      if (existsSync(join(folder, path))) cpSync(join(folder, path), join(target, path), { recursive: true });
    }
    this.artifacts[name] = target;
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
      ...predefined,
      CI_JOB_NAME: name,
      CI_PROJECT_DIR: folder,
    };
  }

  private isChanged(patterns: readonly string[] | undefined): boolean {
    const { changed } = this.options;
    if (patterns === undefined || changed === undefined) return true;
    return changed.some((path) =>
      patterns.some((pattern) =>
        pattern.endsWith("/**/*") ? path.startsWith(pattern.slice(0, -"**/*".length)) : path === pattern,
      ),
    );
  }

  private holds(condition: string): boolean {
    const script = condition.replace(/\$(\w+)/g, (_, name: string) =>
      JSON.stringify(this.options.predefined[name] ?? null),
    );
    return Boolean(evaluate(script, {}));
  }
}
