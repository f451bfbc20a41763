import { cpSync, existsSync, mkdtempSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { parse } from "yaml";
import { evaluate, runScript } from "./shell";
import type { Values } from "./shell";

type Need = string | { readonly job: string; readonly optional?: boolean };

export interface Job {
  readonly extends?: string;
  readonly stage?: string;
  readonly needs?: readonly Need[];
  readonly rules?: readonly { readonly if?: string; readonly when?: "always" | "manual" }[];
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

const keywords = ["workflow", "stages", "default", "variables"];

/** Reads a configuration, with what jobs take from templates. */
export function readPipeline(file: string): Pipeline {
  const all = parse(readFileSync(file, "utf8"), { strict: true }) as Readonly<Record<string, Job>>;
  const { stages, variables } = all as unknown as Pipeline;
  const jobs = Object.entries(all)
    .filter(([name]) => !keywords.includes(name) && !name.startsWith("."))
    .map(([name, job]) => {
      const template = job.extends === undefined ? {} : (all[job.extends] ?? {});
      return [name, { ...template, ...job, variables: { ...template.variables, ...job.variables } }] as const;
    });
  return { stages, variables, jobs: Object.fromEntries(jobs) };
}

export interface JobResult {
  readonly result: "success" | "failure" | "skipped" | "absent";
  readonly log: string;
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
  /** Lays out what the pipeline is for. */
  readonly checkout: (folder: string) => void;
  readonly tools: () => Values;
  /** Replaces variables of the configuration, as its user does. */
  readonly variables: Values;
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

  /** As GitLab says it of the whole: a job that failed fails the pipeline. */
  get status(): "success" | "failure" {
    return Object.values(this.results).some(({ result }) => result === "failure") ? "failure" : "success";
  }

  private async runJob(name: string, job: Job): Promise<JobResult> {
    const rule = job.rules?.find((one) => one.if === undefined || this.holds(one.if));
    if (job.rules !== undefined && rule === undefined) return { result: "absent", log: "" };
    if (rule?.when === "manual") return { result: "skipped", log: "" };
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
    const { predefined, project, token, tools, variables } = this.options;
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
      ...variables,
      ...Object.fromEntries([...given, ...tokens]),
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
