// @ts-check
/*
 * The pages that the tables of the package give: commands, codes, rules, what drift leaves out, what becomes of Terraform's
 * resources. Each takes what loads a module of the package: npm run docs has the built ones, a test the sources.
 */

/** @typedef {(file: string) => any} Load A module by its path below provider/, without its extension. */
/** @typedef {import("../../provider/access/rules/rule").Rule} Rule */

const { code, replacePart, table } = require("./markdown.cjs");

/** `docs/commands.md`: the help of every command, and the table of exit codes. @param {Load} load */
function commandsPage(load) {
  const { allExitCodes, exitCodeRows } = load("cli/framework/exitCodes");
  const { formatHelp } = load("cli/framework/defineCommand");
  /** @type {typeof import("../../provider/cli/commands/list").commands} */
  const commands = load("cli/commands/list").commands;
  const sections = commands.map(
    ({ name, summary, load: loadCommand }) =>
      `## ${name}\n\n${load("fields/values").capitalize(summary)}.\n\n\`\`\`text\n${formatHelp(loadCommand().description)}\`\`\``,
  );
  /** @type {[number, string][]} */
  const codes = exitCodeRows(allExitCodes);
  const width = Math.max(...codes.map(([, meaning]) => meaning.length));
  const rows = codes.map(([number, meaning]) => `| ${number}    | ${meaning.padEnd(width)} |`);
  return `<!-- Written by npm run docs: change provider/cli instead. -->

# Commands

For everybody who runs \`pulumi-platform\`. Each command prints its part of this page with \`--help\`,
and \`npx --no -- pulumi-platform --help\` lists them.

\`pulumi-platform completion bash|zsh|fish\` prints the completion script of a shell. The package is installed in the folder of a
program, here \`~/access\`, so the shell needs the command too. For bash, put these lines into \`~/.bashrc\`:

\`\`\`bash
pulumi-platform() { npx --no -- pulumi-platform "$@"; }
source <(~/access/node_modules/.bin/pulumi-platform completion bash)
\`\`\`

## Exit codes

The numbers mean the same in all commands. If findings or drift were found and something was not checked, the exit code is 5 or 7.

| Code | ${"Meaning".padEnd(width)} |
| ---- | ${"-".repeat(width)} |
${rows.join("\n")}

${sections.join("\n\n")}
`;
}

/** `docs/troubleshooting.md` with its part about the rules. @param {Load} load @param {string} page */
function withRules(load, page) {
  const { isHighOrCritical } = load("access/review/finding");
  /** @type {Rule[]} */
  const rules = load("access/rules/index").rules;
  const parts = rules.map(({ id, name, what, why, fix, except, severities }) => {
    const date = severities.some((one) => isHighOrCritical(one))
      ? " High and critical findings need `expires` and a `fingerprint`."
      : "";
    return `### ${id}

**${name}.** ${what}

- **How to see why:** \`npx --no pulumi-platform explain ${id}\`, and the lines below the finding in the report. ${why}
- **What to do:** ${fix}
- **How to suppress it:** ${except}${date} [Example](rules.md#${id.toLowerCase()}-${name}).`;
  });
  return replacePart(page, "the rules", parts.join("\n\n"));
}

/**
 * A rule as the page of a resource lists it: where docs/rules.md explains it, and the kinds that it can report; none where
 * it judges the change as a whole.
 * @typedef {Pick<Rule, "id" | "name" | "severities"> & { anchor: string, kinds: readonly string[] }} RuleReference
 */

/** @param {Load} load @returns {RuleReference[]} */
function ruleReferences(load) {
  const kinds = Object.keys(load("access/documents/specs").specs);
  const { canReport } = load("access/rules/rule");
  /** @type {Rule[]} */
  const rules = load("access/rules/index").rules;
  return rules.map((rule) => ({
    id: rule.id,
    name: rule.name,
    severities: rule.severities,
    anchor: `${rule.id.toLowerCase()}-${rule.name}`,
    kinds: kinds.filter((kind) => canReport(rule, kind)),
  }));
}

/** `docs/rules.md`: all rules, each with its explanation and links. @param {Load} load */
function rulesPage(load) {
  const { explainAsMarkdown, listAsMarkdown } = load("access/rules/explain");
  const { wrapped } = load("text/plain");
  const all = Object.keys(load("access/documents/specs").specs).length;
  const kindsOf = (/** @type {RuleReference} */ { kinds }) => {
    if (kinds.length === 0) return "the change as a whole";
    if (kinds.length === all) return "every resource";
    return kinds.map((kind) => `[${kind}](reference/resources/${kind}.md)`).join(", ");
  };
  /** @type {Rule[]} */
  const rules = load("access/rules/index").rules;
  const sections = ruleReferences(load).map((reference, i) =>
    [
      explainAsMarkdown(rules[i]),
      wrapped(`**Can report** ${kindsOf(reference)}.`, "", 110),
      `[Where to look](troubleshooting.md#${reference.id.toLowerCase()})`,
    ].join("\n\n"),
  );
  return `# Rules of the access review

Generated from the rules by \`npm run docs\`; \`pulumi-platform explain\` says the same.

A rule judges what a change does to access, not what existed before. Fix a finding, or suppress it in
\`access-policy.yaml\` with a reason. A suppression of a high or critical finding also needs its last day, and the
finding's \`fingerprint\`, which covers the value that was found. With a \`fingerprint\` it needs no \`match\`. Prefer \`uid\` in \`match\`: a name is
chosen by whoever writes the program, in a pull request too.

${listAsMarkdown(rules)}

${sections.join("\n\n")}
`;
}

/** @typedef {import("../../provider/fields/fieldSpec").FieldSpec} FieldSpec */

/**
 * Which arguments of a kind drift leaves out, by path: those that it compares only where the program sets them, and those
 * that are sent and never returned.
 * @typedef {{ kind: string, ifUnset: readonly string[], never: readonly string[] }} UncomparedFields
 */

/** @param {Readonly<Record<string, FieldSpec>>} fields @param {string} prefix @param {(field: FieldSpec) => boolean | undefined} matches @returns {string[]} */
function listPaths(fields, prefix, matches) {
  return Object.entries(fields).flatMap(([key, field]) => {
    const path = `${prefix}${key}`;
    if (matches(field)) return [path];
    // A field that is only sent has no nested fields to name.
    return field.type === "object" && !field.inputOnly ? listPaths(field.fields, `${path}.`, matches) : [];
  });
}

/** @param {Load} load @returns {UncomparedFields[]} */
function uncomparedFields(load) {
  /** @type {typeof import("../../provider/kinds").kinds} */
  const kinds = load("kinds/index").kinds;
  /** @type {typeof import("../../provider/fields/fieldSpec")} */
  const { isSecurityRelevant } = load("fields/fieldSpec");
  return kinds
    .map(({ spec }) => ({
      kind: spec.kind,
      ifUnset: listPaths(
        spec.fields,
        "",
        (field) => !field.path && !field.required && !field.inputOnly && !isSecurityRelevant(field),
      ),
      never: listPaths(spec.fields, "", ({ inputOnly }) => inputOnly),
    }))
    .filter(({ ifUnset, never }) => ifUnset.length + never.length > 0);
}

/** `docs/drift.md` with its table of what drift does not compare. @param {Load} load @param {string} page */
function withUncomparedFields(load, page) {
  const list = (/** @type {readonly string[]} */ paths) => paths.map(code).join(", ") || "-";
  const rows = uncomparedFields(load).map(({ kind, ifUnset, never }) => [
    code(kind),
    list(ifUnset),
    list(never),
  ]);
  return replacePart(
    page,
    "what drift does not compare",
    table(["Kind", "Only where the program sets it", "Never"], rows),
  );
}

/** `docs/from-terraform.md` with its tables of types. @param {Load} load @param {string} page */
function withTerraformMapping(load, page) {
  /** @type {typeof import("../../provider/access/adopt/terraform/mapping")} */
  const { typeMappings } = load("access/adopt/terraform/mapping");
  const rows = typeMappings.flatMap((one) => {
    if ("reason" in one) return [];
    const others = Object.entries(one.attributeKinds ?? {}).map(
      ([name, kind]) => `${code(kind)} of ${code(name)}`,
    );
    return [[code(one.type), [code(one.kind), ...others].join(", ")]];
  });
  const without = typeMappings.flatMap((one) => ("reason" in one ? [[code(one.type), one.reason]] : []));
  const tables = `${table(["Terraform", "Pulumi"], rows)}\n\n${table(["Stays in Terraform", "Why"], without)}`;
  return replacePart(page, "what becomes of Terraform's resources", tables);
}

/** `docs/settings.md` with its table of settings. @param {Load} load @param {string} page */
function withSettings(load, page) {
  /** @type {Record<string, import("../../provider/settings/definitions").SettingDefinition>} */
  const definitions = load("settings/definitions").settingDefinitions;
  const rows = Object.values(definitions).map(
    ({ key, variable, type, min, max, fallback = "", isSecret, text }) => [
      key ? code(`platform:${key}`) : "",
      variable ? code(variable) : "",
      min === undefined ? type : `${type}, ${min} to ${max}`,
      // A default with blanks describes how it is derived.
      /^\S+$/.test(String(fallback)) ? code(String(fallback)) : String(fallback),
      isSecret ? "yes" : "",
      text,
    ],
  );
  const head = ["Stack configuration", "Environment", "Type", "Default", "Secret", "Meaning"];
  return replacePart(page, "every setting", table(head, rows));
}

/** `docs/emulator.md` with its table of operations. @param {Load} load @param {string} page */
function withEmulatorCoverage(load, page) {
  /** @type {{ rpc: string }[]} */
  const methods = load("../emulator/tables/index").allMethods;
  /** @type {Map<string, Set<string>>} */
  const services = new Map();
  for (const { rpc } of methods) {
    const [service = "", name = ""] = rpc.split("/");
    services.set(service, (services.get(service) ?? new Set()).add(code(name)));
  }
  const rows = [...services].map(([service, names]) => [code(service), [...names].join(", ")]);
  return replacePart(page, "the operations", table(["Service", "Operations"], rows));
}

module.exports = {
  commandsPage,
  ruleReferences,
  rulesPage,
  uncomparedFields,
  withEmulatorCoverage,
  withRules,
  withSettings,
  withTerraformMapping,
  withUncomparedFields,
};
