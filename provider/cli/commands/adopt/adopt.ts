import { existsSync, statSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { printLiteral } from "../../../access/adopt/code";
import { generateProgram } from "../../../access/adopt/program";
import type { Adoption } from "../../../access/adopt/program";
import {
  findRoot,
  selectFromTerraform,
  reportAdoption,
  uidsByKind,
} from "../../../access/adopt/terraform/adoption";
import type { TerraformReport } from "../../../access/adopt/terraform/adoption";
import type { TerraformState } from "../../../access/adopt/terraform/stateFile";
import type { Inventory } from "../../../access/documents/inventory";
import { inventoryKinds, describeRefusals, parseInventory } from "../../../access/documents/inventory";
import { json } from "../../../access/report/render/escape";
import { printable } from "../../../text/printable";
import { isUid } from "../../../text/uid";
import { takeInventory } from "../../../inventory/takeInventory";
import { defineCommand } from "../../framework/defineCommand";
import { exitCodes, UsageError } from "../../framework/exitCodes";
import { printFlags } from "../../framework/flags";
import type { Flags, Values } from "../../framework/flags";
import { outputFlag, readDestinations } from "../../framework/options";
import { openConnection } from "../../input/connection";
import { resolveGroup } from "../../input/groups";
import { readKinds } from "../../input/states";
import { findProjectFile, projectNameOf } from "../../input/projectFiles";
import { readText } from "../../input/readFiles";
import { logError, withProgress } from "../../output/log";
import { groupBy } from "../../../fields/values";
import { plural, quoteWord } from "../../../text/plain";
import { writeResults } from "../../output/writeFiles";
import { ownCommand } from "../../input/packageManager";
import { readOtherStacks, readStack, chooseFile, describeInstallation, writeProject } from "./project";
import type { ExistingStack } from "./project";
import { describeForgetting, describeTerraform, readTerraformState } from "./fromTerraform";
import { findUnset, importState } from "./importState";

const forms = ["text", "json"] as const;

const flags = {
  out: { type: "string", value: "DIR", help: "the folder of the program; created if it does not exist" },
  inventory: {
    type: "string",
    value: "FILE",
    help: "what pulumi-platform inventory wrote; without it, the live organisation is read",
  },
  "from-terraform": {
    type: "string",
    value: "FILE",
    help: "adopt what Terraform or OpenTofu manages: what terraform state pull wrote",
  },
  root: {
    type: "string",
    value: "GROUP",
    help: "the group to adopt, by uid or name, with everything below it",
  },
  types: {
    type: "string",
    multiple: true,
    value: "KIND[,KIND]",
    help: "+KIND adds kinds that are not listed by default",
  },
  only: {
    type: "string",
    multiple: true,
    value: "KIND|UID",
    help: "adopt only these",
  },
  by: {
    type: "string",
    value: "UNIT",
    choices: ["team"],
    help: "a file and a component for each group directly below the root",
  },
  native: {
    type: "boolean",
    help: "for the native plugin: import pulumi-platform/native; install it first with pulumi-platform plugin install",
  },
  file: {
    type: "string",
    value: "NAME",
    form: { pattern: /^[\w.-]+\.ts$/, must: "the name of a TypeScript file, as in adopted.ts" },
    default: "index.ts in an empty folder, else adopted.ts",
    help: "the file to write",
  },
  force: { type: "boolean", help: "overwrite a file with other content" },
  stack: {
    type: "string",
    value: "STACK",
    help: "the stack that will manage them; what it manages already is left out",
  },
  state: {
    type: "string",
    multiple: true,
    value: "FILE",
    help: "leave out what another stack manages, as pulumi stack export wrote it; * and ? match any characters",
  },
  "write-state": {
    type: "boolean",
    help: "import them into the state of the stack (pulumi stack import), with a backup, and a check before and after",
  },
  output: outputFlag(forms),
} as const satisfies Flags;

type AdoptValues = Values<typeof flags>;

function parseOnly(words: readonly string[]): readonly string[] | undefined {
  for (const word of words) {
    if (!isUid(word) && !inventoryKinds.includes(word)) {
      throw new UsageError(
        "PP5008",
        `--only must be a uid or a kind (${inventoryKinds.join(", ")}), not "${printable(word, 80)}"`,
      );
    }
  }
  return words.length === 0 ? undefined : words;
}

async function readInventory(values: AdoptValues, terraform: TerraformState | undefined): Promise<Inventory> {
  const { inventory, types, stack, out } = values;
  if (inventory !== undefined) {
    if (values.root !== undefined || types.length > 0) {
      throw new UsageError("PP5003", "--root and --types conflict with --inventory; leave them out");
    }
    return parseInventory(readText(inventory, "--inventory"), inventory);
  }
  const terraformRoot = values.root === undefined && terraform ? findRoot(terraform) : undefined;
  if (values.root === undefined && terraformRoot === undefined) {
    throw new UsageError(
      "PP5004",
      "--root is missing: give the uid or the name of the organisation, or an inventory with --inventory",
    );
  }
  const kindsOfOnly = values.only.filter((word) => !isUid(word)).map((kind: string) => `+${kind}`);
  // The stack is one of the program's project, where there is one.
  const cwd = out !== undefined && existsSync(out) ? out : undefined;
  const { client } = await openConnection({ stack, cwd });
  const root = terraformRoot ?? (await resolveGroup(client, values.root ?? "", "--root"));
  const kinds = readKinds([...types, ...kindsOfOnly]);
  const additionalUids = terraform && uidsByKind(terraform, kinds);
  return withProgress("listing", (progress) =>
    takeInventory(client, { root, kinds, additionalUids, now: Date.now, progress }),
  );
}

/** An incomplete inventory may lack the object, so that only a complete one proves the uid wrong. */
function requireListed(only: readonly string[] | undefined, inventory: Inventory): void {
  const unknown = only?.find((word) => isUid(word) && !inventory.objects.some(({ uid }) => uid === word));
  if (unknown === undefined || !inventory.complete) return;
  throw new UsageError(
    "PP5008",
    `--only names ${unknown}, and nothing that was listed below ${inventory.root} has this uid; some kinds are listed with --types only`,
  );
}

/** Objects that are shown of those that are skipped for one reason: a stack may manage thousands. */
const MOST_SKIPPED = 20;

function describeSkipped({ skipped }: Adoption): string[] {
  const lines = [...groupBy(skipped, ({ reason }) => [reason])].flatMap(([reason, all]) => {
    const shown = all.slice(0, MOST_SKIPPED);
    return [
      `  ${printable(reason, 300)}:`,
      ...shown.map(({ kind, name, uid }) => `    ${kind} ${printable(name, 200)} (${printable(uid, 200)})`),
      ...(all.length > shown.length ? [`    … and ${all.length - shown.length} more`] : []),
    ];
  });
  return lines.length === 0 ? [] : ["skipped:", ...lines];
}

/** What `-o json` contains. */
function createDocument(
  { resources, skipped }: Adoption,
  notes: readonly string[],
  complete: boolean,
  terraform: TerraformReport | undefined,
): object {
  const secrets = resources.flatMap(({ secrets: needed }) => needed.map(({ key }) => key));
  return {
    schemaVersion: 1,
    complete,
    resources: resources.length,
    secrets,
    leftOut: skipped,
    notes,
    terraform,
  };
}

/** What to do where the state is not written yet, a line each. @param file of the program. */
async function describeNextSteps(
  adoption: Adoption,
  { existing, out, values }: AdoptionTarget,
  file: string,
): Promise<string[]> {
  const { stack } = values;
  const unset = await findUnset(adoption, out, existing.exported === undefined ? undefined : stack);
  const isSecret = (setting: string): boolean => setting.startsWith("--secret ");
  const ofStack = stack === undefined ? "" : ` --stack ${quoteWord(stack)}`;
  const steps = [
    ...(findProjectFile(resolve(out)) === undefined
      ? [`${ownCommand()} init    # there is no Pulumi.yaml in the folder or above it`]
      : []),
    ...describeInstallation(out),
    ...(existing.exported === undefined ? ["pulumi stack init    # unless there is a stack already"] : []),
    ...unset
      .filter((setting) => !isSecret(setting))
      .map((setting) => `pulumi config set ${setting}${ofStack}`),
  ];
  // Of a program that was there, the stack that is named then may manage a part.
  const rewrites = stack === undefined && file !== "index.ts";
  const again = { ...values, stack: stack ?? "STACK", "write-state": true, force: values.force || rewrites };
  const words = [ownCommand(), "adopt", ...printFlags(flags, again).map(quoteWord)];
  return [
    ...(steps.length === 0 ? [] : [`next, in ${printable(out, 200)}:`]),
    ...steps.map((step) => `  ${step}`),
    ...unset
      .filter(isSecret)
      .map((setting) => `set this secret: pulumi config set ${setting}${ofStack} --cwd ${quoteWord(out)}`),
    ...(rewrites
      ? [`then, where --force writes ${file} anew, without what STACK manages:`]
      : ["then, in this folder:"]),
    `  ${printable(words.join(" "), 4000)}`,
  ];
}

/** Writes the program, and the state if requested; returns a line for each thing done. */
async function writeAdoption(adoption: Adoption, target: AdoptionTarget): Promise<string[]> {
  const { existing, out, values } = target;
  const { resources } = adoption;
  if (resources.length === 0) return ["there is nothing to adopt"];
  const { stack } = values;
  // After the folder: two programs of one organisation are two projects.
  const projectName = projectNameOf(resolve(out)) ?? "organisation";
  const file = chooseFile(out, adoption.code, {
    name: values.file,
    isManaging: existing.usedNames.size > 0,
    isPartial: values.only.length > 0,
  });
  writeProject({ out, projectName, force: values.force }, { ...adoption.files, [file]: adoption.code });
  const isInState = values["write-state"] && existing.exported !== undefined && stack !== undefined;
  return [
    `${plural(resources.length, "resource is", "resources are")} declared in ${[file, ...Object.keys(adoption.files)].map((name) => join(out, name)).join(", ")}`,
    // The state is written of what the program declares already.
    ...(file === "index.ts" || isInState
      ? []
      : [`add it to the program: import ${printLiteral(`./${file.slice(0, -3)}`)};`]),
    ...(isInState
      ? [await importState({ stack, out, exported: existing.exported }, adoption)]
      : await describeNextSteps(adoption, target, file)),
  ];
}

interface AdoptionTarget {
  readonly inventory: Inventory;
  readonly existing: ExistingStack;
  readonly out: string;
  readonly values: AdoptValues;
}

export const command = defineCommand(
  {
    name: "adopt",
    usage: [
      "--out DIR (--root GROUP | --inventory FILE) [options]",
      "--out DIR --from-terraform FILE [options]",
    ],
    about:
      "Writes the program that declares what the organisation holds, and with --write-state the state that belongs to it: " +
      "from then on a stack manages what was created by hand. It never writes to the API.",
    flags,
    exitCodes: ["clean", "error", "usage", "authentication", "incomplete"],
  },
  ({ values }) => adoptObjects(values),
);
export const { main } = command;

/** What is adopted, and what becomes of the state of Terraform that it is taken from. */
function selectAdoption(
  { values, inventory, existing }: AdoptionTarget,
  terraform: TerraformState | undefined,
  only: readonly string[] | undefined,
): { readonly adoption: Adoption; readonly report?: TerraformReport } {
  // What the stack manages has its files in `teams`: what is new gets a folder of its own.
  const folder = values.file?.replace(/\.ts$/, "") ?? (existing.usedNames.size > 0 ? "adopted" : "teams");
  const options = {
    inventory,
    native: values.native,
    ...(values.by === "team" && { teamFolder: folder }),
    ...existing,
  };
  if (terraform === undefined) return { adoption: generateProgram({ ...options, only }) };
  const selection = selectFromTerraform(terraform, inventory, only);
  const adoption = generateProgram({ ...options, names: selection.names });
  return { adoption, report: reportAdoption(selection, adoption, existing.managers) };
}

function describeAdoption(
  adoption: Adoption,
  report: TerraformReport | undefined,
  { values }: AdoptionTarget,
): string[] {
  if (report === undefined) return describeSkipped(adoption);
  return [...describeTerraform(report), ...(values["write-state"] ? describeForgetting(report) : [])];
}

/** @throws UsageError where a flag is wrong, or something must be done first. */
async function adoptObjects(values: AdoptValues): Promise<number> {
  const { out, stack } = values;
  if (out === undefined)
    throw new UsageError("PP5004", "--out is missing: give the folder of the program, as in --out adopted");
  let nearest = out;
  while (!existsSync(nearest)) nearest = dirname(nearest);
  if (!statSync(nearest).isDirectory())
    throw new UsageError("PP5008", `--out must be a folder, and ${printable(nearest, 200)} is a file`);
  if (values["write-state"] && stack === undefined) {
    throw new UsageError("PP5003", "--write-state belongs to --stack: say which stack is to manage them");
  }
  const only = parseOnly(values.only);
  const outputs = readDestinations(values.output, forms);
  const file = values["from-terraform"];
  const terraform = file === undefined ? undefined : await readTerraformState(file);
  const others = await readOtherStacks(values.state, out);
  const inventory = await readInventory(values, terraform);
  requireListed(only, inventory);
  const own = stack === undefined ? undefined : await readStack(out, stack, values["write-state"]);
  const existing: ExistingStack = {
    ...others,
    ...own,
    usedNames: new Set([...others.usedNames, ...(own?.usedNames ?? [])]),
    managers: new Map([...others.managers, ...(own?.managers ?? [])]),
  };
  const target = { inventory, existing, out, values };
  const { adoption, report } = selectAdoption(target, terraform, only);
  const lines = await writeAdoption(adoption, target);
  const details = describeAdoption(adoption, report, target);
  writeResults(outputs, {
    text: () => `${[...lines, ...details].join("\n")}\n`,
    json: () => `${json(createDocument(adoption, lines, inventory.complete, report))}\n`,
  });
  for (const line of describeRefusals(inventory)) logError(line);
  return inventory.complete ? exitCodes.clean : exitCodes.incomplete;
}
