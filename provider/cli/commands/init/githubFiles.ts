import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { isMap, isScalar, isSeq, parseDocument, visit } from "yaml";
import type { Document, Node, YAMLMap, YAMLSeq } from "yaml";
import { CodedError } from "../../../errorCodes/codedError";
import { fillExample, LAYOUT, withoutInstructions } from "./fillExample";
import type { CiSettings } from "./fillExample";
import { fillBackend } from "./githubBackend";

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

/** A member that is a string; otherwise the empty one. */
function textOf(map: YAMLMap, key: string): string {
  const value = map.get(key);
  return typeof value === "string" ? value : "";
}

/** Whether a step runs: the condition on an input is decided here, any other one stays. */
function keepsStep(step: YAMLMap, inputs: Inputs): boolean {
  const [, name] = /^inputs\.([\w-]+) != ''$/.exec(textOf(step, "if")) ?? [];
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

interface InlinedStep {
  readonly steps: readonly Node[];
  /** The expression of each output. */
  readonly outputs: Inputs;
}

/** The steps of an action, with the values that a workflow's step gives to its inputs. */
function inlineAction(folder: string, step: YAMLMap): InlinedStep {
  const action = parseDocument(readFileSync(join(folder, "action.yml"), "utf8"));
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

function inlineJob(actions: string, job: YAMLMap): void {
  const steps = job.get("steps") as YAMLSeq<YAMLMap>;
  steps.items = steps.items.flatMap((step) => {
    const [, name] = OWN_ACTION.exec(textOf(step, "uses")) ?? [];
    if (name === undefined) return [step];
    const inlined = inlineAction(join(actions, name), step);
    fillOutputs(job, textOf(step, "id"), inlined.outputs);
    const [first] = inlined.steps;
    if (first && step.spaceBefore) first.spaceBefore = true;
    return inlined.steps as YAMLMap[];
  });
}

function inlineWorkflow(actions: string, document: Document): void {
  const jobs = document.get("jobs") as YAMLMap;
  for (const { value } of jobs.items) if (isMap(value)) inlineJob(actions, value);
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

/** The workflows, by their paths below the root of the repository. @param packageRoot The folder of this package. */
export function githubFiles(packageRoot: string, settings: CiSettings): Record<string, string> {
  const examples = join(packageRoot, "examples", "ci");
  const names = readdirSync(examples).filter((name) => /^access-.*\.yml$/.test(name));
  return Object.fromEntries(
    names.map((name) => {
      const document = parseDocument(readFileSync(join(examples, name), "utf8"));
      inlineWorkflow(join(packageRoot, "actions"), document);
      fillBranch(document, settings.defaultBranch);
      fillBackend(document, settings.backend);
      fillExample(document, settings);
      return [`.github/workflows/${name}`, withoutInstructions(document.toString(LAYOUT), settings)];
    }),
  );
}
