import { mkdtempSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { parse } from "yaml";
import { ROOT } from "./engine";
import { JobRun } from "./githubJob";
import { evaluate, valueAt } from "./shell";
import type { Values } from "./shell";

export interface Step {
  readonly id?: string;
  readonly name?: string;
  readonly uses?: string;
  readonly run?: string;
  readonly if?: string;
  readonly with?: Readonly<Record<string, unknown>>;
  readonly env?: Readonly<Record<string, unknown>>;
  readonly "continue-on-error"?: boolean;
  readonly "working-directory"?: string;
  readonly shell?: string;
}

/** What `action.yml` holds. */
export interface CompositeAction {
  readonly name: string;
  readonly description: string;
  readonly inputs: Readonly<Record<string, ActionInput>>;
  readonly outputs?: Readonly<Record<string, { readonly description: string; readonly value: string }>>;
  readonly runs: { readonly using: "composite"; readonly steps: readonly Step[] };
}

export interface ActionInput {
  readonly description: string;
  readonly required?: boolean;
  readonly default?: string;
}

export interface Job {
  readonly if?: string;
  readonly needs?: string | readonly string[];
  readonly permissions?: Values;
  readonly env?: Readonly<Record<string, unknown>>;
  readonly environment?: string;
  readonly outputs?: Values;
  readonly defaults?: { readonly run?: { readonly "working-directory"?: string } };
  readonly steps: readonly Step[];
}

export interface Workflow {
  readonly on: Readonly<Record<string, unknown>>;
  readonly permissions: object;
  readonly env?: Readonly<Record<string, unknown>>;
  readonly jobs: Readonly<Record<string, Job>>;
}

export const readWorkflow = (file: string): Workflow =>
  parse(readFileSync(file, "utf8"), { strict: true }) as Workflow;

export const readAction = (folder: string): CompositeAction =>
  parse(readFileSync(join(folder, "action.yml"), "utf8"), { strict: true }) as CompositeAction;

const ACTIONS = join(ROOT, "actions");

/** The owner of this repository in the examples: a release puts a name in the place of OWNER. */
export const OWNER = /uses: ([\w-]+)\/pulumi-platform\//.exec(
  readFileSync(join(ROOT, "examples", "ci", "access-preview.yml"), "utf8"),
)?.[1];

/** The actions of this repository, by the name that the examples have for them. */
export const ownActions: Values = Object.fromEntries(
  readdirSync(ACTIONS).map((name) => [`${OWNER}/pulumi-platform/actions/${name}`, join(ACTIONS, name)]),
);

/** A job while it runs, for what stands in for actions. */
export interface RunningJob {
  readonly name: string;
  readonly definition: Job;
  readonly workspace: string;
  /** The folder that GitHub empties before each job. */
  readonly temp: string;
  /** What actions add to the environment of later steps. */
  readonly env: Record<string, string>;
}

/** Stands in for an action; returns its outputs, if it has any. @throws Error where the action fails. */
export type Action = (inputs: Values, job: RunningJob) => Values | undefined;

export interface JobResult {
  readonly result: "success" | "failure" | "skipped";
  readonly outputs: Values;
  readonly log: string;
  /** What the job has written to its summary. */
  readonly summary: string;
}

export interface RunnerOptions {
  /** The contexts `github` and `vars`. */
  readonly contexts: Readonly<Record<string, object>>;
  /** The secrets of a job, by its environment; none where it is absent. */
  readonly secrets?: (job: RunningJob) => Values;
  /** By the action's name without its commit. */
  readonly actions: Readonly<Record<string, Action>>;
  /** The folders of composite actions, by name: their steps run as they are. */
  readonly composites: Values;
  /** What GitHub gives to each step of a job. */
  readonly environment: (job: RunningJob) => Values;
  /** The token of a job, which carries its permissions. */
  readonly token: (job: RunningJob) => string;
  /** Replaces variables of the workflow, as its user does. */
  readonly env: Values;
  /** The folder of all folders that the jobs need. */
  readonly scratch: string;
}

export type Status = "success" | "failure";

/** Runs the jobs of one workflow in their order, on folders in place of machines. */
export class WorkflowRun {
  private readonly results: Record<string, JobResult> = {};

  constructor(
    private readonly workflow: Workflow,
    private readonly options: RunnerOptions,
  ) {}

  /** Jobs stand in a workflow after those that they need. */
  async run(): Promise<Readonly<Record<string, JobResult>>> {
    for (const [name, definition] of Object.entries(this.workflow.jobs)) {
      this.results[name] = await this.runJob(name, definition);
    }
    return this.results;
  }

  private async runJob(name: string, definition: Job): Promise<JobResult> {
    const needed = [definition.needs ?? []].flat();
    const needs = Object.fromEntries(needed.map((need) => [need, this.results[need]]));
    const status = Object.values(needs).every((need) => need?.result === "success") ? "success" : "failure";
    if (!this.holds(definition.if, { needs }, status)) {
      return { result: "skipped", outputs: {}, log: "", summary: "" };
    }
    const workspace = mkdtempSync(join(this.options.scratch, "runner-"));
    const temp = mkdtempSync(join(this.options.scratch, "temp-"));
    const job: RunningJob = { name, definition, workspace, temp, env: {} };
    return await new JobRun(job, { needs }, this.workflow, this.options, this).run();
  }

  /** Whether a condition holds; one without a function of status also asks for success so far. */
  holds(condition: string | undefined, contexts: object, status: Status): boolean {
    const text = condition ?? "success()";
    const value = this.value(text, contexts, status);
    return Boolean(value) && (/\b(always|failure|success)\(\)/.test(text) || status === "success");
  }

  /** Replaces each `${{ … }}` of a text. */
  text(value: unknown, contexts: object, status: Status): string {
    return String(value).replace(
      /\$\{\{([\s\S]*?)\}\}/g,
      (_, expression: string) => this.value(expression, contexts, status) as string,
    );
  }

  private value(expression: string, contexts: object, status: Status): unknown {
    const all = { ...this.options.contexts, ...contexts };
    // A name with dashes is one name there, and a missing one is empty.
    const script = expression.replace(/'[^']*'|\b[a-z]+(?:\.[\w-]+)+/g, (found) =>
      found.startsWith("'") ? found : `valueAt(${JSON.stringify(found.split("."))})`,
    );
    return evaluate(script.trim(), {
      valueAt: (path: string[]) => valueAt(all, path) ?? "",
      format: (text: string, ...values: unknown[]) =>
        text.replace(/\{(\d+)\}/g, (_, index: string) => String(values[Number(index)])),
      always: () => true,
      success: () => status === "success",
      failure: () => status === "failure",
    });
  }
}
