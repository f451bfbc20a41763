import { createHash, generateKeyPairSync } from "node:crypto";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import MarkdownIt from "markdown-it";
import { parse } from "parse5";
import {
  accessColumns,
  accessAsCsv,
  accessAsHtml,
  accessAsMarkdown,
} from "../../../../provider/access/report/accessTable";
import type { AccessRow } from "../../../../provider/access/report/accessTable";
import { main } from "../../../../provider/cli/commands/access";
import { exportText } from "../../../../scripts/lib/documents.cjs";
import { inventoryOf } from "../../../support/documents";
import { ending, runCommand } from "../support";
import { temporaryFolder } from "../../../support/folders";

const ORG = "a".repeat(40);
const uid = (digit: string): string => `${ORG}/${digit.repeat(16)}`;
const [TEAM, ROLE, CI, BINDING] = [uid("1"), uid("2"), uid("3"), uid("4")];
const INVITE = `${TEAM}/${"5".repeat(16)}`;

const inventory = {
  ...inventoryOf(ORG),
  takenAt: "2026-01-01T00:00:00Z",
  kinds: ["Group", "GroupInvite", "Identity", "Role", "RoleBinding"],
  objects: [
    { kind: "Group", uid: ORG, inputs: { name: "acme" } },
    { kind: "Group", uid: TEAM, inputs: { name: "pay", parentUid: ORG } },
    {
      kind: "GroupInvite",
      uid: INVITE,
      inputs: { parentUid: TEAM, roleUid: ROLE, email: "new@example.com" },
      details: { expirationTime: "2026-02-01T00:00:00Z" },
    },
    {
      kind: "Identity",
      uid: CI,
      inputs: {
        name: '=HYPERLINK("x")',
        parentUid: ORG,
        staticKeys: {
          issuer: "https://i.example.com",
          subject: "s",
          issuerKeys: "{}",
          expirationTime: "2026-06-01T00:00:00Z",
        },
      },
      lastSeenTime: "2025-12-24T00:00:00Z",
    },
    { kind: "Role", uid: ROLE, inputs: { name: "reader", parentUid: ORG, capabilities: ["CAP_REPO_LIST"] } },
    { kind: "RoleBinding", uid: BINDING, inputs: { parentUid: ORG, identityUid: CI, roleUid: ROLE } },
  ],
};

/** The fields of a file by RFC 4180, read without a library. */
function readCsv(text: string): string[][] {
  const fields = [...text.matchAll(/"((?:[^"]|"")*)"(,|\r\n)/g)];
  expect(fields.map(([all]) => all).join("")).toBe(text);
  const lines: string[][] = [[]];
  for (const [, field = "", end] of fields) {
    lines.at(-1)?.push(field.replaceAll('""', '"'));
    if (end === "\r\n") lines.push([]);
  }
  return lines.slice(0, -1);
}

describe("pulumi-platform access as a table", () => {
  const folder = temporaryFolder();
  const file = join(folder, "inventory.json");
  beforeAll(() => writeFileSync(file, JSON.stringify(inventory)));

  const run = async (...flags: string[]) => {
    const ended = await runCommand(main, ["--inventory", file, ...flags], {});
    expect(ended).toMatchObject({ code: 0, stderr: "" });
    return ended.stdout;
  };

  test("csv has a row for each grant, with path, expiry and last use, in a stable order", async () => {
    const text = await run("-o", "csv", "--on", "pay");
    const [head = [], ...lines] = readCsv(text);
    expect(head).toEqual(Object.values(accessColumns));
    const rows = lines.map((line) =>
      Object.fromEntries(line.map((field, index): [string, string] => [head[index] ?? "", field])),
    );
    expect(rows).toHaveLength(2);
    expect(rows.find(({ Source }) => Source === "GroupInvite")).toMatchObject({
      Type: "invite",
      Role: "reader",
      Group: "acme / pay",
      Expires: "2026-02-01T00:00:00Z",
      "Source uid": INVITE,
    });
    expect(rows.find(({ Source }) => Source === "RoleBinding")).toMatchObject({
      "Subject uid": CI,
      Name: '\'=HYPERLINK("x")',
      Group: "acme",
      "Granted by": expect.stringMatching(/^RoleBinding .* at acme, inherited by acme \/ pay$/),
      Stack: "",
      Expires: "2026-06-01T00:00:00Z",
      "Last used": "2025-12-24T00:00:00Z",
    });
    writeFileSync(file, JSON.stringify({ ...inventory, objects: [...inventory.objects].reverse() }));
    expect(await run("-o", "csv", "--on", "pay")).toBe(text);
    writeFileSync(file, JSON.stringify(inventory));
  });

  test("says which names have the asked one in them", async () => {
    const named = (uid: string, name: string) => {
      const inputs = { ...inventory.objects[3]!.inputs, name };
      return { kind: "Identity", uid: `${ORG}/${uid.repeat(16)}`, inputs };
    };
    const objects = [...inventory.objects, named("7", "ada"), named("8", "ada-google")];
    writeFileSync(file, JSON.stringify({ ...inventory, objects }));
    expect(await run("--who", "ada")).toContain("Not shown: 1 more name has ada in it: ada-google\n");
    expect(await run("--who", "ada-g")).not.toContain("Not shown");
    writeFileSync(file, JSON.stringify(inventory));
  });

  test("says which grants are in no stack", async () => {
    const state = join(folder, "state.json");
    const inputs = { parentUid: ORG, identityUid: CI, roleUid: ROLE };
    writeFileSync(state, exportText([{ kind: "RoleBinding", name: "ci", uid: BINDING, inputs }]));
    const [head = [], ...lines] = readCsv(await run("--state", state, "-o", "csv"));
    const [kind, stack] = [head.indexOf("Source"), head.indexOf("Stack")];
    expect(lines.map((line) => [line[kind], line[stack]]).sort()).toEqual([
      ["GroupInvite", "unmanaged"],
      ["RoleBinding", "prod"],
    ]);
  });

  test("reads several stacks, also where one of them reads what another one manages", async () => {
    const ci = { kind: "Identity", name: "ci", uid: CI, inputs: inventory.objects[3]!.inputs };
    const bindingAt = (parentUid: string) => ({
      kind: "RoleBinding",
      uid: `${parentUid}/${"6".repeat(16)}`,
      inputs: { parentUid, identityUid: CI, roleUid: ROLE },
    });
    const objects = [...inventory.objects, bindingAt(ORG), bindingAt(TEAM)];
    writeFileSync(file, JSON.stringify({ ...inventory, objects }));
    writeFileSync(
      join(folder, "stack-base.json"),
      exportText([ci, { name: "ci", ...bindingAt(ORG) }], "base"),
    );
    const team = exportText([ci, { name: "ci", ...bindingAt(TEAM) }], "team");
    const read = team.replace(/("type":"[^"]*:Identity")/, '$1,"external":true');
    writeFileSync(join(folder, "stack-team.json"), read);
    const table = await run("--state", join(folder, "stack-*.json"), "-o", "csv");
    const [head = [], ...lines] = readCsv(table);
    const [source, stack] = [head.indexOf("Source uid"), head.indexOf("Stack")];
    expect(lines.map((line) => [line[source], line[stack]]).sort()).toEqual(
      [
        [BINDING, "unmanaged"],
        [INVITE, "unmanaged"],
        [bindingAt(ORG).uid, "base"],
        [bindingAt(TEAM).uid, "team"],
      ].sort(),
    );
    writeFileSync(file, JSON.stringify(inventory));
  });

  test.each([
    [
      "--on",
      "acme / pya",
      /--on "acme \/ pya" names no group that is known here; did you mean "acme \/ pay"\?/,
    ],
    ["--on", "pai", /did you mean "pay"\?/],
    ["--on", "elsewhere", /names no group that is known here \(PP5008\)/],
    [
      "--on",
      "reader",
      /names no group that is known here; it is of the kind Role in acme: give --on "acme" \(PP5008\)/,
    ],
    [
      "--on",
      '=HYPERLINK("x")',
      /; it is of the kind Identity in acme: give --who "=HYPERLINK\(\\"x\\"\)" \(PP5008\)/,
    ],
    ["--who", '=HYPERLNK("x")', /names nobody who is known here; did you mean "=HYPERLINK/],
    ["--who", "k1", /--who "k1" names nobody who is known here \(PP5008\)/],
    ["--who", "elsewhere", /--who "elsewhere" names nobody who is known here \(PP5008\)/],
    ["--can", "CAP_REPO_LISR", /did you mean CAP_REPO_LIST\?/],
  ])("%s %s is answered with the name that is near, if there is one", async (flag, word, message) => {
    const ended = await runCommand(main, ["--inventory", file, flag, word], {});
    expect(ended).toMatchObject(ending(2, message));
  });

  test("a key is asked for by what reports print of it, and all are said that have it", async () => {
    const { publicKey } = generateKeyPairSync("ed25519");
    const key = publicKey.export({ format: "jwk" });
    const { crv, kty, x } = key;
    const thumbprint = createHash("sha256").update(JSON.stringify({ crv, kty, x })).digest("base64url");
    const holder = (digit: string, name: string, kid: string) => ({
      kind: "Identity",
      uid: uid(digit),
      inputs: {
        name,
        parentUid: ORG,
        staticKeys: {
          issuer: "https://i",
          subject: name,
          issuerKeys: JSON.stringify({ keys: [{ ...key, kid }] }),
        },
      },
    });
    const binding = { parentUid: ORG, identityUid: uid("6"), roleUid: ROLE };
    const objects = [
      ...inventory.objects,
      holder("6", "scanner", "k1"),
      holder("7", "helper", "k2"),
      { kind: "RoleBinding", uid: uid("8"), inputs: binding },
    ];
    const leaked = join(folder, "leaked.json");
    writeFileSync(leaked, JSON.stringify({ ...inventory, objects }));
    const ask = async (who: string) => {
      const { code, stdout } = await runCommand(main, ["--inventory", leaked, `--who=${who}`], {});
      expect(code).toBe(0);
      return stdout.split("\n").slice(0, 5);
    };
    const [scanner, helper] = [`  identity scanner (${uid("6")})`, `  identity helper (${uid("7")})`];
    const grant = ["", expect.stringMatching(/^holder of the static keys of i, subject scanner/)];
    expect(await ask(thumbprint)).toEqual([
      `2 identities with the key ${thumbprint}:`,
      scanner,
      helper,
      ...grant,
    ]);
    expect(await ask(`key ${thumbprint}, kid k1`)).toContain(scanner);
    expect(await ask("k2")).toEqual([
      "1 identity with the key k2:",
      helper,
      "",
      "No grant that is known here matches.",
      "",
    ]);
  });

  test("whoever is asked for is also each identity that takes the tokens of that one", async () => {
    const takerOf = (digit: string, name: string, subject: string) => ({
      kind: "Identity",
      uid: uid(digit),
      inputs: { parentUid: ORG, name, claimMatch: { issuer: "https://issuer.platform.example", subject } },
    });
    const bindingOf = (digit: string, holder: string) => ({
      kind: "RoleBinding",
      uid: `${TEAM}/${digit.repeat(16)}`,
      inputs: { parentUid: TEAM, identityUid: uid(holder), roleUid: ROLE },
    });
    const objects = [
      ...inventory.objects,
      ...[
        takerOf("6", "deployer", CI),
        takerOf("7", "deployer-2", uid("6")),
        takerOf("8", "other", uid("9")),
      ],
      ...[bindingOf("a", "7"), bindingOf("b", "8")],
    ];
    const taken = join(folder, "taken.json");
    writeFileSync(taken, JSON.stringify({ ...inventory, objects }));
    const ask = async (...flags: string[]) => {
      const ended = await runCommand(main, ["--inventory", taken, ...flags], {});
      expect(ended).toMatchObject({ code: 0, stderr: "" });
      return ended.stdout;
    };
    const [ofSecond, ofOther] = ["a", "b"].map((digit) => `RoleBinding ${TEAM}/${digit.repeat(16)}`);
    expect(await ask("--who", CI)).toContain(`${ofSecond}, with tokens of =HYPERLINK("x")`);
    // It has no grant of its own.
    expect(await ask("--who", "deployer")).toContain(`${ofSecond}, with tokens of deployer`);
    expect(await ask("--who", "deployer", "-o", "csv")).toContain("at acme / pay, with tokens of deployer");
    // By a name it is called itself, and by a part of its name too, where nobody is called so.
    for (const who of ["deployer-2", "DEPLOY"]) expect(await ask("--who", who)).toContain(`${ofSecond}\n`);
    for (const who of [CI, "deployer", "deployer-2"]) expect(await ask("--who", who)).not.toContain(ofOther);
    expect(await ask("--who", "other")).not.toContain(ofSecond);
    // A subject is asked for as a token has it.
    const github = (digit: string, claimMatch: object) => ({
      ...{ kind: "Identity", uid: uid(digit) },
      inputs: { parentUid: ORG, name: digit, claimMatch: { issuer: "https://i.example", ...claimMatch } },
    });
    const web = "repo:acme/web:ref:refs/heads/main";
    objects.push(
      ...[github("c", { subject: web }), github("d", { subjectPattern: "^repo:acme/.*$" })],
      ...[bindingOf("e", "c"), bindingOf("f", "d")],
    );
    writeFileSync(taken, JSON.stringify({ ...inventory, objects }));
    const sourcesFor = async (subject: string) =>
      (await ask("--who", subject)).match(/(?<=RoleBinding \S+)\w$/gm)?.sort();
    expect(await sourcesFor(web)).toEqual(["e", "f"]);
    expect(await sourcesFor("repo:acme/pay:pull_request")).toEqual(["f"]);
  });

  test("a name of the policy file that nobody has is said, and breaks nothing", async () => {
    const policy = join(folder, "policy.yaml");
    writeFileSync(policy, "forbid: [{ name: x, can: CAP_REPO_DELETE, on: acme, who: { name: nobody } }]");
    const note = `${policy}:1: x: nobody who is known here is called "nobody"`;
    const ended = await runCommand(main, ["--inventory", file, "--policy", policy, "-o", "json"], {});
    expect(ended).toMatchObject(ending(0, note));
    expect(JSON.parse(ended.stdout)).toMatchObject({
      violations: [],
      notes: [expect.stringContaining(note)],
    });
    writeFileSync(policy, "forbid: [{ name: x, role: readr, on: acme }]");
    const { code, stdout } = await runCommand(main, ["--inventory", file, "--policy", policy], {});
    expect(code).toBe(5);
    expect(stdout).toContain('the role "readr" allows; did you mean "reader"?');
    expect(stdout).toContain(`asserted in ${policy}:1`);
  });

  const empty = join(folder, "preview.json");
  test.each<[text: string, code: number, argv: () => string[]]>([
    ["No grant that is known here matches.\n", 0, () => ["--inventory", file, "--can", "CAP_REPO_DELETE"]],
    [
      "  reader at acme (and so at acme / pay)\n    by RoleBinding ",
      0,
      () => ["--inventory", file, "--on", "pay"],
    ],
    [
      "Not signed in for 90 days, since 2025-10-03T00:00:00.000Z: 1\n  =HYPERLINK",
      0,
      () => ["--inventory", join(folder, "unused.json"), "--unused", "90d"],
    ],
    [
      "None is known to be unused for 9 days, since 2025-12-23T",
      0,
      () => ["--inventory", file, "--unused", "9d"],
    ],
    ["Incomplete: nothing was read: the documents name no resource", 4, () => ["--preview", empty]],
    ["Incomplete: 3 unchanged resources are not shown: write", 4, () => ["--preview", empty]],
  ])("text says %j, and ends with %i", async (text, code, argv) => {
    writeFileSync(empty, JSON.stringify({ steps: [], changeSummary: { same: 3 } }));
    const old = JSON.stringify(inventory).replace('"lastSeenTime":"2025-12', '"lastSeenTime":"2025-01');
    writeFileSync(join(folder, "unused.json"), old);
    const ended = await runCommand(main, argv(), {});
    expect(ended).toMatchObject({ code, stdout: expect.stringContaining(text) as string });
  });

  test("a document is needed", async () => {
    expect(await runCommand(main, [], {})).toMatchObject(
      ending(2, "access needs a document: give --inventory"),
    );
  });

  test("md and html show the same rows", async () => {
    const page = await run("-o", "html");
    const table = new MarkdownIt().render(await run("-o", "md"));
    for (const text of [page, table]) {
      expect(text.match(/<tr>/g)).toHaveLength(3);
      expect(text).toContain("2025-12-24 00:00");
    }
  });
});

/** A row with this text in each column. */
const rowOf = (text: string) =>
  Object.fromEntries(Object.keys(accessColumns).map((column) => [column, text])) as unknown as AccessRow;

describe("a hostile name in a table of access", () => {
  const formulas = ["=1+1", "+1", "-1", "@SUM(A1)", "\t=1", "  =1", "\r\n=1", "＝1", '"=1'];

  test.each([...formulas, "<script>alert(1)</script>", "a|b", "\u202e"])(
    "%j cannot start a formula, a cell, a line or a tag",
    (subject) => {
      const table = { rows: [{ ...rowOf(""), subject }], incomplete: [subject], broken: [subject] };
      const lines = readCsv(accessAsCsv(table));
      expect(lines).toHaveLength(2);
      expect(lines[1]?.[0]).not.toMatch(/^[\s]*[=+\-@＝＋－＠]/u);
      expect(lines[1]).toHaveLength(Object.keys(accessColumns).length);
      const page = accessAsHtml(table);
      expect(page).not.toContain("<script");
      expect(
        JSON.stringify(parse(page), (key, value: unknown) => (key === "parentNode" ? undefined : value)),
      ).not.toContain('"tagName":"script"');
      const body = accessAsMarkdown(table)
        .split("\n")
        .filter((line) => line.startsWith("| "));
      expect(body).toHaveLength(3);
      expect(new MarkdownIt({ html: true }).render(accessAsMarkdown(table))).not.toContain("<script");
    },
  );
});
