import { commands } from "../../../../provider/cli/commands/list";
import { reportFormats } from "../../../../provider/access/report/render/options";

/*
 * What each command writes and reads, and so which outputs are the input of which command. `pairs.test.ts` runs each
 * pair, and fails where a command has an output or an input that stands here in no list.
 */

/** What an output holds and an input takes. */
export type DocumentKind =
  | "review report"
  | "drift report"
  | "verify report"
  | "inventory"
  | "policy"
  | "rule"
  | "digest"
  | "group"
  | "identity uid"
  | "uid"
  | "capability"
  | "subject"
  | "server data"
  // The Pulumi CLI stands between: it makes the others of a project.
  | "project"
  | "preview"
  | "state"
  | "plan"
  // Terraform writes it.
  | "terraform state";

type Documents = Readonly<Record<string, readonly DocumentKind[]>>;

/** For people, or for tools of others: no command reads them. */
const forOthers = (command: string, forms: readonly string[]): Documents =>
  Object.fromEntries(forms.map((form) => [`${command} --output ${form}`, []]));

const reportForms = reportFormats.filter((form) => form !== "json");

export const outputs: Documents = {
  ...forOthers("review", reportForms),
  "review --output json": ["review report", "rule", "digest"],
  "review --write-baseline": ["policy"],
  ...forOthers("verify", reportForms),
  "verify --output json": ["verify report"],
  ...forOthers("drift", reportForms),
  "drift --output json": ["drift report", "rule", "policy"],
  "drift --write-baseline": ["policy"],
  ...forOthers("watch", reportForms),
  "watch --output json": ["drift report"],
  ...forOthers("access", ["text", "csv", "md", "html"]),
  "access --output json": ["subject", "capability"],
  ...forOthers("explain", ["text", "md"]),
  "explain --output json": ["rule", "policy"],
  ...forOthers("inventory", ["text"]),
  "inventory --output json": ["inventory", "identity uid", "uid"],
  ...forOthers("doctor", ["text"]),
  "doctor --output json": ["group"],
  ...forOthers("whoami", ["text"]),
  "whoami --output json": ["group"],
  ...forOthers("adopt", ["text", "json"]),
  "adopt --out": ["project"],
  "emulator --data": ["server data"],
};

export const inputs: Documents = {
  "review <preview>": ["preview"],
  "review --before": ["state"],
  "review --inventory": ["inventory"],
  "review --plan": ["plan"],
  "review --policy": ["policy"],
  "review --policy-base": ["policy"],
  "review --write-baseline": ["policy"],
  "review --project": ["project"],
  "review --self": ["identity uid"],
  "review --required-owner": ["identity uid"],
  "verify <review.json>": ["review report"],
  "verify --digest": ["digest"],
  "verify --state": ["state"],
  "verify --inventory": ["inventory"],
  "verify --plan": ["plan"],
  "verify --root": ["group"],
  "verify --cwd": ["project"],
  "access --inventory": ["inventory"],
  "access --state": ["state"],
  "access --policy": ["policy"],
  "access --preview": ["preview"],
  "access --who": ["subject"],
  "access --can": ["capability"],
  "access --on": ["group"],
  "explain <RULE>": ["rule"],
  // A word, and no document.
  "plugin <install|path>": [],
  "access --unused": [],
  // Code that a person writes.
  "review --rules": [],
  "drift --rules": [],
  "watch --rules": [],
  "explain --rules": [],
  "post <report.json>": ["review report", "drift report", "verify report"],
  "init <DIR>": ["project"],
  "inventory --root": ["group"],
  "drift --state": ["state"],
  "drift --inventory": ["inventory"],
  "drift --since": ["inventory"],
  "drift --policy": ["policy"],
  "drift --write-baseline": ["policy"],
  "drift --root": ["group"],
  "drift --self": ["identity uid"],
  "drift --required-owner": ["identity uid"],
  "drift --cwd": ["project"],
  "adopt --inventory": ["inventory"],
  "adopt --root": ["group"],
  "adopt --state": ["state"],
  "adopt --only": ["uid"],
  "adopt --from-terraform": ["terraform state"],
  "adopt --out": ["project"],
  "watch --state": ["state"],
  "watch --policy": ["policy"],
  "watch --group": ["group"],
  "watch --cwd": ["project"],
  "emulator --data": ["server data"],
};

/** Values that a person chooses, or that the place of a run gives: no command writes them. */
const SETTINGS: readonly string[] = [
  ..."ADDRESS FORMAT HOST HOST:PORT KEY LANGUAGE KIND[,KIND] LEVEL N NAME NUMBER PERCENT REASON REF SHA STACK".split(
    " ",
  ),
  ..."TIME TOKEN UNIT URL WHERE WHICH".split(" "),
];

/** Flags that name what a command writes; it reads it too where it is there. */
const WRITTEN: readonly string[] = ["write-baseline", "out", "data"];

/** Of files and folders, a part of other paths: nothing is read there. */
const PREFIX = "source-root";

/** The outputs and inputs that the descriptions of all commands name. */
export function describedDocuments(): { readonly outputs: string[]; readonly inputs: string[] } {
  const found = { outputs: [] as string[], inputs: [] as string[] };
  for (const { name, load } of commands) {
    const { description } = load();
    // A shell is no document.
    const positionals = name === "completion" ? [] : (description.arguments ?? []);
    found.inputs.push(...positionals.map((argument) => `${name} <${argument}>`));
    for (const [flag, { type, formats: forms, value = "" }] of Object.entries(description.flags)) {
      if (forms !== undefined) {
        found.outputs.push(...forms.map((form) => `${name} --${flag} ${form}`));
      } else if (type === "string" && flag !== PREFIX && !SETTINGS.includes(value)) {
        found.inputs.push(`${name} --${flag}`);
        if (WRITTEN.includes(flag)) found.outputs.push(`${name} --${flag}`);
      }
    }
  }
  return { outputs: found.outputs.sort(), inputs: found.inputs.sort() };
}

/** What the Pulumi CLI writes about a project, by the command. */
const ofProject: Documents = {
  "pulumi preview --json": ["preview"],
  "pulumi preview --save-plan": ["plan"],
  "pulumi stack export": ["state"],
};

/** A pair of which the Pulumi CLI is a part: `test/engine/adopt` runs it, and no test of this folder does. */
export const needsPulumi = (pair: string): boolean =>
  pair.startsWith("adopt --out ->") && pair !== "adopt --out -> init <DIR>";

const chained: Documents = Object.fromEntries(
  Object.entries(ofProject).map(([command, held]) => [`adopt --out -> ${command}`, held]),
);

/**
 * Each output with each input that takes what it holds: `inventory --output json -> drift --inventory`. The Pulumi CLI may
 * stand between: `adopt --out -> pulumi stack export -> drift --state`.
 */
export const pairs: readonly string[] = Object.entries({ ...outputs, ...chained }).flatMap(([output, held]) =>
  Object.entries(inputs)
    .filter(([, taken]) => taken.some((kind) => held.includes(kind)))
    .map(([input]) => `${output} -> ${input}`),
);
