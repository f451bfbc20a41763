import { existsSync, mkdirSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { stringify } from "yaml";
import { printable } from "../../../text/printable";
import { UsageError } from "../../framework/exitCodes";
import { packageFolder } from "../../../text/packageVersion";
import { packageSource } from "../../output/packageSource";
import { GITIGNORE } from "../../input/projectFiles";
import { writeText } from "../../output/writeFiles";

const HEADER = "// Written by pulumi-platform adopt";

/** Where a program goes. */
interface ProgramTarget {
  /** The folder. */
  readonly out: string;
  /** The name of the project, where the folder becomes one. */
  readonly projectName: string;
  /** Whether a file with other content is overwritten. */
  readonly force: boolean;
}

/** Whether a folder does not exist, or is empty. */
export const isEmptyFolder = (path: string): boolean => !existsSync(path) || readdirSync(path).length === 0;

const toJson = (value: unknown): string => `${JSON.stringify(value, null, 2)}\n`;

/** The files that make an empty folder a project. */
function projectFiles(name: string): Record<string, string> {
  const dependencies = { "@pulumi/pulumi": "^3.216.0" };
  const devDependencies = { "@types/node": "^20.19.0", typescript: "^5.9.0" };
  const compilerOptions = {
    strict: true,
    target: "ES2022",
    // Others do not find pulumi-platform/native.
    module: "Node16",
    moduleResolution: "Node16",
    skipLibCheck: true,
    forceConsistentCasingInFileNames: true,
    noEmit: true,
  };
  return {
    "Pulumi.yaml": stringify({
      name,
      runtime: "nodejs",
      description: "What the organisation holds, adopted by pulumi-platform",
    }),
    "package.json": toJson({ name, private: true, dependencies, devDependencies }),
    // The backups of the state hold encrypted secrets.
    ".gitignore": `${GITIGNORE}*.before-adopt*.json\n`,
    "tsconfig.json": toJson({ compilerOptions, include: ["*.ts"] }),
  };
}

interface FileChoice {
  /** `--file` */
  readonly name?: string;
  /** Whether the stack manages resources, which the main file declares. */
  readonly isManaging: boolean;
  /** Whether `--only` selects what is declared: the main file may declare more. */
  readonly isPartial: boolean;
}

/** The commands that install what the program needs, in its folder. */
export function describeInstallation(out: string): readonly string[] {
  const manifest = join(out, "package.json");
  if (existsSync(manifest) && readFileSync(manifest, "utf8").includes('"pulumi-platform"'))
    return existsSync(join(out, "node_modules", "pulumi-platform")) ? [] : ["npm install"];
  const { prepare, specifier } = packageSource(packageFolder(), out);
  return [...prepare, `npm install ${specifier}`];
}

/** Chooses the file of the program: the main one of a folder that is new, or that this command has written. */
export function chooseFile(out: string, code: string, { name, isManaging, isPartial }: FileChoice): string {
  if (name !== undefined) {
    if (!/^[\w.-]+\.ts$/.test(name)) {
      throw new UsageError(
        "PP5002",
        `--file must be the name of a TypeScript file, as in adopted.ts, not "${printable(name, 80)}"`,
      );
    }
    return name;
  }
  const index = join(out, "index.ts");
  const text = existsSync(index) ? readFileSync(index, "utf8") : "";
  const declaresMore = isManaging || (isPartial && text !== code);
  return isEmptyFolder(out) || (text.startsWith(HEADER) && !declaresMore) ? "index.ts" : "adopted.ts";
}

/** Writes the program, and what makes an empty folder a project. @throws UsageError for a file with other content. */
export function writeProject(
  { out, projectName, force }: ProgramTarget,
  program: Readonly<Record<string, string>>,
): void {
  const files = { ...(isEmptyFolder(out) ? projectFiles(projectName) : {}), ...program };
  for (const [name, text] of Object.entries(files)) {
    const path = join(out, name);
    if (!force && existsSync(path) && readFileSync(path, "utf8") !== text) {
      throw new UsageError(
        "PP5011",
        `${printable(path, 200)} exists with other content: give another name with --file, or --force`,
      );
    }
  }
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(out, name)), { recursive: true });
    writeText(join(out, name), text, "--out");
  }
}
