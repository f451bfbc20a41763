import { allExitCodes, exitCodeRows } from "./framework/exitCodes";
import { commands } from "./commands/list";
import { formatHelp } from "./framework/defineCommand";
import { capitalize } from "../fields/values";

/** `docs/commands.md`: the help of every command, and the table of exit codes. */
export function renderCommandsPage(): string {
  const sections = commands.map(({ name, summary, load }) => {
    const { description } = load();
    const title = `## ${name}\n\n${capitalize(summary)}.`;
    return `${title}\n\n\`\`\`text\n${formatHelp(description)}\`\`\``;
  });
  const codes = exitCodeRows(allExitCodes);
  const width = Math.max(...codes.map(([, meaning]) => meaning.length));
  const rows = codes.map(([code, meaning]) => `| ${code}    | ${meaning.padEnd(width)} |`);
  return `<!-- Written by npm run docs: change provider/cli instead. -->

# Commands

For everybody who runs \`pulumi-platform\`. Each command prints its part of this page with \`--help\`.

\`pulumi-platform completion bash|zsh|fish\` prints the completion script of a shell. For bash, put this line into \`~/.bashrc\`:

\`\`\`bash
source <(pulumi-platform completion bash)
\`\`\`

## Exit codes

The numbers mean the same in all commands. If findings or drift were found and something was not checked, the exit code is 5 or 7.

| Code | ${"Meaning".padEnd(width)} |
| ---- | ${"-".repeat(width)} |
${rows.join("\n")}

${sections.join("\n\n")}
`;
}
