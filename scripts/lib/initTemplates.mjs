// @ts-check
/*
 * The templates of `pulumi-platform init`, made of the examples, the actions and the components, so that what it writes
 * needs nothing but the installed package.
 *
 * A template holds «name» where a value stands; a line with a list of values is repeated. What stands between `#if name` or
 * `#if !name` and `#end` is kept or left out.
 */
import { readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import { isMap, isPair, isScalar, Pair, parseDocument, Scalar, visit } from "yaml";

/** @typedef {import("yaml").Document} Document */
/** @typedef {import("yaml").YAMLMap} YAMLMap */
/** @typedef {import("yaml").YAMLSeq<YAMLMap>} Steps */
/** @typedef {Record<string, string>} Values */

/** As `init` writes the workflows. */
const LAYOUT = { lineWidth: 120, flowCollectionPadding: false };

/** The values of the examples, each with what takes its place. */
const EXAMPLES = new Map(
  Object.entries({
    infra: "«path»",
    acme: "«organization»",
    "acme/access/prod": "«stack»",
    "https://api.platform.example": "«baseUrl»",
    "https://issuer.platform.example": "«issuerUrl»",
  }),
);

/**
 * Changes each text of a part of a document.
 * @param {any} node @param {(text: string) => string} change
 */
function mapTexts(node, change) {
  visit(node, {
    Scalar(_, scalar) {
      if (typeof scalar.value === "string") scalar.value = change(scalar.value);
    },
  });
}

/** @param {Document} document */
const withPlaceholders = (document) => mapTexts(document, (text) => EXAMPLES.get(text) ?? text);

/** @template {Pair | import("yaml").Node} Item @param {string} condition @param {...Item} items */
function when(condition, ...items) {
  const marker = (/** @type {string} */ text) =>
    /** @type {any} */ (isPair(items[0]) ? new Pair(new Scalar(text), new Scalar(null)) : new Scalar(text));
  return [marker(`#if ${condition}`), ...items, marker("#end")];
}

/** Prints the markers of `when` as lines of their own, what package managers differ in, and no note on what to change. @param {string} text */
function finish(text) {
  return text
    .replace(/^ *(?:- )?"(#if !?\w+|#end)"(?:: null)?$/gm, "$1")
    .replace(/^ *# (?:Change|Replace) .*\n/gm, "")
    .replace(/for file in .*; do$/gm, "for file in «unexpected»; do")
    .replaceAll("[ ! -e package-lock.json ]", "[ ! -e «lockfile» ]")
    .replaceAll("npm ci --ignore-scripts --prefix .", "«installInCi»")
    .replace(
      /^( *(?:- )?)node "\$cli" plugin install\n/gm,
      "$&#if python\n$1pulumi install --no-plugins\n#end\n",
    )
    .replaceAll("pulumi/pulumi-nodejs:", "pulumi/«image»:");
}

/* GitHub: the steps of each action take the place of the step that uses it. */

/**
 * The names that a repository has once, in the text of a workflow or an action: another project's end otherwise. All deployments
 * are one group: `verify` in one of them would report what another one changes meanwhile.
 */
const GITHUB_NAMES =
  /(?<!team:)(?<!group: (?=access-deploy))\baccess-(?:preview|review|plan|deploy|drift|verification)\b/g;

/** @param {string} file */
const readWithSuffix = (file) =>
  parseDocument(readFileSync(file, "utf8").replace(GITHUB_NAMES, "$&«suffix»"));

/**
 * The steps of an action, with the values that a workflow's step gives to its inputs, and the expression of each output.
 * @param {string} actions the folder @param {string} name @param {YAMLMap} step
 * @returns {{ steps: YAMLMap[], outputs: Values }}
 */
function inlineAction(actions, name, step) {
  const action = readWithSuffix(path.join(actions, name, "action.yml"));
  const { inputs: declared, outputs = {} } = action.toJS();
  const given = step.get("with");
  /** @type {Values} */
  const inputs = {
    ...Object.fromEntries(Object.entries(declared).map(([input, { default: value }]) => [input, value])),
    ...(isMap(given) ? given.toJSON() : {}),
  };
  const valueOf = (/** @type {string} */ input) => {
    if (inputs[input] === undefined)
      throw new Error(`a workflow gives no value to the input ${input} of ${name}`);
    return inputs[input];
  };
  const steps = /** @type {Steps} */ (action.getIn(["runs", "steps"])).items.filter((inner) => {
    // A condition on an input is decided here, any other one stays.
    const [, input] = /^inputs\.([\w-]+) != ''$/.exec(String(inner.get("if"))) ?? [];
    if (input === undefined) return true;
    inner.delete("if");
    return valueOf(input) !== "";
  });
  for (const inner of steps)
    mapTexts(inner, (text) => text.replace(/\$\{\{ inputs\.([\w-]+) \}\}/g, (_, input) => valueOf(input)));
  return {
    steps,
    outputs: Object.fromEntries(Object.entries(outputs).map(([output, { value }]) => [output, value])),
  };
}

/** @param {string} actions @param {YAMLMap} job */
function inlineActions(actions, job) {
  const steps = /** @type {Steps} */ (job.get("steps"));
  steps.items = steps.items.flatMap((step) => {
    const [, name] = /^[\w-]+\/pulumi-platform\/actions\/([\w-]+)@/.exec(String(step.get("uses"))) ?? [];
    if (name === undefined) return [step];
    const inlined = inlineAction(actions, name, step);
    const outputs = job.get("outputs");
    if (isMap(outputs))
      mapTexts(outputs, (text) =>
        text.replace(/\$\{\{ steps\.([\w-]+)\.outputs\.([\w-]+) \}\}/g, (match, id, output) =>
          id === step.get("id") ? (inlined.outputs[output] ?? match) : match,
        ),
      );
    if (inlined.steps[0] && step.spaceBefore) inlined.steps[0].spaceBefore = true;
    return inlined.steps;
  });
}

/*
 * The state: the examples read it from Pulumi Cloud. Another backend is opened with the OIDC token of the job, after the
 * checkout: it removes the file of credentials that an action has written before it.
 */

/** What the workflows get beside what the examples hold. */
const parts = readFileSync(path.join(import.meta.dirname, "initTemplates.yml"), "utf8");

/** @param {YAMLMap} step @param {string} action */
const isStepOf = (step, action) => String(step.get("uses")).startsWith(`${action}@`);

/** @param {Document} document @param {YAMLMap} job */
function openBackend(document, job) {
  const steps = /** @type {Steps} */ (job.get("steps"));
  const cloud = steps.items.find((step) => isStepOf(step, "pulumi/auth-actions"));
  if (cloud === undefined) return;
  const env = /** @type {YAMLMap} */ (job.get("env"));
  const passphrase = document.createPair(
    "PULUMI_CONFIG_PASSPHRASE",
    "${{ secrets.PULUMI_CONFIG_PASSPHRASE }}",
  );
  env.items.push(...when("passphrase", passphrase));
  const inputs = /** @type {YAMLMap} */ (cloud.get("with"));
  inputs.items.push(...when("selfHosted", document.createPair("cloud-url", "«backend»")));
  const access = String(inputs.get("scope")).endsWith("deploy") ? "DEPLOY" : "PREVIEW";
  const logins = ["s3", "gs", "azblob"].flatMap((kind) =>
    when(
      kind,
      /** @type {any} */ (parseDocument(parts.replaceAll("ACCESS", access)).getIn(["logins", kind])),
    ),
  );
  steps.items.splice(steps.items.findIndex((step) => isStepOf(step, "actions/checkout")) + 1, 0, ...logins);
  steps.items.splice(steps.items.indexOf(cloud), 1, ...when("organizations", cloud));
}

/** @param {Document} document */
function nameBackend(document) {
  const env = /** @type {YAMLMap} */ (document.get("env"));
  env.items = env.items.flatMap((pair) => {
    if (String(pair.key) !== "PULUMI_BACKEND_URL") return [pair];
    const named = /** @type {Pair} */ (pair.clone());
    named.value = new Scalar("«backend»");
    return [...when("cloud", pair), ...when("!cloud", named)];
  });
  env.items.push(
    ...when("account", document.createPair("AZURE_STORAGE_ACCOUNT", "${{ vars.AZURE_STORAGE_ACCOUNT }}")),
  );
}

/*
 * A further project of a repository runs for changes of its own files. GitHub sets no status where its own filter of paths
 * skips a workflow, and a pull request then waits for a required one for ever. So a job compares the commit with the
 * default branch, and the others depend on it.
 */

/** Lets a job run after the comparison, and where its result allows it. @param {Document} document @param {string} name @param {string} condition */
function addCondition(document, name, condition) {
  const job = /** @type {YAMLMap} */ (document.getIn(["jobs", name]));
  const needs = job.get("needs");
  const after = document.createPair("needs", typeof needs === "string" ? ["changes", needs] : "changes");
  job.items = job.items.flatMap((pair) => {
    const key = String(pair.key);
    if (key === "needs") return [...when("paths", after), ...when("!paths", pair)];
    if (key !== "if") return [pair];
    const limited = pair.clone();
    mapTexts(limited.value, (text) => `${text} && needs.changes.outputs.changed ${condition}`);
    return [...when("paths", limited), ...when("!paths", pair)];
  });
  if (needs === undefined) job.items.push(...when("paths", after));
}

/** @param {Document} document @param {YAMLMap} [app] The step that gets the token of the app, which sets the required status. */
function addChangesJob(document, app) {
  const { contents } = parseDocument(parts);
  const job = /** @type {any} */ (contents).items.find(
    (/** @type {Pair} */ { key }) => String(key) === "changes",
  );
  const { items } = job.value.get("steps");
  if (app !== undefined) {
    items[0].deleteIn(["env", "COMMIT"]);
    items.splice(1, 0, app);
  } else {
    for (const key of ["if", "environment"]) job.value.delete(key);
    items.pop();
  }
  /** @type {YAMLMap} */ (document.get("jobs")).items.unshift(...when("paths", job));
}

/** Limits a workflow to changes of a project's paths. @param {Document} document @param {string} file */
function addPathFilter(document, file) {
  if (file === "access-deploy.yml") {
    const push = /** @type {YAMLMap} */ (document.getIn(["on", "push"]));
    push.items.push(...when("paths", document.createPair("paths", ["«patterns»"])));
    // A newer commit that changes only other files has no run, so it must not stop one.
    for (const job of ["review", "deploy"])
      for (const step of /** @type {Steps} */ (document.getIn(["jobs", job, "steps"])).items)
        if (isMap(step) && step.hasIn(["env", "PATHS"]))
          step.setIn(["env", "PATHS"], new Scalar("«paths»\n"));
  }
  if (file === "access-preview.yml") {
    addCondition(document, "preview", "== 'true'");
    addChangesJob(document);
  }
  if (file === "access-review.yml") {
    const [first] = /** @type {Steps} */ (document.getIn(["jobs", "gate", "steps"])).items;
    if (first?.get("id") !== "app") throw new Error("the job gate does not begin with the app's token");
    const app = /** @type {YAMLMap} */ (first.clone());
    app.set("if", "steps.compare.outputs.changed == 'false'");
    for (const name of ["start", "review"]) addCondition(document, name, "== 'true'");
    // Where the comparison fails, these report that nothing was reviewed.
    for (const name of ["post", "gate"]) addCondition(document, name, "!= 'false'");
    addChangesJob(document, app);
  }
}

/**
 * An action has steps for one event of several. A workflow that one event starts has those of its event, without the condition.
 * @param {Document} document @param {YAMLMap} job
 */
function dropOtherEvents(document, job) {
  const [started, ...others] = /** @type {YAMLMap} */ (document.get("on")).items;
  if (others.length > 0) return;
  const steps = /** @type {Steps} */ (job.get("steps"));
  steps.items = steps.items.filter((step) => {
    const [, operator, event] = /^github\.event_name (==|!=) '(\w+)'$/.exec(String(step.get("if"))) ?? [];
    if (operator === undefined) return true;
    step.delete("if");
    return (event === String(started?.key)) === (operator === "==");
  });
}

/** @param {string} root @param {string} file */
function githubTemplate(root, file) {
  const document = readWithSuffix(path.join(root, "examples/ci", file));
  const jobs = /** @type {import("yaml").YAMLMap<unknown, YAMLMap>} */ (document.get("jobs"));
  for (const { value: job } of jobs.items) if (job) inlineActions(path.join(root, "actions"), job);
  for (const { value: job } of jobs.items) if (job) dropOtherEvents(document, job);
  for (const { value: job } of jobs.items) if (job) openBackend(document, job);
  nameBackend(document);
  visit(document, {
    Pair(_, { key, value }) {
      if (isScalar(key) && key.value === "branches") mapTexts(value, () => "«branch»");
    },
  });
  withPlaceholders(document);
  addPathFilter(document, file);
  return finish(document.toString(LAYOUT));
}

/* GitLab: the jobs of each component take its place, since each GitLab would need a copy of this package's repository. */

/** The jobs of a pipeline, which share its environments. */
const GITLAB_NAMES =
  /(?<!name: )(?<!resource_group: )\baccess-(?:plan-review|plan|start|preview|review|post|gate|deploy|verify|drift)\b/g;

/** The rules for events that have changes; a schedule has none. */
const GITLAB_RULES = /^( *)- if: \$CI_PIPELINE_SOURCE == "(?:merge_request_event|push)".*$/gm;

/** What begins the file of a further project, which the pipeline of the first one includes. */
const FURTHER_HEADER = `# Keep this file beside gitlab-ci.yml of the first project, and include it there:
#   include: [{ local: gitlab-ci«suffix».yml }]
# It has the variables and the environments of the first project. A merge request that changes nothing of its own has none
# of these jobs.
`;

/** The jobs of a component, with the values of its inputs. @param {string} root @param {{ component: string, inputs: Values }} include */
function inlineComponent(root, { component, inputs }) {
  const [, name = ""] = /\/[\w-]+\/pulumi-platform\/([\w-]+)@/.exec(component) ?? [];
  const text = readFileSync(path.join(root, "templates", name, "template.yml"), "utf8");
  const { spec } = parseDocument(text.slice(0, text.indexOf("\n---\n"))).toJS();
  return text
    .slice(text.indexOf("\n---\n") + "\n---\n".length)
    .replace(GITLAB_NAMES, "$&«suffix»")
    .replace('ACCESS_PATHS: { value: ""', 'ACCESS_PATHS: { value: "«lines»"')
    .replace(GITLAB_RULES, "$&\n#if paths\n$1  changes: [«globs»]\n#end")
    .replace(/\$\[\[ inputs\.([\w-]+) \]\]/g, (_, input) => {
      const value = input === "backend-url" ? "«backend»" : (inputs[input] ?? spec.inputs[input]?.default);
      if (value === undefined)
        throw new Error(`the pipeline gives no value to the input ${input} of ${name}`);
      return value;
    });
}

/** @param {string} root */
function gitlabTemplate(root) {
  const document = parseDocument(readFileSync(path.join(root, "examples/ci/gitlab-ci.yml"), "utf8"));
  withPlaceholders(document);
  const { include } = document.toJS();
  document.delete("include");
  const first = document.toString(LAYOUT).replaceAll("PULUMI_ACCESS_TOKEN", "«variables»");
  const header = `#if !further\n${first}#end\n#if further\n${FURTHER_HEADER}#end\n`;
  const jobs = include.map((/** @type {any} */ one) => {
    const text = inlineComponent(root, one);
    // One run compares all stacks of an organisation.
    return one.component.includes("/drift@") ? `#if !further\n${text}#end\n` : text;
  });
  return finish([header, ...jobs].join("\n"));
}

/* The program */

/** Rewrites the imports and exports of the template for CommonJS. @param {string} text */
function toCommonJs(text) {
  const written = text
    .replace(/^import (\{[^}]*\}) from ("[^"]+");$/gm, "const $1 = require($2);")
    .replace(/^export const (\w+) =/gm, "exports.$1 =");
  if (/^(import|export)\b/m.test(written)) throw new Error("the program has an import of an unknown form");
  return written;
}

/** The program with the identities of CI, for the repository and the branch. @param {string} text */
const identitiesTemplate = (text) =>
  text
    .replaceAll("acme/access", "«repository»")
    .replace(/(?<=const issuer = ")[^"]*/, "«issuer»")
    .replace(":refs/heads/main", ":refs/heads/«branch»")
    .replace(":ref:main", ":ref:«branch»");

/** The project file, without what `pulumi new` reads. @param {string} text */
function projectTemplate(text) {
  const document = parseDocument(text);
  document.delete("template");
  document.set("name", "«project»");
  document.set("description", "Who may do what in the organisation");
  // A package.json that exists may name another program.
  document.set("main", "«main»");
  return document.toString();
}

/** The package.json, in which only TypeScript needs the packages for development. @param {string} text */
function manifestTemplate(text) {
  const values = { name: "«packageName»", main: "«main»" };
  return `${JSON.stringify({ ...JSON.parse(text), ...values }, undefined, 2)}\n`.replace(
    /^ {2}\},\n( {2}"devDependencies": \{[^}]*\}\n)/m,
    "#if typescript\n  },\n$1#end\n#if !typescript\n  }\n#end\n",
  );
}

/**
 * Every template that is made of other files, by its path below templates/init.
 * @param {string} root of the repository @returns {Map<string, string>}
 */
export function initTemplates(root) {
  const workflows = readdirSync(path.join(root, "examples/ci")).filter((name) =>
    /^access-.*\.yml$/.test(name),
  );
  const read = (/** @type {string} */ name) =>
    readFileSync(path.join(root, "templates/typescript", name), "utf8");
  const program = read("index.ts")
    .replace(/name: "first-\w+/g, "$&«suffix»")
    .replace(/(?<=issuer: ")[^"]*/, "«sampleIssuer»")
    .replace(/(?<=subject: ")[^"]*/, "«sampleSubject»");
  const withIdentities = (/** @type {string} */ text, /** @type {string} */ line) =>
    `${text}#if ci\n\n${line}\n#end\n`;
  return new Map([
    ...workflows.map((file) => /** @type {const} */ ([`github/${file}`, githubTemplate(root, file)])),
    ["gitlab/gitlab-ci.yml", gitlabTemplate(root)],
    ["program/Pulumi.yaml", projectTemplate(read("Pulumi.yaml"))],
    ["program/access-policy.yaml", read("access-policy.yaml")],
    [
      "program/commonjs.txt",
      withIdentities(toCommonJs(program), 'Object.assign(exports, require("«identities»"));'),
    ],
    ["program/module.txt", withIdentities(program, 'export * from "«identities»";')],
    ...["github", "gitlab"].flatMap((host) => {
      const text = identitiesTemplate(
        readFileSync(path.join(root, `examples/ci/identities-${host}.ts`), "utf8"),
      );
      return /** @type {[string, string][]} */ ([
        [`program/identities-${host}-commonjs.txt`, toCommonJs(text)],
        [`program/identities-${host}-module.txt`, text],
      ]);
    }),
    ["program/package.txt", manifestTemplate(read("package.json"))],
    ["program/tsconfig.txt", read("tsconfig.json")],
  ]);
}
