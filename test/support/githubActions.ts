import {
  mkdtempSync,
  readdirSync,
  readFileSync,
  appendFileSync,
  existsSync,
  mkdirSync,
  writeFileSync,
} from "node:fs";
import { join, resolve } from "node:path";
import { parse } from "yaml";
import { ROOT } from "./engine";
import { evaluate, valueAt, runScript } from "./shell";
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
    return Boolean(value) && (/\b(always|success)\(\)/.test(text) || status === "success");
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
    });
  }
}

/** A list of steps while it runs: those of the job, or of a composite action. */
interface StepList {
  readonly steps: readonly Step[];
  readonly inputs: Values;
  env: Values;
  /** The job's default does not hold inside of an action. */
  readonly workingDirectory: string;
  readonly results: Record<string, { outcome: string; outputs: Values }>;
  status: Status;
}

/** One job on one folder. */
class JobRun {
  private log = "";
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
    const { definition } = this.job;
    const list: StepList = {
      steps: definition.steps,
      inputs: {},
      env: {},
      workingDirectory: definition.defaults?.run?.["working-directory"] ?? ".",
      results: {},
      status: "success",
    };
    list.env = this.environmentOfJob(list);
    await this.runSteps(list);
    const outputs = this.texts(definition.outputs ?? {}, list);
    const summary = readFileSync(this.files.summary, "utf8");
    return { result: list.status, outputs, log: this.log, summary };
  }

  private async runSteps(list: StepList): Promise<void> {
    for (const [index, step] of list.steps.entries()) {
      if (!this.expressions.holds(step.if, this.scope(list), list.status)) {
        list.results[step.id ?? String(index)] = { outcome: "skipped", outputs: {} };
        continue;
      }
      this.log += `\n# ${this.job.name}: ${step.name ?? step.uses ?? step.run ?? ""}\n`;
      const { isDone, outputs } =
        step.uses === undefined ? await this.runCommands(step, list) : await this.runAction(step, list);
      list.results[step.id ?? String(index)] = { outcome: isDone ? "success" : "failure", outputs };
      if (!isDone && step["continue-on-error"] !== true) list.status = "failure";
    }
  }

  private async runCommands(step: Step, list: StepList): Promise<StepOutcome> {
    const folder = this.text(step["working-directory"] ?? list.workingDirectory, list);
    const cwd = resolve(this.job.workspace, folder);
    if (!existsSync(cwd)) {
      this.log += `${cwd} does not exist\n`;
      return { isDone: false, outputs: {} };
    }
    writeFileSync(this.files.output, "");
    const env = { ...list.env, ...this.job.env, ...this.texts(step.env ?? {}, list) };
    const script = this.text(step.run, list);
    const { code, output } = await runScript(script, cwd, env, this.options.scratch);
    this.log += output;
    return { isDone: code === 0, outputs: this.readOutputs() };
  }

  private async runAction(step: Step, list: StepList): Promise<StepOutcome> {
    const [name = ""] = (step.uses ?? "").split("@");
    const given = this.texts(step.with ?? {}, list);
    const folder = this.options.composites[name];
    if (folder !== undefined) return await this.runComposite(readAction(folder), given, step, list);
    const action = this.options.actions[name];
    if (action === undefined) throw new Error(`nothing stands in for the action ${name}`);
    try {
      return { isDone: true, outputs: action(given, this.job) ?? {} };
    } catch (error) {
      this.log += `${String(error)}\n`;
      return { isDone: false, outputs: {} };
    }
  }

  /** Also an action that failed has outputs, as on GitHub. */
  private async runComposite(
    action: CompositeAction,
    given: Values,
    step: Step,
    caller: StepList,
  ): Promise<StepOutcome> {
    const defaults = Object.entries(action.inputs).map(([name, input]) => [name, input.default ?? ""]);
    const list: StepList = {
      steps: action.runs.steps,
      inputs: { ...this.texts(Object.fromEntries(defaults) as Values, caller), ...given },
      env: { ...caller.env, ...this.texts(step.env ?? {}, caller) },
      workingDirectory: ".",
      results: {},
      status: "success",
    };
    await this.runSteps(list);
    const outputs = Object.entries(action.outputs ?? {}).map(([name, { value }]) => [name, value]);
    return {
      isDone: list.status === "success",
      outputs: this.texts(Object.fromEntries(outputs) as Values, list),
    };
  }

  private environmentOfJob(list: StepList): Values {
    return {
      HOME: this.files.home,
      ...this.options.environment(this.job),
      GITHUB_JOB: this.job.name,
      GITHUB_OUTPUT: this.files.output,
      GITHUB_STEP_SUMMARY: this.files.summary,
      GITHUB_WORKSPACE: this.job.workspace,
      RUNNER_TEMP: this.job.temp,
      ...this.texts(this.workflow.env ?? {}, list),
      ...this.options.env,
      ...this.texts(this.job.definition.env ?? {}, list),
    };
  }

  private scope(list: StepList): object {
    const { contexts } = this.options;
    const github = { ...contexts["github"], token: this.options.token(this.job) };
    const runner = { temp: this.job.temp };
    const secrets = this.options.secrets?.(this.job) ?? {};
    return {
      ...this.contexts,
      github,
      runner,
      secrets,
      env: list.env,
      inputs: list.inputs,
      steps: list.results,
    };
  }

  private text(value: unknown, list: StepList): string {
    return this.expressions.text(value, this.scope(list), list.status);
  }

  private texts(values: Readonly<Record<string, unknown>>, list: StepList): Values {
    return Object.fromEntries(Object.entries(values).map(([key, value]) => [key, this.text(value, list)]));
  }

  private readOutputs(): Values {
    const lines = readFileSync(this.files.output, "utf8").split("\n");
    return Object.fromEntries(
      lines.flatMap((line) => {
        const equals = line.indexOf("=");
        return equals < 1 ? [] : [[line.slice(0, equals), line.slice(equals + 1)]];
      }),
    );
  }
}

interface StepOutcome {
  readonly isDone: boolean;
  readonly outputs: Values;
}
