import { appendFileSync, existsSync, mkdirSync, mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { parse } from "yaml";
import { evaluate, runScript, valueAt } from "./shell";
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

/** A job while it runs, for what stands in for actions. */
export interface RunningJob {
  readonly name: string;
  readonly definition: Job;
  readonly workspace: string;
  /** What actions add to the environment of later steps. */
  readonly env: Record<string, string>;
}

/** Stands in for an action. @throws Error where the action fails. */
export type Action = (inputs: Values, job: RunningJob) => void;

export interface JobResult {
  readonly result: "success" | "failure" | "skipped";
  readonly outputs: Values;
  readonly log: string;
  /** What the job has written to its summary. */
  readonly summary: string;
}

export interface RunnerOptions {
  /** The contexts `github`, `vars` and `secrets`. */
  readonly contexts: Readonly<Record<string, object>>;
  /** By the action's name without its commit. */
  readonly actions: Readonly<Record<string, Action>>;
  /** What GitHub gives to each step of a job. */
  readonly environment: (job: RunningJob) => Values;
  /** The token of a job, which carries its permissions. */
  readonly token: (job: RunningJob) => string;
  /** Replaces variables of the workflow, as its user does. */
  readonly env: Values;
  /** The folder of all folders that the jobs need. */
  readonly scratch: string;
}

type Status = "success" | "failure";

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
    const job: RunningJob = { name, definition, workspace, env: {} };
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
      always: () => true,
      success: () => status === "success",
      failure: () => status === "failure",
    });
  }
}

/** One job on one folder. */
class JobRun {
  private status: Status = "success";
  private log = "";
  private readonly steps: Record<string, { outcome: string; outputs: Record<string, string> }> = {};
  private readonly files: { readonly output: string; readonly summary: string; readonly home: string };

  constructor(
    private readonly job: RunningJob,
    private readonly contexts: object,
    private readonly workflow: Workflow,
    private readonly options: RunnerOptions,
    private readonly expressions: WorkflowRun,
  ) {
    const folder = mkdtempSync(join(options.scratch, "commands-"));
    this.files = {
      output: join(folder, "output"),
      summary: join(folder, "summary"),
      home: join(folder, "home"),
    };
    mkdirSync(this.files.home);
    appendFileSync(this.files.summary, "");
  }

  async run(): Promise<JobResult> {
    for (const [index, step] of this.job.definition.steps.entries()) {
      if (!this.expressions.holds(step.if, this.scope(), this.status)) continue;
      const key = step.id ?? String(index);
      writeFileSync(this.files.output, "");
      const isDone = await this.runStep(step);
      this.steps[key] = { outcome: isDone ? "success" : "failure", outputs: this.readOutputs() };
      if (!isDone && step["continue-on-error"] !== true) this.status = "failure";
    }
    const outputs = this.texts(this.job.definition.outputs ?? {});
    const summary = readFileSync(this.files.summary, "utf8");
    return { result: this.status, outputs, log: this.log, summary };
  }

  private async runStep(step: Step): Promise<boolean> {
    this.log += `\n# ${this.job.name}: ${step.name ?? step.uses ?? step.run ?? ""}\n`;
    if (step.uses !== undefined) return this.runAction(step);
    const folder =
      step["working-directory"] ?? this.job.definition.defaults?.run?.["working-directory"] ?? ".";
    const cwd = join(this.job.workspace, folder);
    if (!existsSync(cwd)) {
      this.log += `${cwd} does not exist\n`;
      return false;
    }
    const { code, output } = await runScript(
      step.run ?? "",
      cwd,
      this.environmentOf(step),
      this.options.scratch,
    );
    this.log += output;
    return code === 0;
  }

  private runAction(step: Step): boolean {
    const [name = ""] = (step.uses ?? "").split("@");
    const action = this.options.actions[name];
    if (action === undefined) throw new Error(`nothing stands in for the action ${name}`);
    try {
      action(this.texts(step.with ?? {}), this.job);
      return true;
    } catch (error) {
      this.log += `${String(error)}\n`;
      return false;
    }
  }

  private environmentOf(step: Step): Values {
    const shared = { ...this.texts(this.workflow.env ?? {}), ...this.options.env };
    return {
      HOME: this.files.home,
      ...this.options.environment(this.job),
      GITHUB_JOB: this.job.name,
      GITHUB_OUTPUT: this.files.output,
      GITHUB_STEP_SUMMARY: this.files.summary,
      GITHUB_WORKSPACE: this.job.workspace,
      ...shared,
      ...this.texts(this.job.definition.env ?? {}),
      ...this.job.env,
      ...this.texts(step.env ?? {}),
    };
  }

  private scope(): object {
    const { contexts } = this.options;
    const github = { ...contexts["github"], token: this.options.token(this.job) };
    return { ...this.contexts, github, steps: this.steps };
  }

  private texts(values: Readonly<Record<string, unknown>>): Record<string, string> {
    return Object.fromEntries(
      Object.entries(values).map(([key, value]) => [
        key,
        this.expressions.text(value, this.scope(), this.status),
      ]),
    );
  }

  private readOutputs(): Record<string, string> {
    const lines = readFileSync(this.files.output, "utf8").split("\n");
    return Object.fromEntries(
      lines.flatMap((line) => {
        const equals = line.indexOf("=");
        return equals < 1 ? [] : [[line.slice(0, equals), line.slice(equals + 1)]];
      }),
    );
  }
}
