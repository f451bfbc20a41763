import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { isMap, isScalar, isSeq, parseDocument, visit } from "yaml";
import type { Document, Node, YAMLMap, YAMLSeq } from "yaml";
import { CodedError } from "../../../errors/codedError";
import { fillExample, LAYOUT, withoutInstructions } from "./fillExample";
import type { CiSettings } from "./fillExample";
import { fillBackend } from "./githubBackend";
import { addPathFilter, withGithubSuffix } from "./pathFilter";

/*
 * The workflows of examples/ci name the actions of this package's repository by a placeholder. Here the steps of each
 * action take its place, so that a workflow needs nothing but the installed package.
 */

/** What `action.yml` says of its inputs and outputs. */
interface ActionInterface {
  readonly inputs: Readonly<Record<string, { readonly default?: string }>>;
  readonly outputs?: Readonly<Record<string, { readonly value: string }>>;
}

const OWN_ACTION = /^[\w-]+\/pulumi-platform\/actions\/([\w-]+)@/;

type Inputs = Readonly<Record<string, string>>;

function inputOf(inputs: Inputs, name: string): string {
  const value = inputs[name];
  if (value === undefined) throw new CodedError("PP9001", `a workflow gives no value to the input ${name}`);
  return value;
}

/** Reads a member that is a string; otherwise the empty one. */
function readStringMember(map: YAMLMap, key: string): string {
  const value = map.get(key);
  return typeof value === "string" ? value : "";
}

/** Whether a step runs: the condition on an input is decided here, any other one stays. */
function keepsStep(step: YAMLMap, inputs: Inputs): boolean {
  const [, name] = /^inputs\.([\w-]+) != ''$/.exec(readStringMember(step, "if")) ?? [];
  if (name === undefined) return true;
  step.delete("if");
  return inputOf(inputs, name) !== "";
}

function fillInputs(step: YAMLMap, inputs: Inputs): void {
  visit(step, {
    Scalar(_, scalar) {
      if (typeof scalar.value !== "string") return;
      scalar.value = scalar.value.replace(/\$\{\{ inputs\.([\w-]+) \}\}/g, (_match, name: string) =>
        inputOf(inputs, name),
      );
    },
  });
}

/** Where the actions are, and what a further project adds to names. */
interface Parts {
  readonly actions: string;
  readonly suffix?: string;
}

interface InlinedStep {
  readonly steps: readonly Node[];
  /** The expression of each output. */
  readonly outputs: Inputs;
}

/** The steps of an action, with the values that a workflow's step gives to its inputs. */
function inlineAction({ actions, suffix }: Parts, name: string, step: YAMLMap): InlinedStep {
  const text = readFileSync(join(actions, name, "action.yml"), "utf8");
  const action = parseDocument(withGithubSuffix(text, suffix));
  const { inputs: declared, outputs = {} } = action.toJS() as ActionInterface;
  const given = step.get("with");
  const inputs: Inputs = {
    ...Object.fromEntries(
      Object.entries(declared).flatMap(([name, input]) =>
        input.default === undefined ? [] : [[name, input.default]],
      ),
    ),
    ...(isMap(given) ? (given.toJSON() as Inputs) : {}),
  };
  const steps = (action.getIn(["runs", "steps"]) as YAMLSeq<YAMLMap>).items;
  const kept = steps.filter((inner) => keepsStep(inner, inputs));
  for (const inner of kept) fillInputs(inner, inputs);
  const values = Object.entries(outputs).map(([name, { value }]) => [name, value] as const);
  return { steps: kept, outputs: Object.fromEntries(values) };
}

/** Replaces the outputs of a step that is gone by those of the steps in its place. */
function fillOutputs(job: YAMLMap, id: string, outputs: Inputs): void {
  const declared = job.get("outputs");
  if (!isMap(declared)) return;
  visit(declared, {
    Scalar(_, scalar) {
      if (typeof scalar.value !== "string") return;
      scalar.value = scalar.value.replace(
        /\$\{\{ steps\.([\w-]+)\.outputs\.([\w-]+) \}\}/g,
        (match, step: string, name: string) => (step === id ? inputOf(outputs, name) : match),
      );
    },
  });
}

function inlineJob(parts: Parts, job: YAMLMap): void {
  const steps = job.get("steps") as YAMLSeq<YAMLMap>;
  steps.items = steps.items.flatMap((step) => {
    const [, name] = OWN_ACTION.exec(readStringMember(step, "uses")) ?? [];
    if (name === undefined) return [step];
    const inlined = inlineAction(parts, name, step);
    fillOutputs(job, readStringMember(step, "id"), inlined.outputs);
    const [first] = inlined.steps;
    if (first && step.spaceBefore) first.spaceBefore = true;
    return inlined.steps as YAMLMap[];
  });
}

function inlineWorkflow(parts: Parts, document: Document): void {
  const jobs = document.get("jobs") as YAMLMap;
  for (const { value } of jobs.items) if (isMap(value)) inlineJob(parts, value);
}

/** Replaces the branch that pull requests and pushes name. */
function fillBranch(document: Document, branch: string): void {
  visit(document, {
    Pair(_, { key, value }) {
      if (!isScalar(key) || key.value !== "branches" || !isSeq(value)) return;
      for (const item of value.items) if (isScalar(item)) item.value = branch;
    },
  });
}

/** The examples, by the paths of the files that they become. */
export function githubPaths(packageRoot: string, suffix = ""): Map<string, string> {
  const names = readdirSync(join(packageRoot, "examples", "ci")).filter((name) =>
    /^access-.*\.yml$/.test(name),
  );
  return new Map(names.map((name) => [`.github/workflows/${name.replace(/\.yml$/, `${suffix}.yml`)}`, name]));
}

/** The workflows, by their paths below the root of the repository. @param packageRoot The folder of this package. */
export function githubFiles(packageRoot: string, settings: CiSettings): Record<string, string> {
  const { backend, defaultBranch, further } = settings;
  const parts: Parts = { actions: join(packageRoot, "actions"), ...(further && { suffix: further.suffix }) };
  const files = [...githubPaths(packageRoot, further?.suffix)].map(([path, name]) => {
    const text = readFileSync(join(packageRoot, "examples", "ci", name), "utf8");
    const document = parseDocument(withGithubSuffix(text, further?.suffix));
    inlineWorkflow(parts, document);
    fillBranch(document, defaultBranch);
    fillBackend(document, backend);
    fillExample(document, settings);
    if (further) addPathFilter(document, name, further, defaultBranch);
    return [path, withoutInstructions(document.toString(LAYOUT), settings)];
  });
  return Object.fromEntries(files) as Record<string, string>;
}
