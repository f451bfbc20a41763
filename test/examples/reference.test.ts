import { cpSync, existsSync, readdirSync } from "node:fs";
import { basename, join } from "node:path";
import { startEmulator } from "../../emulator";
import type { Emulator } from "../../emulator";
import { kinds } from "../../provider/resources";
import { makeSamples } from "../support/byHand";
import { ROOT, Stack } from "../support/engine";
import { readPage } from "../support/pages";
import { samples } from "../support/samples";
import type { Sample } from "../support/samples";
import { call } from "../support/wire";

/* The examples of docs/reference, as they are shown: those of all resources run in one program, and those of all lookups. */

const EXAMPLES = join(ROOT, "examples/reference");

const lowerFirst = (text: string): string => text.charAt(0).toLowerCase() + text.slice(1);

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

let emulator: Emulator;
let stack: Stack;

beforeEach(async () => {
  emulator = await startEmulator();
  stack = new Stack(emulator);
});
afterEach(async () => {
  stack.dispose();
  await emulator.close();
});

/** A program that runs all examples; its outputs are theirs, by the name of the example. */
async function prepare(examples: ReadonlyMap<string, string>): Promise<string[]> {
  const names = [...examples.keys()].sort();
  cpSync(join(EXAMPLES, "tsconfig.json"), join(stack.directory, "tsconfig.json"));
  stack.files({
    "Pulumi.yaml": "name: reference\nruntime: nodejs\n",
    "package.json": '{ "name": "reference", "main": "index.ts" }\n',
    "index.ts": names.map((name) => `export * as ${name} from "./${name}";\n`).join(""),
    ...Object.fromEntries([...examples].map(([name, text]) => [`${name}.ts`, text])),
  });
  await stack.init();
  return names;
}

test("the examples of all resources go up together, and show no change", async () => {
  // One program has one resource of each name, so the name of the example goes before that of the resource.
  const examples = [...examplesIn("resources")].map(([name, text]): [string, string] => [
    name,
    text.replace(/new (\w+)\("/g, (_, kind: string) => `new ${kind}("${name}-`),
  ]);
  const names = await prepare(new Map(examples));
  await stack.up();
  const ours = Object.entries(await stack.ours());
  for (const name of names) {
    const kind = `${name.charAt(0).toUpperCase()}${name.slice(1)}`;
    const created = ours.filter(
      ([label, { type }]) => label.startsWith(`${name}-`) && type.endsWith(`:${kind}`),
    );
    expect([name, created.length]).toEqual([name, expect.any(Number)]);
    expect(created).not.toEqual([]);
  }
  // The run before has checked the types.
  const unchecked = { PULUMI_NODEJS_TRANSPILE_ONLY: "true" };
  await stack.succeed(["preview", "--refresh", "--expect-no-changes"], unchecked);
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

test("the examples of all lookups find what they look for", async () => {
  await createOrganisation();
  const names = await prepare(examplesIn("lookups"));
  await stack.up();
  const { stdout } = await stack.succeed(["stack", "output", "--json"]);
  const found = JSON.parse(stdout) as Record<string, Record<string, unknown>>;
  expect(Object.keys(found).sort()).toEqual(names);
  for (const [name, outputs] of Object.entries(found)) {
    const empty = Object.entries(outputs).filter(([, value]) => isEmpty(value));
    expect([name, empty.map(([key]) => key)]).toEqual([name, []]);
  }
});
