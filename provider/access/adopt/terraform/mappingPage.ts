import { snakeToCamelCase, typeMappings } from "./mapping";
import type { AttributeMapping, Attributes } from "./mapping";

const START = "<!-- what becomes of Terraform's resources: written by npm run docs -->";
const END = "<!-- end -->";

/** The attributes with a path of their own, and what each becomes. */
function listAttributes(
  attributes: Attributes,
  from: string,
  to: string,
): { readonly from: string; readonly to: string; readonly mapping: AttributeMapping }[] {
  return Object.entries(attributes).flatMap(([name, mapping]) => {
    const path = `${from}${name}`;
    if (!("to" in mapping)) return [{ from: path, to: "", mapping }];
    const target = `${to}${mapping.to}`;
    if ("members" in mapping) return listAttributes(mapping.members, `${path}.`, `${target}.`);
    return [{ from: path, to: mapping.kind === undefined ? target : `${mapping.kind}.${target}`, mapping }];
  });
}

/** Groups equal reasons: `a`, `b`: why. */
function describeUnmapped(
  rows: readonly { readonly from: string; readonly mapping: AttributeMapping }[],
): string {
  const byReason = new Map<string, string[]>();
  for (const { from, mapping } of rows) {
    if ("reason" in mapping)
      byReason.set(mapping.reason, [...(byReason.get(mapping.reason) ?? []), `\`${from}\``]);
  }
  return [...byReason].map(([reason, names]) => `${names.join(", ")}: ${reason}`).join("<br>") || "-";
}

function mappingTables(): string {
  const rows = typeMappings.flatMap((one) => {
    if ("reason" in one) return [];
    const attributes = listAttributes(one.attributes, "", "");
    const renamed = attributes
      .filter(({ from, to }) => to !== "" && to !== snakeToCamelCase(from))
      .map(({ from, to }) => `\`${from}\` → \`${to}\``);
    return [
      `| \`${one.type}\` | \`${one.kind}\` | ${renamed.join("<br>") || "-"} | ${describeUnmapped(attributes)} |`,
    ];
  });
  const without = typeMappings.flatMap((one) =>
    "reason" in one ? [`| \`${one.type}\` | ${one.reason} |`] : [],
  );
  return [
    "| Terraform | Pulumi | Attributes with another name | Attributes that cannot go |",
    "| --- | --- | --- | --- |",
    ...rows,
    "",
    "| Stays in Terraform | Why |",
    "| --- | --- |",
    ...without,
  ].join("\n");
}

/** Replaces the tables in a page of the documents by the current ones. */
export function insertTerraformMapping(page: string): string {
  const [before = "", following = ""] = page.split(START);
  const [, after = ""] = following.split(END);
  return `${before}${START}\n\n${mappingTables()}\n\n${END}${after}`;
}
