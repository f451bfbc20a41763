import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { startEmulator } from "../../../../emulator";
import type { Emulator } from "../../../../emulator";
import type { TerraformReport } from "../../../../provider/access/adopt/terraform/adoption";
import { main } from "../../../../provider/cli/commands/adopt/adopt";
import {
  CLIENT_SECRET,
  INVITE_CODE,
  makeTerraformObjects,
  pulledState,
  terraformObjects,
  terraformRows,
} from "../../../support/terraform";
import type { StateRow } from "../../../support/terraform";
import { ending, runCommand } from "../support";
import { temporaryFolder } from "../../../support/folders";

const OTHER = 'provider["registry.terraform.io/hashicorp/aws"]';

describe("pulumi-platform adopt --from-terraform", () => {
  const folder = temporaryFolder();
  const file = join(folder, "terraform.tfstate");
  let emulator: Emulator;
  let ids: Record<string, string>;
  let rows: StateRow[];
  let folders = 0;

  const nextOut = (): string => join(folder, `out-${(folders += 1)}`);
  const run = (document: unknown, ...more: string[]) => {
    writeFileSync(file, typeof document === "string" ? document : JSON.stringify(document));
    const env = { PLATFORM_BASE_URL: emulator.url, PLATFORM_TOKEN: emulator.token };
    const out = more.includes("--out") ? [] : ["--out", nextOut()];
    return runCommand(main, ["--from-terraform", file, ...out, ...more], env);
  };
  const reportOf = async (state: readonly StateRow[], ...more: string[]) => {
    const { stdout, stderr } = await run(pulledState(state), "-o", "json", ...more);
    expect(stderr).toBe("");
    return (JSON.parse(stdout) as { terraform: TerraformReport }).terraform;
  };
  const group = (name: string, id?: string): StateRow => ({
    type: "chainguard_group",
    name,
    attributes: { id },
  });
  const rowOf = (name: string): StateRow => rows.find((row) => row.name === name) ?? { type: "", name };

  beforeAll(async () => {
    emulator = await startEmulator();
    ids = await makeTerraformObjects(emulator);
    rows = terraformRows(ids);
  });
  afterAll(async () => {
    await emulator.close();
  });
  afterEach(() => {
    const made = emulator.requests.filter(({ method }) => method !== "GET").length;
    expect(made).toBe(terraformObjects.length + 2);
  });

  test("a state becomes a program, named after the addresses", async () => {
    const out = nextOut();
    const pulled = await run(pulledState(rows), "--out", out);
    expect(pulled).toMatchObject({ code: 0, stderr: "" });
    const program = readFileSync(join(out, "index.ts"), "utf8");
    for (const name of [
      ...['Group("teams-payments-this"', 'Identity("aws-0"', 'RoleBinding("access-deployer-reads"'],
      ...['Repo("api"', 'RepoReadme("api"', 'Tag("stable"'],
    ])
      expect(program).toContain(`new ${name},`);
    expect(pulled.stdout).toContain("15 resources are declared in");
    expect(pulled.stdout).toContain("chainguard_group_invite.ada: its code is returned only at creation");
    expect(pulled.stdout).not.toContain("terraform state rm");
    for (const secret of [CLIENT_SECRET, INVITE_CODE]) {
      expect(`${program}${pulled.stdout}`).not.toContain(secret);
    }
  });

  test("every instance is adopted, or listed with the reason", async () => {
    const report = await reportOf(
      [
        ...rows,
        { ...rowOf("this"), name: "copy", module: undefined },
        { ...rowOf("reader"), status: "tainted", name: "tainted" },
        { ...rowOf("reader"), deposed: "1a2b3c4d", name: "deposed" },
        group("gone", `${ids["org"]}/${"0".repeat(16)}`),
        group("elsewhere", "a".repeat(40)),
        group("odd", "../../roles"),
        { type: "chainguard_group", name: "without", attributes: null },
        { type: "chainguard_policy", name: "images", attributes: { id: ids["org"] } },
        { type: "chainguard_future", name: "new", attributes: { id: ids["org"] } },
        { mode: "data", type: "chainguard_role", name: "viewer", attributes: {} },
        { type: "aws_iam_role", name: "role", provider: OTHER, attributes: { id: "x" } },
        { type: "aws_iam_role", name: "role2", provider: OTHER, attributes: { id: "x" } },
      ],
      "--root",
      ids["org"] ?? "",
    );
    expect(report.adopted).toHaveLength(terraformObjects.length - 1 + 2);
    expect(report.adopted.filter(({ isTainted }) => isTainted).map(({ address }) => address)).toEqual([
      "chainguard_role.tainted",
    ]);
    expect(report.missing).toEqual([
      { address: "chainguard_group.gone", kind: "Group", uid: `${ids["org"]}/${"0".repeat(16)}` },
    ]);
    expect(Object.fromEntries(report.remaining.map(({ address, reason }) => [address, reason]))).toEqual({
      "chainguard_group_invite.ada": expect.stringContaining("returned only at creation"),
      "chainguard_role.deposed": expect.stringContaining("deposed"),
      "chainguard_group.elsewhere": `it is not below ${ids["org"]}`,
      "chainguard_group.odd": "its id is not a uid",
      "chainguard_group.without": "its id is not a uid",
      "chainguard_policy.images": "it is not part of the Platform API v2",
      "chainguard_future.new": "this version of the package does not know its type",
    });
    expect(report.dataSources).toEqual(["data.chainguard_role.viewer"]);
    expect(report.otherProviders).toEqual([
      { provider: "registry.terraform.io/hashicorp/aws", resources: 2 },
    ]);
  });

  test("removes exactly the adopted addresses from the Terraform state, and declares each object once", async () => {
    const { adopted, forget } = await reportOf([
      ...rows.filter(({ name }) => name === "this" || name === "reader"),
      { ...rowOf("reader"), name: "same" },
      group("root", ids["org"]),
      { ...rowOf("aws"), key: 0 },
      { ...rowOf("ada"), key: 0 },
      { ...rowOf("deployer"), name: "mixed", key: "kept" },
      { type: "chainguard_identity", name: "mixed", key: "odd", attributes: { id: "odd" } },
    ]);
    expect(forget).toEqual(adopted.map(({ address }) => address));
    expect(adopted.map(({ address, name }) => [address, name])).toEqual([
      ["chainguard_group.root", "root"],
      ["chainguard_identity.aws[0]", "aws-0"],
      ['chainguard_identity.mixed["kept"]', "mixed-kept"],
      ["chainguard_role.reader", "reader"],
      ["chainguard_role.same", "reader"],
      ['module.teams["payments"].chainguard_group.this', "teams-payments-this"],
    ]);
  });

  test("ends with 4 for a refused list, whose objects stay in Terraform", async () => {
    const fault = { path: "/iam/v2/roles", status: 403, body: { code: 7, message: "no", details: [] } };
    const refused = emulator.addFault(fault);
    const { stdout, ...ended } = await run(pulledState(rows));
    refused.remove();
    expect(ended).toMatchObject(ending(4, "Role at"));
    expect(stdout).toContain("chainguard_role.reader: objects of the kind Role were not read");
  });

  test.each([
    [
      "a state of another provider",
      () => pulledState([{ type: "aws_x", name: "y", provider: OTHER }]),
      "manages nothing of the platform that a program can declare (PP6008)",
    ],
    [
      "a state of two organisations",
      () => pulledState([rowOf("this"), group("b", "b".repeat(40))]),
      "manages objects of 2 organisations: give one of them with --root",
    ],
  ])("%s ends with 2, in one line, and writes nothing", async (_, document, message) => {
    const out = nextOut();
    const ended = await run(document(), "--out", out);
    expect(ended).toMatchObject({ ...ending(2, message), stdout: "" });
    expect(ended.stderr.trim().split("\n")).toHaveLength(1);
    expect(existsSync(out)).toBe(false);
  });
});
