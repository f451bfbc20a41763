import { randomUUID } from "node:crypto";
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { stringify } from "yaml";
import { printLiteral } from "../access/adopt/code";
import { slug } from "../access/adopt/names";
import { generateProgram } from "../access/adopt/program";
import type { Adoption } from "../access/adopt/program";
import { mergeState, StateMergeError } from "../access/adopt/state";
import { keyOf } from "../access/graph/directory";
import { urnParts } from "../access/documents/engineState";
import type { Inventory } from "../access/documents/inventory";
import { json } from "../access/report/render/escape";
import { parseInventory } from "../access/documents/parseInventory";
import { parseStateExport } from "../access/documents/stateExport";
import { takeInventory } from "../inventory/takeInventory";
import { printable } from "../api/errors";
import { isUid } from "../api/uid";
import { logError, exitCodes, UsageError } from "./command";
import { connect } from "./connection";
import { readText, writeResults, writeText } from "./files";
import { resolveGroup } from "./groups";
import { inventoryKinds, readKinds, describeRefusals } from "./inventory";
import { defineCommand } from "./define";
import type { Flags, Values } from "./flags";
import { outputFlag, readDestinations } from "./options";
import { Progress } from "./progress";
import { runPulumi, PulumiError } from "./states";
import { packageVersion } from "./version";

const forms = ["text", "json"] as const;

const flags = {
  out: { type: "string", value: "DIR", help: "the folder of the program; made if it does not exist" },
  inventory: {
    type: "string",
    value: "FILE",
    help: "what pulumi-platform inventory wrote; without it, the live organisation is read",
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
    help: "a component for each group directly below the root",
  },
  file: {
    type: "string",
    value: "NAME",
    default: "index.ts in an empty folder, else adopted.ts",
    help: "the file to write",
  },
  force: { type: "boolean", help: "overwrite a file that holds something else" },
  stack: { type: "string", value: "STACK", help: "the stack that is to manage them" },
  "write-state": {
    type: "boolean",
    help: "put them into the state of the stack by pulumi stack import, with a backup, and a check before and after",
  },
  output: outputFlag(forms),
} as const satisfies Flags;

const HEADER = "// Written by pulumi-platform adopt";

function readOnlyFlag(given: readonly string[]): readonly string[] | undefined {
  for (const word of given) {
    if (!isUid(word) && !inventoryKinds.includes(word)) {
      throw new UsageError(
        `--only must be a uid or a kind (${inventoryKinds.join(", ")}), not "${printable(word, 80)}"`,
      );
    }
  }
  return given.length === 0 ? undefined : given;
}

async function readInventory(
  given: {
    inventory?: string;
    root?: string;
    types: readonly string[];
    only: readonly string[];
    stack?: string;
    out?: string;
  },
  progress: Progress,
): Promise<Inventory> {
  if (given.inventory !== undefined) {
    if (given.root !== undefined || given.types.length > 0) {
      throw new UsageError(
        "--root and --types belong to a live organisation: leave them out beside --inventory",
      );
    }
    return parseInventory(readText(given.inventory, "--inventory"), given.inventory);
  }
  if (given.root === undefined) {
    throw new UsageError(
      "--root is missing: give the uid or the name of the organisation, or an inventory with --inventory",
    );
  }
  const asked = given.only.filter((word) => !isUid(word)).map((kind: string) => `+${kind}`);
  // The stack is one of the program's project, where there is one.
  const cwd = given.out !== undefined && existsSync(given.out) ? given.out : undefined;
  const { client } = await connect({ stack: given.stack, cwd });
  const root = await resolveGroup(client, given.root, "--root");
  return takeInventory(client, {
    root,
    kinds: readKinds([...given.types, ...asked]),
    now: Date.now,
    progress: progress.report,
  });
}

/** The files that make an empty folder a project. */
function projectFiles(name: string): Record<string, string> {
  const version = packageVersion();
  return {
    "Pulumi.yaml": stringify({
      name,
      runtime: "nodejs",
      description: "What the organisation holds, adopted by pulumi-platform",
    }),
    "package.json": `${JSON.stringify(
      {
        name,
        private: true,
        dependencies: { "@pulumi/pulumi": "^3.216.0", "pulumi-platform": `^${version}` },
        devDependencies: { "@types/node": "^20.19.0", typescript: "^5.9.0" },
      },
      null,
      2,
    )}\n`,
    "tsconfig.json": `${JSON.stringify(
      {
        compilerOptions: {
          strict: true,
          target: "ES2022",
          module: "commonjs",
          moduleResolution: "node",
          skipLibCheck: true,
          forceConsistentCasingInFileNames: true,
          noEmit: true,
        },
        include: ["*.ts"],
      },
      null,
      2,
    )}\n`,
  };
}

/** Which file holds the program: the main one of a folder that is new, or was written by this command before. */
function chooseFile(out: string, given: string | undefined, isManaging: boolean): string {
  if (given !== undefined) {
    if (!/^[\w.-]+\.ts$/.test(given)) {
      throw new UsageError(
        `--file must be the name of a TypeScript file, as in adopted.ts, not "${printable(given, 80)}"`,
      );
    }
    return given;
  }
  const index = join(out, "index.ts");
  const isNew = !existsSync(out) || readdirSync(out).length === 0;
  const isOurs = existsSync(index) && readFileSync(index, "utf8").startsWith(HEADER);
  return isNew || (isOurs && !isManaging) ? "index.ts" : "adopted.ts";
}

interface WrittenProgram {
  readonly file: string;
  readonly isMain: boolean;
}

/** Writes the program; a file that holds something else is never written over unasked. */
function writeFiles(
  out: string,
  file: string,
  adoption: Adoption,
  name: string,
  force: boolean,
): WrittenProgram {
  const isNew = !existsSync(out) || readdirSync(out).length === 0;
  const files = { ...(isNew ? projectFiles(name) : {}), [file]: adoption.code };
  for (const [each, text] of Object.entries(files)) {
    const path = join(out, each);
    if (!force && existsSync(path) && readFileSync(path, "utf8") !== text) {
      throw new UsageError(
        `${printable(path, 200)} is there and holds something else: give another name with --file, or --force`,
      );
    }
  }
  mkdirSync(out, { recursive: true });
  for (const [each, text] of Object.entries(files)) writeText(join(out, each), text, "--out");
  return { file, isMain: file === "index.ts" };
}

/** A document of the CLI, also where it ended with an error. */
async function runPulumiJson(args: readonly string[], cwd: string): Promise<unknown> {
  const parse = (text: string): unknown => {
    try {
      return JSON.parse(text);
    } catch {
      return undefined;
    }
  };
  try {
    return parse(await runPulumi(args, cwd));
  } catch (error) {
    const document = error instanceof PulumiError ? parse(error.stdout) : undefined;
    if (document === undefined) throw error;
    return document;
  }
}

function backupPath(out: string, stack: string): string {
  const base = join(out, `${slug(stack) || "stack"}.before-adopt`);
  for (let i = 0; ; i += 1) {
    const path = i === 0 ? `${base}.json` : `${base}.${i}.json`;
    if (!existsSync(path)) return path;
  }
}

/** Puts a document into a stack's state; it may hold secrets, so it is nobody else's to read. */
async function importState(document: unknown, stack: string, cwd: string): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), "pulumi-platform-adopt-"));
  try {
    const path = join(folder, "state.json");
    writeText(path, JSON.stringify(document), "the state", { isPrivate: true });
    await runPulumi(["stack", "import", "--stack", stack, "--file", path], cwd);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

async function writeState(out: string, stack: string, exported: string, adoption: Adoption): Promise<string> {
  const config = (await runPulumiJson(
    ["config", "--json", "--show-secrets", "--stack", stack],
    out,
  )) as Record<string, { value?: unknown; secret?: unknown }>;
  const settings = Object.fromEntries(
    Object.entries(config).flatMap(
      ([key, { value, secret }]): [string, { value: string; secret: boolean }][] =>
        typeof value === "string" ? [[key, { value, secret: secret === true }]] : [],
    ),
  );
  const wanted = adoption.resources.flatMap(({ secrets }) => secrets.map(({ key }) => key));
  const secrets = new Map(
    wanted.flatMap((key): [string, string][] => {
      const found = Object.entries(settings).find(([name]) => name.endsWith(`:${key}`));
      return found ? [[key, found[1].value]] : [];
    }),
  );
  const unset = wanted.filter((key) => !secrets.has(key));
  if (unset.length > 0) {
    throw new StateMergeError([
      "the program is written, the state is not: the API never answers these secrets; set them, then run again:",
      ...unset.map((key) => `pulumi config set --secret ${key} --stack ${stack}`),
    ]);
  }
  const preview = await runPulumiJson(["preview", "--json", "--stack", stack], out);
  const { document, urns } = mergeState({
    exported: JSON.parse(exported) as unknown,
    preview,
    resources: adoption.resources,
    secrets,
    config: settings,
    newId: randomUUID,
  });
  const backup = backupPath(out, stack);
  writeText(backup, exported, "--out", { isPrivate: true });
  if ((await runPulumi(["stack", "export", "--stack", stack], out)) !== exported) {
    throw new UsageError(`stack ${stack} was changed meanwhile: nothing was imported; run again`);
  }
  await importState(document, stack, out);
  try {
    await runPulumi(["preview", "--expect-no-changes", "--stack", stack], out);
  } catch (error) {
    await importState(JSON.parse(exported), stack, out);
    const why =
      error instanceof PulumiError ? printable(`${error.message} ${error.stdout}`, 1500) : "it failed";
    throw new Error(
      `the preview after the import shows changes, so the state was put back as it was (also in ${backup}): ${why}`,
      { cause: error },
    );
  }
  return `${urns.length} resources are in the state of ${stack}; as it was before: ${backup}`;
}

function describeSkipped({ skipped: leftOut }: Adoption): string[] {
  if (leftOut.length === 0) return [];
  const shown = leftOut.slice(0, 200);
  const more = leftOut.length > shown.length ? [`  … and ${leftOut.length - shown.length} more`] : [];
  return [
    "left out:",
    ...shown.flatMap(({ kind, name, uid, reason }) => [
      `  ${kind} ${printable(name, 200)} (${printable(uid, 200)})`,
      `    ${printable(reason, 300)}`,
    ]),
    ...more,
  ];
}

/** What `-o json` holds. */
function createDocument(
  { resources, skipped: leftOut }: Adoption,
  notes: readonly string[],
  complete: boolean,
): object {
  const secrets = resources.flatMap(({ secrets: needed }) => needed.map(({ key }) => key));
  return { schemaVersion: 1, complete, resources: resources.length, secrets, leftOut, notes };
}

export const command = defineCommand(
  {
    name: "adopt",
    usage: ["--out DIR (--root GROUP | --inventory FILE) [options]"],
    about:
      "Writes the program that declares what the organisation holds, and with --write-state the state that belongs to it: " +
      "from then on a stack manages what was made by hand. It never writes to the API.",
    flags,
    exitCodes: ["clean", "error", "usage", "authentication", "incomplete"],
  },
  ({ values }) => adopt(values),
);
export const { main } = command;

/** @throws UsageError where a flag is wrong, or something must be done first. */
async function adopt(values: Values<typeof flags>): Promise<number> {
  const { out, stack } = values;
  if (out === undefined)
    throw new UsageError("--out is missing: give the folder of the program, as in --out adopted");
  if (values["write-state"] && stack === undefined) {
    throw new UsageError("--write-state belongs to --stack: say which stack is to manage them");
  }
  const only = readOnlyFlag(values.only);
  const outputs = readDestinations(values.output, forms, "text");
  const progress = new Progress("listing");
  try {
    const inventory = await readInventory(values, progress);
    progress.done();
    const unknown = only?.find((word) => isUid(word) && !inventory.objects.some(({ uid }) => uid === word));
    if (unknown !== undefined && inventory.complete) {
      throw new UsageError(
        `--only names ${unknown}, and nothing that was listed below ${inventory.root} has this uid; some kinds are listed with --types only`,
      );
    }
    let exported: string | undefined;
    let taken = new Set<string>();
    let managed = new Set<string>();
    if (stack !== undefined && values["write-state"]) {
      if (!existsSync(out) || readdirSync(out).length === 0) {
        throw new UsageError(
          `${printable(out, 200)} is empty: run adopt without --write-state first, then npm install and pulumi stack init there`,
        );
      }
      exported = await runPulumi(["stack", "export", "--stack", stack], out);
      const state = parseStateExport(exported, `the export of stack ${stack}`);
      const ours = state.resources.flatMap(({ kind, id, urn }) =>
        kind === undefined ? [] : [{ kind, id, urn }],
      );
      taken = new Set(ours.map(({ kind, urn }) => keyOf(kind, urnParts(urn).name)));
      managed = new Set(ours.flatMap(({ kind, id }) => (id === undefined ? [] : [keyOf(kind, id)])));
    }
    const adoption = generateProgram({
      inventory,
      only,
      byTeam: values.by === "team",
      usedNames: taken,
      managedKeys: managed,
    });
    const lines: string[] = [];
    if (adoption.resources.length === 0) {
      lines.push("there is nothing to adopt");
    } else {
      const organisation = inventory.objects.find(({ uid }) => uid === inventory.root)?.inputs["name"];
      const name = typeof organisation === "string" ? slug(organisation) : "";
      const file = chooseFile(out, values.file, managed.size > 0);
      const written = writeFiles(out, file, adoption, name || "organisation", values.force);
      lines.push(`${adoption.resources.length} resources are declared in ${join(out, written.file)}`);
      if (!written.isMain)
        lines.push(`make it a part of the program: import ${printLiteral(`./${file.slice(0, -3)}`)};`);
      if (exported !== undefined && stack !== undefined) {
        lines.push(await writeState(out, stack, exported, adoption));
      } else {
        for (const { secrets } of adoption.resources) {
          for (const { key } of secrets) lines.push(`to be set: pulumi config set --secret ${key}`);
        }
        lines.push(
          `next, in ${printable(out, 200)}: npm install, and pulumi stack init where there is no stack yet;`,
          "then this command again, with --stack STACK --write-state",
        );
      }
    }
    writeResults(outputs, {
      text: () => `${[...lines, ...describeSkipped(adoption)].join("\n")}\n`,
      json: () => `${json(createDocument(adoption, lines, inventory.complete))}\n`,
    });
    for (const line of describeRefusals(inventory)) logError(line);
    return inventory.complete ? exitCodes.clean : exitCodes.incomplete;
  } finally {
    progress.done();
  }
}
