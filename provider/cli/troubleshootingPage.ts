import { adviceAsMarkdown, codeAsMarkdown } from "../errors/explainCode";
import { codeFamilies } from "../errors/registry";
import type { ErrorCode } from "../errors/registry";
import { isHighOrCritical } from "../access/review/finding";
import { rules } from "../access/rules";
import type { Rule } from "../access/rules";
import { allExitCodes, exitCodeRows } from "./framework/exitCodes";
import type { ExitCodeName } from "./framework/exitCodes";

type FailureName = Exclude<ExitCodeName, "clean">;

/** How to see why a command ended so, and what to do. */
const exitCodeAdvice: Readonly<Record<FailureName, readonly [look: string, fix: string]>> = {
  error: [
    "The last line on standard error has a code: look it up below. `npx` and Node also end with 1.",
    "Follow the entry of the code.",
  ],
  usage: [
    "The last line on standard error names the option, the setting or the file, and has a code.",
    "Correct what it names.",
  ],
  authentication: [
    "`npx pulumi-platform whoami` shows the credential and when it expires.",
    "Set a new credential: see [PP3401](#pp3401) and [PP2006](#pp2006).",
  ],
  incomplete: [
    "Lines that begin with `incomplete:` say what was not checked. A report in JSON has them in `incomplete`.",
    "Give the identity the capabilities to read it ([least privilege](least-privilege.md)), or give the missing document.",
  ],
  reviewFindings: [
    "The report lists the findings. Each begins with the id of its [rule](#rules).",
    "Fix each finding, or [suppress](review.md) it. `--fail-on` says from which severity on findings fail.",
  ],
  drift: [
    "The report lists each difference, with what to do about it.",
    "See [drift](drift.md): take the change over into the program, or undo it with `pulumi up`.",
  ],
};

/** The statuses that a reader looks for, and the code that each has. */
const statuses: readonly (readonly [status: number, code: ErrorCode, note: string])[] = [
  [401, "PP3401", "The credential is missing, refused or expired."],
  [403, "PP3403", "The identity lacks a capability."],
  [404, "PP3404", "The address is wrong. For an object that does not exist, see [PP3405](#pp3405)."],
  [409, "PP3409", "The object already exists. For a change at the same time, see [PP3410](#pp3410)."],
  [429, "PP3429", "The server limits requests."],
  [
    500,
    "PP3500",
    "The server failed. For 502 and 503, see [PP3503](#pp3503); for 504, see [PP3504](#pp3504).",
  ],
];

function exitCodePart(name: FailureName): string {
  const [[code, meaning] = [0, ""]] = exitCodeRows([name]);
  const [look, fix] = exitCodeAdvice[name];
  return `### Exit code ${code}\n\nIt means: ${meaning}.\n\n${adviceAsMarkdown(look, fix)}`;
}

function statusPart([status, code, note]: (typeof statuses)[number]): string {
  const link = `[${code}](#${code.toLowerCase()})`;
  return `### HTTP ${status}\n\n${note} Message, cause and fix: ${link}.`;
}

function rulePart({ id, name, what, why, fix, except, severities }: Rule): string {
  const date = severities.some(isHighOrCritical)
    ? " High and critical findings need `expires` and a `fingerprint`."
    : "";
  const look = `\`npx pulumi-platform explain ${id}\`, and the lines below the finding in the report. ${why}`;
  return [
    `### ${id}`,
    `**${name}.** ${what}`,
    `${adviceAsMarkdown(look, fix)}\n- **How to suppress it:** ${except}${date} [Example](rules.md#${id.toLowerCase()}-${name}).`,
  ].join("\n\n");
}

/** `docs/troubleshooting.md`: every code, rule, exit code and HTTP status, each with an anchor. */
export function renderTroubleshootingPage(): string {
  const families = codeFamilies.map(
    ([name, codes]) => `## ${name}\n\n${codes.map(codeAsMarkdown).join("\n\n")}`,
  );
  const sections = ["Exit codes", "HTTP statuses", ...codeFamilies.map(([name]) => name), "Rules"];
  const links = sections.map(
    (name) => `- [${name}](#${name.toLowerCase().replace(/,/g, "").replaceAll(" ", "-")})`,
  );
  return `<!-- Written by npm run docs: change provider/errors and provider/access/rules instead. -->

# Troubleshooting

For everybody who looks for what a message means. Every error ends with a code, as in \`(PP3403)\`. The same text without this page:

\`\`\`sh
npx pulumi-platform explain PP3403
npx pulumi-platform explain T3
\`\`\`

A code never changes its meaning. On this page, add it to the address in lower case: \`#pp3403\`.

${links.join("\n")}

## Exit codes

${allExitCodes.flatMap((name) => (name === "clean" ? [] : exitCodePart(name))).join("\n\n")}

## HTTP statuses

${statuses.map(statusPart).join("\n\n")}

${families.join("\n\n")}

## Rules

A finding of [a review](review.md) or of [drift](drift.md) begins with the id of its rule.

${rules.map(rulePart).join("\n\n")}
`;
}
