import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { basename, join } from "node:path";
import { startEmulator } from "../../emulator";
import type { Emulator } from "../../emulator";
import { kinds } from "../../provider/kinds";
import { makeSamples } from "../support/byHand";
import { ROOT, Stack, WRITES_STATE_ONCE } from "../support/engine";
import { readPage } from "../support/pages";
import { samples } from "../support/samples";
import type { Sample } from "../support/samples";
import { clean, compile } from "../support/tools";
import type { Answered } from "../support/tools";
import { call } from "../support/wire";
import { lowerFirst, upperFirst } from "../../scripts/lib/letterCase.cjs";

/* The examples of docs/reference, as they are shown: those of all resources run in one program, and those of all lookups. */

const EXAMPLES = join(ROOT, "examples/reference");

/** The examples of a folder of docs/reference, by the names of their files: the first program of each page. */
function examplesIn(folder: "resources" | "lookups"): ReadonlyMap<string, string> {
  const pages = readdirSync(join(ROOT, "docs/reference", folder)).sort();
  return new Map(
    pages.map((page) => {
      const { fences } = readPage(join("docs/reference", folder, page));
      const example = fences.find(({ language }) => language === "ts");
      if (!example) throw new Error(`docs/reference/${folder}/${page} shows no program`);
      return [lowerFirst(basename(page, ".md")), example.text];
    }),
  );
}

/** The programs that the examples are put into: a run of JavaScript takes half of the processor time. */
const programs = {
  // One program has one resource of each name, so the name of the example goes before that of the resource.
  resources: new Map(
    [...examplesIn("resources")].map(([name, text]) => [
      name,
      text.replace(/new (\w+)\("/g, (_, kind: string) => `new ${kind}("${name}-`),
    ]),
  ),
  lookups: examplesIn("lookups"),
};

/** Where the compiler writes the programs, a folder each. */
let compiled: string;
let compilation: Answered;

beforeAll(() => {
  compiled = mkdtempSync(join(ROOT, ".cache", "reference-"));
  const { compilerOptions, include } = JSON.parse(readFileSync(join(EXAMPLES, "tsconfig.json"), "utf8")) as {
    compilerOptions: object;
    include: string[];
  };
  const config = { compilerOptions: { ...compilerOptions, noEmit: false }, include };
  writeFileSync(join(compiled, "tsconfig.json"), JSON.stringify(config));
  for (const [folder, examples] of Object.entries(programs)) {
    mkdirSync(join(compiled, folder));
    const index = [...examples.keys()].map((name) => `export * as ${name} from "./${name}";\n`).join("");
    for (const [name, text] of [...examples, ["index", index] as const])
      writeFileSync(join(compiled, folder, `${name}.ts`), text);
  }
  compilation = compile(compiled);
});
afterAll(() => {
  rmSync(compiled, { recursive: true });
});

let emulator: Emulator;
let stack: Stack;

beforeEach(async () => {
  emulator = await startEmulator();
  stack = new Stack({ url: emulator.url, token: emulator.token, env: WRITES_STATE_ONCE });
});
afterEach(async () => {
  stack.dispose();
  await emulator.close();
});

/** A program that runs all examples; its outputs are theirs, by the name of the example. */
async function prepare(folder: keyof typeof programs): Promise<string[]> {
  expect(compilation).toEqual(clean);
  stack.copy(join(compiled, folder));
  await stack.init();
  await stack.succeed(["config", "set", "--secret", "oidcClientSecret", "hush"]);
  return [...programs[folder].keys()].sort();
}

test("the examples of all resources are created together, and show no change", async () => {
  const names = await prepare("resources");
  await stack.up();
  const ours = Object.entries(await stack.ours());
  for (const name of names) {
    const kind = upperFirst(name);
    const created = ours.filter(
      ([label, { type }]) => label.startsWith(`${name}-`) && type.endsWith(`:${kind}`),
    );
    expect([name, created.length]).toEqual([name, expect.any(Number)]);
    expect(created).not.toEqual([]);
  }
  await stack.succeed(["preview", "--refresh", "--expect-no-changes"]);
});

/** What the lookups of the examples find. */
async function createOrganisation(): Promise<void> {
  const create = async (collection: string, parent: string, body: unknown): Promise<string> =>
    String((await call(emulator, "POST", `${collection}${parent && `/${parent}`}`, body))["uid"]);
  const digest = `sha256:${"6b3f".repeat(16)}`;
  const claimMatch = { issuer: "https://ci.example.com", subject: "deploy" };
  const acme = await create("/iam/v2/groups", "", { name: "acme" });
  // The organisation of the e-mail domain of the emulator's own token.
  await create("/iam/v2/groups", "", { name: "example.com", kind: "ORG_KIND_CUSTOMER", verified: true });
  await create("/iam/v2/groups", acme, { name: "payments" });
  const roleUid = await create("/iam/v2/roles", acme, { name: "reader", capabilities: ["CAP_REPO_LIST"] });
  const identityUid = await create("/iam/v2/identities", acme, { name: "ci-deployer", claimMatch });
  await create("/iam/v2/roleBindings", acme, { identityUid, roleUid });
  const repo = await create("/registry/v2/repos", acme, { name: "api" });
  await create("/registry/v2/tags", repo, { name: "latest", digest });
  await call(emulator, "PATCH", `/registry/v2/repos/${repo}/readme`, { content: "# api" });
  const directory = await create("/iam/v2/identityProviders", acme, {
    name: "directory",
    defaultRole: roleUid,
    oidc: { issuer: "https://login.example.com", clientId: "platform", pkceEnabled: true },
  });
  await create("/iam/v2/externalGroupRoleMappings", directory, {
    externalGroupId: "engineers",
    roleUid,
    scope: acme,
  });
  await create("/iam/v2/groupInvites", acme, { roleUid, ttl: "86400s", email: "ada@example.com" });
  await create("/iam/v2/accountAssociations", acme, {
    name: "accounts",
    amazon: { account: "123456789012" },
  });
  await create("/iam/v2/terms", acme, { documentIds: ["guardener-tos.v1"] });
  await makeSamples(emulator, samplesOfGenerated(), { org: acme });
}

/** A sample of each kind whose lookups have a generated example, which lists what is below `acme`. */
function samplesOfGenerated(): Sample[] {
  const generated = kinds
    .map(({ spec }) => spec)
    .filter(({ kind, sharesParentUid }) => {
      const file = join(EXAMPLES, "lookups", `${lowerFirst(kind)}.ts`);
      return !sharesParentUid && !existsSync(file);
    });
  expect(generated).not.toEqual([]);
  return generated.map(({ kind }) => {
    const sample = samples.find((each) => each.kind === kind);
    if (!sample) throw new Error(`${kind} has no sample`);
    return sample;
  });
}

const isEmpty = (value: unknown): boolean =>
  value === undefined || value === null || value === "" || (Array.isArray(value) && value.length === 0);

test("the examples of all lookups find their objects", async () => {
  await createOrganisation();
  const names = await prepare("lookups");
  await stack.up();
  const { stdout } = await stack.succeed(["stack", "output", "--json"]);
  const found = JSON.parse(stdout) as Record<string, Record<string, unknown>>;
  expect(Object.keys(found).sort()).toEqual(names);
  for (const [name, outputs] of Object.entries(found)) {
    const empty = Object.entries(outputs).filter(([, value]) => isEmpty(value));
    expect([name, empty.map(([key]) => key)]).toEqual([name, []]);
  }
});
