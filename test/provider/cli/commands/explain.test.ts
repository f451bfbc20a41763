import { readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { rules } from "../../../../provider/access/rules";
import { errorCodes } from "../../../../provider/errors/registry";
import { main } from "../../../../provider/cli/commands/explain";
import { temporaryFolder } from "../../../support/folders";
import { ending, runCommand } from "../support";

async function said(...argv: string[]): Promise<string> {
  const { code, stdout, stderr } = await runCommand(main, argv, {});
  expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
  return stdout.trimEnd();
}

describe("pulumi-platform explain", () => {
  it("lists all rules, a line each", async () => {
    const lines = (await said()).split("\n");
    expect(lines).toHaveLength(rules.length);
    expect(lines[0]).toMatch(/^G1 +owner-grant +critical, high$/);
  });

  it("prints all of a rule, by its id or its name, in 80 columns", async () => {
    const text = await said("t4");
    for (const title of [
      "Severity",
      "What it finds",
      "Why it matters",
      "How to fix it",
      "When to suppress it",
    ])
      expect(text).toContain(`\n${title}\n`);
    expect(await said("pull-request-ref")).toBe(text);
    for (const { id } of rules) {
      for (const line of (await said(id)).split("\n")) expect(line.length).toBeLessThanOrEqual(80);
    }
  });

  it("writes Markdown, to a file as well", async () => {
    const file = path.join(temporaryFolder(), "g1.md");
    expect(await said("G1", "G2", "-o", `md=${file}`)).toBe("");
    expect(readFileSync(file, "utf8")).toMatch(/^## G1 owner-grant\n[^]*\n## G2 takeover-caps\n/);
  });

  it("explains the code of an error, in the form of a message too, in 80 columns", async () => {
    const text = await said("PP3403");
    expect(text).toMatch(/^PP3403 {2}HTTP 403: /);
    for (const title of ["What it means", "How to see why", "What to do"]) {
      expect(text).toContain(`\n${title}\n`);
    }
    expect(await said("(pp3403)")).toBe(text);
    for (const code of Object.keys(errorCodes)) {
      for (const line of (await said(code)).split("\n")) expect(line.length).toBeLessThanOrEqual(80);
    }
    expect(await said("PP3403", "-o", "md")).toMatch(/^### PP3403\n/);
    expect(JSON.parse(await said("T3", "PP3403", "-o", "json"))).toMatchObject({
      rules: [{ id: "T3" }],
      codes: [{ code: "PP3403" }],
    });
  });

  it.each([
    [["PP3402"], 'unknown rule or code "PP3402"; did you mean PP3400?'],
    [["PP99999"], "docs/troubleshooting.md all codes"],
    [["owner-grnt"], "did you mean owner-grant?"],
    [["G0"], "did you mean G1?"],
    [["\u001b[2J"], "npx --no pulumi-platform explain lists all rules"],
  ])("refuses %j", async (argv, hint) => {
    const ended = await runCommand(main, argv, {});
    expect(ended).toMatchObject(ending(2, hint));
    expect(ended.stderr).not.toContain("\u001b");
  });

  it.each([
    ["ACME3", "did you mean ACME1?"],
    ["owner-grnt", "did you mean owner-grant?"],
    ["no-edtor", "did you mean no-editor?"],
  ])("answers %s, which is none of the rules of one's own", async (word, hint) => {
    const ruleOf = (id: string, name: string): string =>
      `{ id: "${id}", name: "${name}", severity: "low", why: "x", fix: "x", find: () => [] }`;
    const file = path.join(temporaryFolder(), "rules.cjs");
    const own = [ruleOf("ACME1", "no-editor"), ruleOf("ACME22", "no-viewer")];
    writeFileSync(file, `module.exports = [${own.join(", ")}];`);
    expect(await runCommand(main, [word, "--rules", file], {})).toMatchObject(ending(2, hint));
  });
});
