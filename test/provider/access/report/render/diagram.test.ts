import { readdirSync } from "node:fs";
import { renderDiagram } from "../../../../../provider/access/report/render/markdown";
import { chooseName, nameSubject } from "../../../../../provider/access/report/render/words";
import type { GrantChange } from "../../../../../provider/access/graph/grant";
import { FIXTURES, reportOf } from "../../fixtures";
import { riskyReview } from "./reports";

const decode = (text: string): string =>
  text.replace(/#(\d+);/g, (_, code: string) => String.fromCodePoint(Number(code)));

/** Who, how and where, for each edge of a picture. */
function edgesOf(picture: string): string[] {
  const labels = new Map(
    [...picture.matchAll(/^ {2}([sg]\d+)\(?\["(.*)"\]\)?$/gm)].map(([, id = "", label = ""]) => [id, label]),
  );
  return [...picture.matchAll(/^ {2}(s\d+) \S+\|"(.*)"\| (g\d+)$/gm)].map(
    ([, from = "", what = "", to = ""]) =>
      [labels.get(from) ?? "?", what, labels.get(to) ?? "?"].map(decode).join(" | "),
  );
}

/** What the table says of the same changes. */
function rowsOf(changes: readonly GrantChange[]): string[] {
  const short = (text: string): string => (text.length <= 48 ? text : `${text.slice(0, 47)}…`);
  return changes.map(({ change, grant }) =>
    [nameSubject(grant).displayName, `${change} ${chooseName(grant.role)}`, grant.group.path]
      .map(short)
      .join(" | "),
  );
}

const recorded = readdirSync(FIXTURES).filter((file) => file.endsWith(".json") && !file.startsWith("export"));

test.each(recorded)("the diagram names the same subjects and groups as the table: %s", (file) => {
  const { grants } = reportOf(file);
  expect(edgesOf(renderDiagram(grants) ?? "")).toEqual(rowsOf(grants));
});

test("a renamed subject and a renamed group have both names in the diagram", () => {
  const [first] = riskyReview.grants;
  const { subject, group } = first!.grant;
  const old = {
    ...first!,
    change: "lost" as const,
    grant: {
      ...first!.grant,
      subject: { ...subject, displayName: "the old holder" },
      group: { ...group, path: "old / path" },
    },
  };
  const changes = [old, first!];
  expect(edgesOf(renderDiagram(changes) ?? "")).toEqual(rowsOf(changes));
});
