import { cpSync, readdirSync, readFileSync } from "node:fs";
import { basename, join } from "node:path";
import { startEmulator } from "../../emulator";
import type { Emulator } from "../../emulator";
import { ROOT, Stack } from "../support/engine";
import { call } from "../support/wire";

/* The examples of docs/reference, as they are shown: those of all resources run in one program, and those of all lookups. */

const EXAMPLES = join(ROOT, "examples/reference");
const namesIn = (folder: string): string[] =>
  readdirSync(join(EXAMPLES, folder))
    .map((file) => basename(file, ".ts"))
    .sort();

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

/** A program that runs all examples of a folder; its outputs are theirs, by the name of the example. */
async function prepare(folder: string, change: (text: string, name: string) => string): Promise<string[]> {
  const names = namesIn(folder);
  cpSync(join(EXAMPLES, "tsconfig.json"), join(stack.directory, "tsconfig.json"));
  stack.files({
    "Pulumi.yaml": "name: reference\nruntime: nodejs\n",
    "package.json": '{ "name": "reference", "main": "index.ts" }\n',
    "index.ts": names.map((name) => `export * as ${name} from "./${name}";\n`).join(""),
    ...Object.fromEntries(
      names.map((name) => [
        `${name}.ts`,
        change(readFileSync(join(EXAMPLES, folder, `${name}.ts`), "utf8"), name),
      ]),
    ),
  });
  await stack.init();
  return names;
}

test("the examples of all resources go up together, and show no change", async () => {
  // One program has one resource of each name, so the name of the example goes before that of the resource.
  const names = await prepare("resources", (text, name) =>
    text.replace(/new (\w+)\("/g, (_, kind: string) => `new ${kind}("${name}-`),
  );
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
  await create("/events/v2/subscriptions", acme, { sink: "https://audit.example.com" });
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
}

const isEmpty = (value: unknown): boolean =>
  value === undefined || value === null || value === "" || (Array.isArray(value) && value.length === 0);

test("the examples of all lookups find what they look for", async () => {
  await createOrganisation();
  const names = await prepare("lookups", (text) => text);
  await stack.up();
  const { stdout } = await stack.succeed(["stack", "output", "--json"]);
  const found = JSON.parse(stdout) as Record<string, Record<string, unknown>>;
  expect(Object.keys(found).sort()).toEqual(names);
  for (const [name, outputs] of Object.entries(found)) {
    const empty = Object.entries(outputs).filter(([, value]) => isEmpty(value));
    expect([name, empty.map(([key]) => key)]).toEqual([name, []]);
  }
});
