import type { Report, VerifyReport } from "../report";
import { severities } from "../../review/finding";
import { plural } from "./words";

/** What a report says first. `state` is what colours and icons follow. */
export interface Verdict {
  readonly state: "clean" | "findings" | "failing" | "incomplete";
  /** One line, no name of anybody in it. */
  readonly line: string;
}

const thresholds: Readonly<Record<Report["failOn"], string>> = {
  critical: "of severity critical",
  high: "of severity high or above",
  medium: "of severity medium or above",
  low: "of severity low or above",
  any: "of any kind",
  widened: "that widen access or are not managed",
  unmanaged: "not managed by any stack",
  never: "",
};

export function findingCount(report: Report): number {
  return severities.reduce((sum, severity) => sum + report.summary.findings[severity], 0);
}

function verifyVerdict(report: VerifyReport): Verdict {
  const gap = report.complete ? "" : "; announced changes are missing or could not be checked";
  if (report.failing > 0) {
    const what = plural(report.failing, "finding");
    const line = `fails: ${what} that the review did not announce${gap}`;
    return { state: report.complete ? "failing" : "incomplete", line };
  }
  return report.complete
    ? { state: "clean", line: "passes: everything is as the review announced" }
    : { state: "incomplete", line: `incomplete${gap.replace(";", ":")}` };
}

/** What fails a run; undefined where nothing does. */
function failingLine(report: Report): string | undefined {
  const { command, failing, failOn, stacks } = report;
  if (failing === 0) return undefined;
  const what = plural(failing, "finding");
  if (command === "drift" && failOn === "any") {
    const open = report.findings.filter(({ drift }) => drift !== undefined);
    const differences = plural(open.length, "difference");
    return `fails: ${what}, ${differences} from the ${stacks.length === 0 ? "older inventory" : "recorded state"}`;
  }
  return `fails: ${what} ${thresholds[failOn]}`.trimEnd();
}

/** What a report that is complete and does not fail says. */
function passingVerdict(report: Report): Verdict {
  const found = findingCount(report);
  const passes = report.failOn === "never" ? "report only" : "passes";
  if (found > 0) {
    const rest = report.failOn === "never" ? "" : ", none meets --fail-on";
    return { state: "findings", line: `${passes}: ${plural(found, "finding")}${rest}` };
  }
  const changes = report.grants.length;
  const access =
    changes === 0 ? "no change of access" : plural(changes, "change of access", "changes of access");
  if (report.command !== "drift") return { state: "clean", line: `${passes}: ${access}, no finding` };
  const { differences, suppressed } = report;
  if (differences.length === 0 && changes === 0) return { state: "clean", line: `${passes}: no drift` };
  // A difference that the policy suppresses still is one, and the headline names it.
  const parts = [
    plural(differences.length, "difference"),
    access,
    `no finding, ${suppressed.length} suppressed`,
  ];
  return { state: "clean", line: `${passes}: ${parts.join(", ")}` };
}

export function verdict(report: Report): Verdict {
  if (report.command === "verify") return verifyVerdict(report);
  const failing = failingLine(report);
  if (!report.complete) {
    const line =
      failing === undefined
        ? "incomplete: not everything could be checked"
        : `${failing}; not everything could be checked`;
    return { state: "incomplete", line };
  }
  return failing === undefined ? passingVerdict(report) : { state: "failing", line: failing };
}
