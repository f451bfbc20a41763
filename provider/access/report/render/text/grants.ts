import type { GrantChange } from "../../../graph/grant";
import type { Report } from "../../report";
import type { RenderOptions } from "../options";
import { capabilityWords, changeOrder, changeSigns, chooseName, formatLocation, nameSubject } from "../words";
import type { Style, TextPage } from "./textPage";

const changeStyles: Readonly<Record<GrantChange["change"], Style>> = {
  gained: "yellow",
  widened: "yellow",
  lost: "green",
  narrowed: "green",
};

function grant(page: TextPage, change: GrantChange, options: RenderOptions): void {
  const { grant: now, before } = change;
  const { displayName, name } = nameSubject(now);
  page.entry(2, `${changeSigns[change.change]} `, `${displayName}${name === undefined ? "" : ` (${name})`}`, {
    leadStyles: [changeStyles[change.change], "bold"],
    tail: formatLocation(now.location, options.sourceRoot),
  });
  page.entry(4, "", `${chooseName(now.role)} at ${now.group.path}${now.group.isRoot ? " (root)" : ""}`, {
    styles: ["bold"],
  });
  if (before !== undefined && (before.role.key !== now.role.key || before.group.key !== now.group.key)) {
    page.entry(4, "was ", `${chooseName(before.role)} at ${before.group.path}`, { leadStyles: ["dim"] });
  }
  if (change.reason !== "") page.entry(4, "", change.reason, { styles: ["dim"] });
  const sets = [
    ["can     ", change.capabilitiesAdded],
    ["cannot  ", change.capabilitiesRemoved],
  ] as const;
  for (const [lead, capabilities] of sets) {
    if (capabilities.length > 0) {
      page.entry(4, lead, capabilityWords(capabilities).join("; "), { leadStyles: ["dim"] });
    }
  }
}

const changeHeadings: Readonly<Record<GrantChange["change"], string>> = {
  gained: "GAINED",
  lost: "LOST",
  widened: "WIDENED",
  narrowed: "NARROWED",
};

function grantHeading(command: Report["command"], change: GrantChange["change"]): string {
  const heading = changeHeadings[change];
  if (command === "drift") return `${heading} BY DRIFT`;
  return command === "verify" ? `ANNOUNCED AND APPLIED: ${heading}` : heading;
}

export function grantSections(page: TextPage, { command, grants }: Report, options: RenderOptions): void {
  for (const kind of changeOrder) {
    const changes = grants.filter(({ change }) => change === kind);
    if (changes.length === 0) continue;
    page.heading(`${grantHeading(command, kind)} (${changes.length})`);
    for (const change of changes) grant(page, change, options);
  }
}
