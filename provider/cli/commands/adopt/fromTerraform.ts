import { printForgetCommand } from "../../../access/adopt/terraform/adoption";
import type { TerraformReport } from "../../../access/adopt/terraform/adoption";
import { parseTerraformState } from "../../../access/adopt/terraform/stateFile";
import type { TerraformState } from "../../../access/adopt/terraform/stateFile";
import { printable } from "../../../text/printable";
import { readInput } from "../../input/readFiles";

const MAX_LINES = 200;

/** Reads the state that `--from-terraform` names. @throws UsageError, DocumentError in one line. */
export async function readTerraformState(path: string): Promise<TerraformState> {
  const { name, bytes } = await readInput(path, "--from-terraform");
  return parseTerraformState(bytes, name);
}

function listSection(title: string, lines: readonly string[]): string[] {
  if (lines.length === 0) return [];
  const more =
    lines.length > MAX_LINES ? [`… and ${lines.length - MAX_LINES} more (all of them: -o json)`] : [];
  return [title, ...[...lines.slice(0, MAX_LINES), ...more].map((line) => `  ${line}`)];
}

/** What becomes of the instances of a state, a line each. */
export function describeTerraform(report: TerraformReport): string[] {
  const { missing, remaining, adopted, dataSources, otherProviders } = report;
  return [
    ...listSection(
      "tainted in Terraform, which would replace them; the program keeps them:",
      adopted.flatMap(({ address, isTainted }) => (isTainted ? [address] : [])),
    ),
    ...listSection(
      "no longer exists, so that only Terraform's state has it:",
      missing.map(({ address, kind, uid }) => `${address} (${kind} ${uid})`),
    ),
    ...listSection(
      "stays in Terraform:",
      remaining.map(({ address, reason }) => `${address}: ${printable(reason, 300)}`),
    ),
    ...listSection("ignored data sources:", dataSources),
    ...listSection(
      "ignored resources of other providers:",
      otherProviders.map(({ provider, resources }) => `${provider}: ${resources}`),
    ),
  ];
}

/** What makes Terraform forget what the stack manages from now on, a line each. */
export function describeForgetting(report: TerraformReport): string[] {
  if (report.forget.length === 0) return [];
  return [
    "next, make Terraform forget them, or two tools manage the same objects. Nothing is deleted by:",
    "",
    ...printForgetCommand(report),
    "",
    "Delete their resource blocks too, or the next apply creates them again.",
  ];
}
