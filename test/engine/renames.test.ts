import { startEmulator } from "../../emulator";
import type { Emulator } from "../../emulator";
import { kindTables } from "../../emulator/tables";
import type { Props } from "../../provider/fields/values";
import { HandlerStack } from "../provider/support/handlerStack";
import { addresses } from "../support/byHand";
import { revealed, Stack, WRITES_STATE_ONCE } from "../support/engine";
import type { Declaration, Declarations } from "../support/engine";
import { changeField, declared, samples, surroundings } from "../support/samples";
import type { Sample } from "../support/samples";
import { call } from "../support/wire";

/** Where the server keeps the objects of a kind; a readme, a token and an acceptance are parts of another object. */
const COLLECTIONS = Object.fromEntries(
  kindTables.flatMap(({ kind, collection }) => (kind in addresses ? [[kind, collection] as const] : [])),
);

/** Kinds of which a parent has one at most, and that a new resource does not take over: they need an alias. */
const isRefused = ({ kind }: Sample, isEdited: boolean): boolean =>
  kind === "ScimToken" || (kind === "AccountAssociation" && isEdited);

/** What a refresh and a preview after it would find: for each resource, the handlers read it and compare it with its inputs. */
async function changesOf(emulator: Emulator, stack: Stack): Promise<string[]> {
  const handlers = new HandlerStack(emulator, {});
  const found = Object.entries(await stack.ours()).map(async ([name, { type, id = "", ...recorded }]) => {
    const of = handlers.handlersOf(type.slice(type.lastIndexOf(":") + 1));
    const { props } = await of.read(id, revealed(recorded.outputs) as Props);
    if (props === undefined) return [`${name} is gone`];
    const { changes } = of.diff(props, revealed(recorded.inputs) as Props, id);
    return changes === false ? [] : [`${name} changes`];
  });
  return (await Promise.all(found)).flat();
}

/** The server holds what the state names, nothing besides, and all of it as the program declares it. */
async function expectDeclared(emulator: Emulator, stack: Stack): Promise<void> {
  const ours = Object.values(stack.recorded());
  const server = emulator.state();
  const ofKind = (kind: string) => ours.filter(({ type }) => type.endsWith(`:${kind}`));
  for (const [kind, collection] of Object.entries(COLLECTIONS)) {
    const ids = ofKind(kind).map(({ id }) => id);
    const grants = ofKind("GroupAccess").map(({ inputs }) => Object.keys(inputs?.["bindings"] ?? {}).length);
    const besides = kind === "RoleBinding" ? grants.reduce((sum, count) => sum + count, 0) : 0;
    const found = (server[collection] ?? []).map(({ uid }) => uid);
    expect([collection, found.length]).toEqual([collection, ids.length + besides]);
    expect(found).toEqual(expect.arrayContaining(ids));
  }
  expect(await changesOf(emulator, stack)).toEqual([]);
}

/** The same as the engine says it, which takes two seconds of processor time. */
const expectNoChanges = (stack: Stack) => stack.succeed(["preview", "--refresh", "--expect-no-changes"]);

describe("objects that a program still declares are kept when their resource is renamed", () => {
  let emulator: Emulator;
  let stack: Stack;
  /** The name in the program of each sample. */
  let names: Record<string, string>;
  /** Whether each sample has its first field changed now. */
  let areEdited = false;

  const urns = (): Record<string, string> =>
    Object.fromEntries(Object.entries(stack.recorded()).map(([name, { urn }]) => [name, urn]));

  /** The program with each sample under a name and with options; `isEdited` changes its first field. */
  const program = (
    name: (label: string) => string,
    optionsOf: (sample: Sample, label: string) => Declaration["options"],
    isEdited = false,
  ): Declarations => {
    const copies = samples.flatMap((sample) => {
      const { label, fields } = sample;
      const [field] = fields;
      const args = isEdited && field ? changeField(sample.args, field) : sample.args;
      const { [name(label)]: subject, ...own } = declared(name(label), sample, args, `${label}-own`);
      return subject
        ? [{ own, subject: { [name(label)]: { ...subject, options: optionsOf(sample, label) } } }]
        : [];
    });
    return {
      ...surroundings,
      ...Object.assign({}, ...copies.map(({ own }) => own)),
      ...Object.assign({}, ...copies.map(({ subject }) => subject)),
    } as Declarations;
  };

  /** Declares all samples with a suffix at their names. */
  const declareAs = (
    suffix: string,
    options: Declaration["options"] | Parameters<typeof program>[1] = {},
    isEdited = false,
  ) => {
    const optionsOf = typeof options === "function" ? options : () => options;
    stack.declare(program((label) => `${label}${suffix}`, optionsOf, isEdited));
    names = Object.fromEntries(samples.map(({ label }) => [label, `${label}${suffix}`]));
  };

  /** A rename without an alias, but for what cannot be taken over. */
  const rename = (suffix: string, options: Declaration["options"] = {}, isEdited = false) => {
    const before = urns();
    const old = names;
    const aliased = (sample: Sample, label: string) =>
      isRefused(sample, isEdited !== areEdited)
        ? { ...options, aliases: [before[old[label] ?? ""]] }
        : options;
    declareAs(suffix, aliased, isEdited);
    areEdited = isEdited;
  };

  const subjects = (): string[] => {
    const all = urns();
    return Object.values(names).map((name) => all[name] ?? name);
  };
  const flags = (flag: string, values: readonly string[]) => values.flatMap((value) => [flag, value]);

  beforeAll(async () => {
    emulator = await startEmulator();
    stack = await new Stack({ url: emulator.url, token: emulator.token, env: WRITES_STATE_ONCE }).init();
    declareAs("");
    await stack.up();
    await expectDeclared(emulator, stack);
  });

  afterAll(async () => {
    await emulator.close();
    stack.dispose();
  });

  const edits: Readonly<Record<string, () => Promise<void>>> = {
    "moved into a component": async () => {
      rename("-renamed", { parent: "component" });
      await stack.up();
    },
    "renamed and edited at once": async () => {
      rename("-edited", {}, true);
      await stack.up();
    },
    "renamed with an alias": async () => {
      const before = urns();
      const old = names;
      declareAs("-alias", (_sample, label) => ({ aliases: [before[old[label] ?? ""]] }), true);
      await stack.up();
    },
    "replaced by --replace": async () => {
      await stack.up(...flags("--replace", subjects()));
    },
    "deleted before it is replaced": async () => {
      declareAs("-alias", { deleteBeforeReplace: true });
      await stack.up(...flags("--replace", subjects()));
    },
    "replaced by replaceOnChanges, deleted before": async () => {
      declareAs("-alias", { replaceOnChanges: ["*"], deleteBeforeReplace: true }, true);
      await stack.up();
    },
    "renamed in a run that ended before the deletes, and in the next run": async () => {
      const before = urns();
      rename("-late", {}, true);
      const type = (urn: string) => urn.slice(0, urn.lastIndexOf("::") + 2);
      const targets = samples.map(({ label }) => `${type(before[`${label}-alias`] ?? "")}${label}-late`);
      await stack.up(...flags("--target", targets));
      expect(Object.keys(urns())).toEqual(expect.arrayContaining(["tag-late", "tag-alias"]));
      await stack.up();
    },
  };

  test.each(Object.entries(edits))("%s", async (_name, edit) => {
    await edit();
    await expectDeclared(emulator, stack);
  });

  test("a token that is renamed without an alias is refused, and nothing is changed", async () => {
    const before = structuredClone(emulator.state());
    stack.declare(
      program(
        (label) => (label === "scim" ? "scim-anew" : `${label}-late`),
        () => ({}),
        true,
      ),
    );
    const run = await stack.pulumi(["up", "--yes", "--skip-preview"]);
    expect(run.code).not.toBe(0);
    expect(run.output.replace(/\s+/g, " ")).toContain("aliases");
    expect(emulator.state()).toEqual(before);
    declareAs("-late", {}, true);
    await expectDeclared(emulator, stack);
    await expectNoChanges(stack);
  });

  test("destroy deletes all of them", async () => {
    await stack.succeed(["destroy", "--yes", "--skip-preview"]);
    const rest = Object.values(COLLECTIONS).flatMap((collection) => emulator.state()[collection] ?? []);
    expect(rest).toEqual([]);
  });
});

test("two resources of each kind exchange their names", async () => {
  const emulator = await startEmulator();
  const stack = await new Stack({ url: emulator.url, token: emulator.token, env: WRITES_STATE_ONCE }).init();
  try {
    const swapped = samples.filter((sample) => !isRefused(sample, true));
    const program = (nameOf: (label: string, copy: string) => string): Declarations => {
      const copies = swapped.flatMap((sample) =>
        ["one", "two"].map((copy) => {
          const name = nameOf(sample.label, copy);
          const [field] = sample.fields;
          const args = copy === "two" && field ? changeField(sample.args, field) : sample.args;
          const { [name]: subject, ...own } = declared(name, sample, args, `${sample.label}-own-${copy}`);
          return { own, subject: { [name]: subject } };
        }),
      );
      return {
        ...surroundings,
        ...Object.assign({}, ...copies.map(({ own }) => own)),
        ...Object.assign({}, ...copies.map(({ subject }) => subject)),
      } as Declarations;
    };
    stack.declare(program((label, copy) => `${label}-${copy}`));
    await stack.up();
    await expectDeclared(emulator, stack);
    stack.declare(program((label, copy) => `${label}-${copy === "one" ? "two" : "one"}`));
    await stack.up();
    await expectDeclared(emulator, stack);
    await expectNoChanges(stack);
    const path = `/iam/v2/roles/${stack.ids()["role-one"] ?? ""}`;
    await call(emulator, "PATCH", `${path}?updateMask=capabilities`, { capabilities: ["CAP_TAG_LIST"] });
    expect(await changesOf(emulator, stack)).toEqual(["role-one changes"]);
    await stack.succeed(["destroy", "--yes", "--skip-preview"]);
    expect(Object.values(COLLECTIONS).flatMap((collection) => emulator.state()[collection] ?? [])).toEqual(
      [],
    );
  } finally {
    await emulator.close();
    stack.dispose();
  }
});
