import { appendFileSync, existsSync, mkdirSync, mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { readAction } from "./githubActions";
import type {
  CompositeAction,
  JobResult,
  RunnerOptions,
  RunningJob,
  Status,
  Step,
  Workflow,
  WorkflowRun,
} from "./githubActions";
import { runScript } from "./shell";
import type { Values } from "./shell";

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
export class JobRun {
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
