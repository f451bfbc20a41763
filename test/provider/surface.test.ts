import { join } from "node:path";
import ts from "typescript";
import { startEmulator } from "../../emulator";
import type { Emulator } from "../../emulator";
import { allMethods, kindTables } from "../../emulator/tables";
import type { KindTable } from "../../emulator/tables/kindTable";
import { standardMethods } from "../../emulator/tables/methods";
import { kinds } from "../../provider/kinds";
import type { Sample } from "../support/samples";
import { changeField, declared, samples, surroundings } from "../support/samples";
import { HandlerStack } from "./support/handlerStack";
import { lookups } from "./support/lookups";
import { ProgramContext } from "./support/program";

/*
 * What of the API the package covers: each operation by the resource or lookup that uses it, each argument by the
 * test that writes it. The operations are the emulator's, which was written apart from the package.
 */

const short = (rpc: string): string => rpc.slice(rpc.lastIndexOf(".") + 1);

const nameOf = (rpc: string): string => rpc.slice(rpc.indexOf("/") + 1);

/** Who uses the standard methods of a kind: `Group.create`, or the name of the lookup that lists. */
function usersOf(table: KindTable): (readonly [rpc: string, user: string])[] {
  const uses: Readonly<Record<string, string>> = {
    [`Get${table.kind}`]: `${table.kind}.read`,
    [`Create${table.kind}`]: `${table.kind}.create`,
    [`Update${table.kind}`]: `${table.kind}.update`,
    [`Delete${table.kind}`]: `${table.kind}.delete`,
  };
  return standardMethods(table).map(({ rpc }) => {
    const name = nameOf(rpc);
    return [short(rpc), uses[name] ?? name.replace(/^List/, "get")];
  });
}

const isKind = (name: string): boolean => kinds.some(({ spec }) => spec.kind === name);

/** Who uses an operation. Looked for in what is really sent. */
const users: Readonly<Record<string, string>> = {
  ...Object.fromEntries(kindTables.filter(({ kind }) => isKind(kind)).flatMap(usersOf)),
  "GroupsService/LookupGroup": "lookupGroup",
  "GroupsService/CheckEligibility": "checkEligibility",
  "IdentitiesService/LookupIdentity": "lookupIdentity",
  "RoleBindingsService/BatchCreateRoleBindings": "GroupAccess.create",
  "IdentityProvidersService/SetScimEnabled": "IdentityProvider.update",
  "IdentityProvidersService/GenerateScimToken": "ScimToken.create",
  "IdentityProvidersService/RegenerateScimToken": "ScimToken.update",
  "IdentityProvidersService/RevokeScimToken": "ScimToken.delete",
  "AccountAssociationsService/CheckAccountAssociation": "checkAccountAssociation",
  "ReposService/GetRepoReadme": "RepoReadme.read",
  "ReposService/UpdateRepoReadme": "RepoReadme.update",
  "TagsService/CreateTag": "Tag.update",
  "ImagesService/GetArchitectures": "getImageArchitectures",
  "ImagesService/GetSize": "getImageSize",
  "TermsService/AcceptTerms": "TermsAcceptance.create",
  "TermsService/ListTermsAcceptances": "getTermsAcceptances",
  "ArtifactsService/ListArtifacts": "getArtifacts",
  "ArtifactsService/ListArtifactVersions": "getArtifactVersions",
  "ArtifactsService/CountArtifacts": "getArtifactCount",
  "AdvisoriesService/ListAdvisories": "getAdvisories",
  "AdvisoriesService/GetAdvisory": "getAdvisory",
  "SecurityAdvisoryService/ListDocuments": "getAdvisoryDocuments",
  "SecurityAdvisoryService/ListVulnerabilityMetadata": "getVulnerabilityMetadata",
  "PingService/Ping": "ping",
};

/** What a program has no use for, and why. */
const unused: Readonly<Record<string, string>> = {
  "GroupsService/RequestGroupAccess":
    "asks people for something, once: no state to declare, refused the second time",
  "IdentitiesService/UpdateIdentityMetadata":
    "the profile of whoever runs the program, not of the organisation",
  "ExternalGroupRoleMappingsService/BatchDeleteExternalGroupRoleMappings":
    "the engine deletes resources one by one",
  "SecurityAdvisoryService/ListResolvedVulnsReports": "its required argument fits no query",
  "SecurityTokenService/Exchange": "not a program's: the client gets its token there",
  "SecurityTokenService/ExchangeRefreshToken": "not a program's: the client gets its token there",
};

describe("the operations of the API", () => {
  const context = new ProgramContext().install();
  const sent = new Map<string, Set<string>>();
  let emulator: Emulator;
  let stack: HandlerStack;

  /** What a use sends counts, whatever comes of it. */
  async function recorded(user: string, use: () => Promise<unknown>): Promise<void> {
    emulator.clearRequests();
    await use().catch(() => undefined);
    const rpcs = emulator.requests.flatMap(({ rpc }) => (rpc === undefined ? [] : [short(rpc)]));
    sent.set(user, new Set([...(sent.get(user) ?? []), ...rpcs]));
  }

  async function useOf(sample: Sample): Promise<void> {
    const { label, kind, fields, updates = [] } = sample;
    const handlers = stack.handlersOf(kind);
    await recorded(`${kind}.create`, () => stack.make(label));
    const { id, inputs, outs } = await stack.make(label);
    await recorded(`${kind}.read`, () => handlers.read(id, outs));
    const [field] = fields;
    const news = await stack.resolved({ ...(field ? changeField(inputs, field) : inputs), ...updates[0] });
    await recorded(`${kind}.update`, () => handlers.update(id, outs, news));
    await recorded(`${kind}.delete`, () => stack.delete(label));
  }

  beforeAll(async () => {
    emulator = await startEmulator();
    const all = samples.flatMap((sample) => Object.entries(declared(sample.label, sample, sample.args)));
    stack = new HandlerStack(emulator, { ...surroundings, ...Object.fromEntries(all) });
    for (const sample of samples) await useOf(sample);
    context.configure({ "platform:baseUrl": emulator.url, "platform:token": emulator.token });
    for (const { call, always, cases } of lookups) {
      const args = { ...always?.[0], ...cases[0]?.[0] };
      await recorded(call.name, () => call(args as never));
    }
  });
  afterAll(() => emulator.close());

  test("are each used, or listed with the reason why not", () => {
    const all = [...new Set(allMethods.map(({ rpc }) => short(rpc)))];
    expect([...Object.keys(users), ...Object.keys(unused)].sort()).toEqual(all.sort());
  });

  test.each(Object.entries(users))("%s is used by %s", (rpc, user) => {
    expect([...(sent.get(user) ?? [])]).toContain(rpc);
  });

  test("that are left out are sent by no kind", () => {
    const all = new Set([...sent.values()].flatMap((rpcs) => [...rpcs]));
    expect(Object.keys(unused).filter((rpc) => all.has(rpc))).toEqual([]);
  });
});

describe("what the package exports", () => {
  const index = join(__dirname, "../../provider/index.ts");
  const program = ts.createProgram([index], {
    target: ts.ScriptTarget.ES2022,
    module: ts.ModuleKind.Node20,
    strict: true,
    skipLibCheck: true,
    types: ["node"],
  });
  const checker = program.getTypeChecker();
  const source = program.getSourceFile(index)!;
  const resolvedOf = (symbol: ts.Symbol) =>
    symbol.flags & ts.SymbolFlags.Alias ? checker.getAliasedSymbol(symbol) : symbol;
  const all = checker
    .getExportsOfModule(checker.getSymbolAtLocation(source)!)
    .map((symbol) => ({ name: symbol.name, symbol: resolvedOf(symbol) }));
  const isDocumented = (symbol: ts.Symbol) => symbol.getDocumentationComment(checker).length > 0;

  test("says what it is, member by member, where the program's editor shows it", () => {
    const silent = all.flatMap(({ name, symbol }) => {
      if (symbol.flags & ts.SymbolFlags.Variable) return isDocumented(symbol) ? [] : [name];
      if (!(symbol.flags & (ts.SymbolFlags.Interface | ts.SymbolFlags.Class))) return [];
      const members = checker
        .getPropertiesOfType(checker.getDeclaredTypeOfSymbol(symbol))
        .filter((member) =>
          member.declarations?.every((each) => !each.getSourceFile().fileName.includes("node_modules")),
        );
      expect(members.length).toBeGreaterThan(0);
      return [symbol, ...members]
        .filter((each) => !isDocumented(each))
        .map((each) => (each === symbol ? name : `${name}.${each.name}`));
    });
    expect(silent).toEqual([]);
    expect(all.length).toBeGreaterThan(150);
  });
});
