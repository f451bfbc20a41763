import { join } from "node:path";
import ts from "typescript";
import { startEmulator } from "../../emulator";
import type { Emulator } from "../../emulator";
import { allMethods } from "../../emulator/tables";
import type { Sample } from "../support/samples";
import { changeField, declared, samples, surroundings } from "../support/samples";
import { HandlerStack } from "./support/handlerStack";
import { lookups } from "./support/lookups";
import { ProgramContext } from "./support/program";

/*
 * What of the API the package covers. The operations are the emulator's, which was written apart from the package.
 */

const short = (rpc: string): string => rpc.slice(rpc.lastIndexOf(".") + 1);

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
  let emulator: Emulator;
  let stack: HandlerStack;

  /** What a use sends counts, whatever comes of it. */
  const tried = (use: () => Promise<unknown>) => use().catch(() => undefined);

  async function useOf(sample: Sample): Promise<void> {
    const { label, kind, fields, updates = [] } = sample;
    const handlers = stack.handlersOf(kind);
    await tried(() => stack.make(label));
    const { id, inputs, outs } = await stack.make(label);
    await tried(() => handlers.read(id, outs));
    const [field] = fields;
    const news = await stack.resolved({ ...(field ? changeField(inputs, field) : inputs), ...updates[0] });
    await tried(() => handlers.update(id, outs, news));
    await tried(() => stack.delete(label));
  }

  beforeAll(async () => {
    emulator = await startEmulator();
    const all = samples.flatMap((sample) => Object.entries(declared(sample.label, sample, sample.args)));
    stack = new HandlerStack(emulator, { ...surroundings, ...Object.fromEntries(all) });
    for (const sample of samples) await useOf(sample);
    context.configure({ "platform:baseUrl": emulator.url, "platform:token": emulator.token });
    for (const { call, always, cases } of lookups) {
      const args = { ...always?.[0], ...cases[0]?.[0] };
      await tried(() => call(args as never));
    }
  });
  afterAll(() => emulator.close());

  test("are each used, or listed with the reason why not", () => {
    const sent = new Set(emulator.requests.flatMap(({ rpc }) => (rpc === undefined ? [] : [short(rpc)])));
    const all = new Set(allMethods.map(({ rpc }) => short(rpc)));
    expect([...all].filter((rpc) => !sent.has(rpc)).sort()).toEqual(Object.keys(unused).sort());
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
