import { appendFileSync } from "node:fs";
import { renderers } from "../access/render";
import type { RenderOptions } from "../access/render";
import type { Report } from "../access/report";
import { writeText } from "./files";
import type { CommonOptions } from "./options";

/** The step summary of GitHub is dropped whole where it is larger. */
const SUMMARY_BYTES = 1024 * 1024 - 1024;

function terminal(): RenderOptions {
  const isTerminal = process.stdout.isTTY;
  return {
    width: isTerminal ? process.stdout.columns : 80,
    colour: isTerminal && (process.env["NO_COLOR"] ?? "") === "",
  };
}

/** Writes a report in every form that was asked for, to stdout and to files. @throws UsageError for a file. */
export function deliver(report: Report, { outputs, sourceRoot, summary }: CommonOptions): void {
  for (const { format, path } of outputs) {
    const options = { sourceRoot, ...(path === undefined && format === "text" ? terminal() : {}) };
    const text = renderers[format](report, options);
    if (path === undefined) process.stdout.write(text);
    else writeText(path, text, "--output");
  }
  const file = process.env["GITHUB_STEP_SUMMARY"];
  if (!summary) return;
  if (file === undefined || file === "") {
    console.error(
      "pulumi-platform: --summary: GITHUB_STEP_SUMMARY is not set, so there is nowhere to write it",
    );
    return;
  }
  try {
    appendFileSync(file, renderers.md(report, { sourceRoot, maxBytes: SUMMARY_BYTES }));
  } catch {
    console.error("pulumi-platform: --summary: the file of GITHUB_STEP_SUMMARY cannot be written");
  }
}
