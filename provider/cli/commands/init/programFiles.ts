import { readFileSync } from "node:fs";
import { join } from "node:path";
import { parseDocument } from "yaml";
import { CodedError } from "../../../errors/codedError";

export type Language = "typescript" | "javascript";

export interface ProgramOptions {
  readonly language: Language;
  readonly project: string;
  /** Of the package.json that exists. */
  readonly isModule: boolean;
  /** The subject of the workflows of the repository, where it is known. */
  readonly subject?: string;
}

/** Rewrites the imports and exports of the template for CommonJS. */
function toCommonJs(text: string): string {
  const written = text
    .replace(/^import (\{[^}]*\}) from ("[^"]+");$/gm, "const $1 = require($2);")
    .replace(/^export const (\w+) =/gm, "exports.$1 =");
  if (/^(import|export)\b/m.test(written))
    throw new CodedError("PP9001", "the template has an import of an unknown form");
  return written;
}

/** The project file of the template, without what `pulumi new` reads. */
function projectFile(text: string, project: string, main: string): string {
  const document = parseDocument(text);
  document.delete("template");
  document.set("name", project);
  document.set("description", "Who may do what in the organisation");
  // A package.json that exists may name another program.
  document.set("main", main);
  return document.toString();
}

/** A name that npm accepts, from that of a project. */
const packageName = (project: string): string => project.toLowerCase().replace(/^[._]+/, "") || "access";

function manifestFile(text: string, { language, project }: ProgramOptions, main: string): string {
  const { devDependencies, ...manifest } = JSON.parse(text) as { devDependencies: object };
  const written = {
    ...manifest,
    name: packageName(project),
    main,
    ...(language === "typescript" && { devDependencies }),
  };
  return `${JSON.stringify(written, undefined, 2)}\n`;
}

/** The policy file, which a program that exists needs too. @param templates The folder of the package that holds them. */
export const policyFile = (templates: string): Record<string, string> => ({
  "access-policy.yaml": readFileSync(join(templates, "typescript", "access-policy.yaml"), "utf8"),
});

/** The files of a new program, by their names. @param templates The folder of the package that holds them. */
export function programFiles(templates: string, options: ProgramOptions): Record<string, string> {
  const read = (name: string): string => readFileSync(join(templates, "typescript", name), "utf8");
  const isTypeScript = options.language === "typescript";
  const main = isTypeScript ? "index.ts" : "index.js";
  const example = read("index.ts");
  const program =
    options.subject === undefined ? example : example.replace(/(?<=subject: ")[^"]*/, options.subject);
  return {
    "Pulumi.yaml": projectFile(read("Pulumi.yaml"), options.project, main),
    [main]: isTypeScript || options.isModule ? program : toCommonJs(program),
    "package.json": manifestFile(read("package.json"), options, main),
    ...(isTypeScript && { "tsconfig.json": read("tsconfig.json") }),
  };
}
