import { CodedError } from "../../../errors/codedError";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { parseAllDocuments, parseDocument } from "yaml";
import { fillExample, LAYOUT, withoutInstructions } from "./fillExample";
import type { CiSettings } from "./fillExample";
import { forFurtherGitlabProject } from "./pathFilter";
import type { FurtherProject } from "./secondProject";
import { gitlabVariables } from "./describeBackend";

/*
 * The pipeline of examples/ci includes components of this package's repository, which each GitLab must have a copy of. Here
 * the jobs of each component take its place, so that the pipeline needs nothing but the installed package.
 */

/** The folder of the pipeline, which belongs into a project of its own. */
export const GITLAB_FOLDER = "access-ci";

interface Include {
  readonly component: string;
  readonly inputs: Readonly<Record<string, string>>;
}

interface ComponentHeader {
  readonly spec: { readonly inputs: Readonly<Record<string, { readonly default?: string }>> };
}

/** The jobs of a component, with the values of its inputs. */
function inlineComponent(
  templates: string,
  { component, inputs }: Include,
  further: FurtherProject | undefined,
): string {
  const [, name] = /\/[\w-]+\/pulumi-platform\/([\w-]+)@/.exec(component) ?? [];
  if (name === undefined) throw new CodedError("PP9001", `${component} is no component of this package`);
  const text = readFileSync(join(templates, name, "template.yml"), "utf8");
  const [header] = parseAllDocuments(text);
  const { spec } = header?.toJS() as ComponentHeader;
  const body = text.slice(text.indexOf("\n---\n") + "\n---\n".length);
  const jobs = further ? forFurtherGitlabProject(body, further) : body;
  return jobs.replace(/\$\[\[ inputs\.([\w-]+) \]\]/g, (_, input: string) => {
    const value = inputs[input] ?? spec.inputs[input]?.default;
    if (value === undefined)
      throw new CodedError("PP9001", `the pipeline gives no value to the input ${input}`);
    return value;
  });
}

/** The path of the pipeline, or of what a further project adds to it. */
export const gitlabPath = (suffix = ""): string => `${GITLAB_FOLDER}/gitlab-ci${suffix}.yml`;

/** What begins the file of a further project, which the pipeline of the first one includes. */
const furtherHeader = ({ suffix }: FurtherProject): string =>
  [
    "# Keep this file beside gitlab-ci.yml of the first project, and include it there:",
    `#   include: [{ local: gitlab-ci${suffix}.yml }]`,
    "# It has the variables and the environments of the first project. A merge request that changes nothing of its own has none",
    "# of these jobs.",
    "",
  ].join("\n");

/** The pipeline, by its path below the root of the repository. @param packageRoot The folder of this package. */
export function gitlabFiles(packageRoot: string, settings: CiSettings): Record<string, string> {
  const document = parseDocument(readFileSync(join(packageRoot, "examples", "ci", "gitlab-ci.yml"), "utf8"));
  fillExample(document, settings);
  const { include } = document.toJS() as { include: readonly Include[] };
  document.delete("include");
  const { backend, further } = settings;
  const components = include.map(({ component, inputs }) => {
    const given = { ...inputs, ...(backend.url !== undefined && { "backend-url": backend.url }) };
    return inlineComponent(join(packageRoot, "templates"), { component, inputs: given }, further);
  });
  const header = further
    ? furtherHeader(further)
    : document.toString(LAYOUT).replaceAll("PULUMI_ACCESS_TOKEN", gitlabVariables(backend).join(", "));
  const text = [header, ...components].join("\n");
  return { [gitlabPath(further?.suffix)]: withoutInstructions(text, settings) };
}
