import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { startEmulator } from "../../emulator";
import type { Emulator } from "../../emulator";
import { createOnlyOutputs } from "../../provider/fields/resourceSpec";
import { NORMALIZED } from "../../provider/fields/mergeLive";
import { specOf } from "../provider/support/samples";
import type { ReviewReport, VerifyReport } from "../../provider/access/report/report";
import { otherPlaces, samples as living } from "./support/allKinds";
import { CommandChain } from "../support/commandChain";
import { ROOT, Stack, WRITES_STATE_ONCE } from "../support/engine";
import type { Declaration, Declarations } from "../support/engine";
import { oneIn } from "../support/properties";
import { changeField, declared, surroundings, withMember } from "../support/samples";
import type { FieldCase, Sample } from "../support/samples";
import { create } from "../support/wire";

/*
 * Honest programs, by the commands of the shipped workflows: inventory, preview with a plan, review of both, the check
 * before the update, the update by the plan, and verify. Copies of each kind go through one operation each, all in the
 * same run, and nothing may be incomplete or refused.
 */

const PACK = join(ROOT, "templates", "policy-pack");

/** Without the group that can be a root alone: all stands below the one that is reviewed. */
const samples = living.filter(({ label }) => label !== "root");

/** What one sample of a copy is declared with. */
interface Edit {
  readonly name?: string;
  readonly args?: Record<string, unknown>;
  readonly options?: Record<string, unknown>;
  readonly secret?: readonly string[];
  readonly adopt?: string;
  readonly get?: string;
}

interface Operation {
  /** How the resources are declared at first; as the sample says where it is left out. */
  readonly from?: (sample: Sample, index: number) => Edit;
  /** How they are declared then; undefined where they are no longer declared. */
  readonly to: (sample: Sample, index: number) => Edit | undefined;
}

const changesAlone = ({ without, whole }: FieldCase): boolean => without === undefined && whole === undefined;

const changed = ({ fields, args }: Sample, field = fields.find(changesAlone)): Edit => ({
  args: field === undefined ? args : changeField(args, field),
});

/** In another group, or another object of its own: that replaces a resource of any kind. */
function moved({ args, label }: Sample): Record<string, unknown> {
  if (args["parentUid"] === undefined) return args;
  return withMember(
    args,
    "parentUid",
    args["parentUid"] === "${own}" ? `\${${label}-elsewhere}` : "${elsewhere}",
  );
}

/** A secret that decides about access is a finding, and `verify` cannot find it: these decide about nothing. */
const secretOf = ({ args }: Sample): readonly string[] =>
  ["name", "description"].filter((key) => key in args).slice(0, 1);

const OPTIONS: readonly Record<string, unknown>[] = [
  { protect: true },
  { retainOnDelete: true },
  { ignoreChanges: ["description", "name"] },
  { customTimeouts: { create: "5m", delete: "1h" } },
  { additionalSecretOutputs: ["createTime"] },
  { dependsOn: ["${partner}"] },
  { deleteBeforeReplace: true },
  { replaceOnChanges: ["parentUid"] },
  { aliases: [{ name: "never-used" }] },
];
const optionsOf = (_sample: Sample, index: number): Edit => ({
  options: OPTIONS[index % OPTIONS.length] ?? {},
});

/** New objects with equal arguments cannot be told apart, and a reference to one of them is refused. */
const named = (one: Declaration, name: string): Declaration => ({ ...one, args: { ...one.args, name } });

/** A token and an account cannot be taken over without an alias: each has one place at the server. */
const needsAlias = ({ kind }: Sample): boolean => kind === "ScimToken" || kind === "AccountAssociation";

/** The argument that must be a root group. */
const PLACE_OF_ROOTS: Readonly<Record<string, string>> = {
  IdentityProvider: "parentUid",
  ExternalGroupRoleMapping: "scope",
};

const asIs = (): Edit => ({});
const operations: Readonly<Record<string, Operation>> = {
  unchanged: { to: asIs },
  first: { to: (sample) => changed(sample) },
  last: { to: (sample) => changed(sample, sample.fields.findLast(changesAlone)) },
  options: { to: optionsOf },
  plain: { from: optionsOf, to: asIs },
  secret: { to: (sample) => ({ secret: secretOf(sample) }) },
  revealed: { from: (sample) => ({ secret: secretOf(sample) }), to: asIs },
  ignored: {
    from: () => ({ options: { ignoreChanges: ["*"] } }),
    to: (sample) => ({ ...changed(sample), options: { ignoreChanges: ["*"] } }),
  },
  replaced: { to: (sample) => ({ args: moved(sample) }) },
  "deleted-before": {
    to: (sample) => ({ args: moved(sample), options: { deleteBeforeReplace: true } }),
  },
  aliased: {
    to: ({ label }) => ({ name: `${label}-new`, options: { aliases: [{ name: `aliased.${label}` }] } }),
  },
  renamed: {
    to: (sample) => ({
      name: `${sample.label}-new`,
      options: needsAlias(sample) ? { aliases: [{ name: `renamed.${sample.label}` }] } : {},
    }),
  },
  moved: {
    to: ({ label, kind }) => {
      const urn = `urn:pulumi:test::test::pulumi-nodejs:dynamic/platform:${kind}::moved.${label}`;
      return { options: { parent: "component", aliases: [urn] } };
    },
  },
  read: { to: asIs },
  adopted: { to: asIs },
  deleted: { to: () => undefined },
};

/** The samples that go through an operation: each second one, the others through the next; at night all. */
const subjectsOf = (operation: string): readonly Sample[] =>
  oneIn(2, samples, Object.keys(operations).indexOf(operation));

describe("an honest program passes the commands of the workflows", () => {
  let emulator: Emulator;
  let stack: Stack;
  let chain: CommandChain;
  let root: string;

  /** The samples of a copy, each as an operation declares it, with what it has for itself alone. */
  const subjectsAs = (edit: Operation["to"], ofCopy: readonly Sample[]): Declarations[] =>
    ofCopy.map((sample) => {
      const edited = edit(sample, samples.indexOf(sample));
      const { name = sample.label, args = sample.args, ...more } = edited ?? {};
      const ownName = `${sample.label}-own`;
      const { [name]: subject, [ownName]: ownOne, ...rest } = declared(name, sample, args, ownName);
      const own = { ...rest, ...(ownOne ? { [ownName]: named(ownOne, ownName) } : {}) };
      return subject === undefined || edited === undefined
        ? own
        : { ...own, [name]: { ...subject, ...more } };
    });

  /** Those of the resources that the samples of a copy refer to, before its operation or after it. */
  function referredIn(copy: string, offered: Declarations): Declarations {
    const { from = asIs, to } = operations[copy] ?? { to: asIs };
    const needed = new Set(["org"]);
    const visit = (value: unknown): void => {
      for (const [, name = ""] of JSON.stringify(value).matchAll(/\$\{([^}]+)\}/g)) {
        if (needed.has(name)) continue;
        needed.add(name);
        visit(offered[name] ?? {});
      }
    };
    visit([from, to].map((edit) => subjectsAs(edit, subjectsOf(copy))));
    return Object.fromEntries(Object.entries(offered).filter(([name]) => needed.has(name)));
  }

  /** A copy of the samples with all that they refer to, under names that begin with that of the copy. */
  function copyOf(copy: string, edit: Operation["to"], ofCopy: readonly Sample[]): Declarations {
    const elsewhere = samples.flatMap(({ label, own }): [string, Declaration][] =>
      own ? [[`${label}-elsewhere`, named(own, `${label}-elsewhere`)]] : [],
    );
    const all: Declarations = {
      ...referredIn(copy, {
        ...surroundings,
        ...otherPlaces,
        ...Object.fromEntries(elsewhere),
      }),
      ...(Object.assign({}, ...subjectsAs(edit, ofCopy)) as Declarations),
    };
    const prefixed = JSON.parse(JSON.stringify(all).replaceAll("${", `\${${copy}.`)) as Declarations;
    return Object.fromEntries(
      Object.entries(prefixed).map(([name, one]): [string, Declaration] => {
        const { dependsOn, ...options } = one.options ?? {};
        const own =
          dependsOn === undefined ? one : { ...one, options: { ...options, dependsOn: [`${copy}.partner`] } };
        // What can stand in a root group alone stands in the one that is reviewed; all groups stand below it.
        const isTop = one.kind === "Group" && one.args["parentUid"] === undefined;
        const place = isTop ? "parentUid" : PLACE_OF_ROOTS[one.kind];
        if (place === undefined) return [`${copy}.${name}`, own];
        const given = one.args["name"];
        const ownName = typeof given === "string" ? { name: `${copy}-${given}` } : {};
        const args = { ...one.args, ...ownName, [place]: root, ...(isTop ? { kind: undefined } : {}) };
        return [`${copy}.${name}`, { ...own, args }];
      }),
    );
  }

  const program = (
    edits: Readonly<Record<string, Operation["to"]>>,
    subjects?: readonly Sample[],
  ): Declarations =>
    Object.assign(
      {},
      ...Object.entries(edits).map(([copy, edit]) => copyOf(copy, edit, subjects ?? subjectsOf(copy))),
    ) as Declarations;

  const each = (edit: (name: string, operation: Operation) => Operation["to"]) =>
    Object.fromEntries(Object.entries(operations).map(([name, one]) => [name, edit(name, one)]));

  beforeAll(async () => {
    emulator = await startEmulator();
    stack = await new Stack({ url: emulator.url, token: emulator.token, env: WRITES_STATE_ONCE }).init();
    chain = new CommandChain(emulator, stack.directory, () => stack.environment());
    root = await create(emulator, "/iam/v2/groups", { name: "acme" });
  });

  afterAll(async () => {
    stack.dispose();
    await emulator.close();
  });

  /** The commands of the deployment, one after the other; each must end with 0. */
  async function deploy(declarations: Declarations): Promise<ReviewReport> {
    stack.declare(declarations);
    const path = (name: string): string => chain.path(name);
    await chain.succeed([0], "inventory", "--root", root, "-o", `json=${path("before.json")}`);
    const { stdout } = await stack.pulumi(["preview", "--json", "--show-sames", "--save-plan", "plan.json"]);
    writeFileSync(path("preview.json"), stdout);
    const plan = ["--plan", path("plan.json")];
    const reviewWith = async (...more: string[]): Promise<ReviewReport> => {
      const reviewed = await chain.run(
        ...["review", path("preview.json"), "--inventory", path("before.json"), ...plan, ...more],
        ...["--fail-on", "never", "-o", `json=${path("review.json")}`],
      );
      const report = JSON.parse(chain.read("review.json")) as ReviewReport;
      expect({ incomplete: report.incomplete, code: reviewed.code }).toEqual({ incomplete: [], code: 0 });
      return report;
    };
    const open = await reviewWith();
    // Somebody accepts what cannot be read: names that are secrets.
    const unread = open.findings.filter(({ id }) => id === "X3");
    expect(unread.filter(({ message }) => message.includes("not known yet"))).toEqual([]);
    const entries = unread.map(
      ({ fingerprint }) => `  - { fingerprint: ${fingerprint}, reason: agreed, expires: 2099-12-31 }`,
    );
    const review =
      unread.length === 0
        ? open
        : await reviewWith("--policy", chain.write("policy.yaml", `allow:\n${entries.join("\n")}\n`));
    const digest = ["--digest", review.digest ?? ""];
    const ofStack = ["--stack", "test", "--cwd", stack.directory];
    await chain.succeed([0], "verify", path("review.json"), "--plan-only", ...plan, ...digest, ...ofStack);
    await stack.succeed(["up", "--plan", "plan.json", "--policy-pack", PACK, "--skip-preview", "--yes"], {
      PLATFORM_APPROVED_REPORT: path("review.json"),
      PLATFORM_APPROVED_DIGEST: review.digest,
    });
    const verified = await chain.run(
      ...["verify", path("review.json"), ...plan, ...digest, ...ofStack, "-o", `json=${path("verify.json")}`],
    );
    const { findings, incomplete } = JSON.parse(chain.read("verify.json")) as VerifyReport;
    const messages = findings.map(({ message }) => message);
    expect({ code: verified.code, messages, incomplete }).toEqual({ code: 0, messages: [], incomplete: [] });
    return review;
  }

  test("that creates what the others refer to", async () => {
    await deploy(
      program(
        each(() => asIs),
        [],
      ),
    );
  });

  test("that creates resources of all kinds", async () => {
    await deploy(program(each((_name, { from = asIs }) => from)));
  });

  test("that does each operation with each kind", async () => {
    const before = stack.recorded();
    // What is returned at the creation only cannot be adopted.
    const lost = subjectsOf("adopted").filter(({ kind }) => createOnlyOutputs(specOf(kind)).length === 0);
    const urns = lost.map(({ label }) => before[`adopted.${label}`]?.urn ?? "");
    stack.editState((resources) => resources.filter(({ urn }) => !urns.includes(urn)));
    const now = stack.recorded();
    const edits = each((_name, { to }) => to);
    const reads = subjectsOf("read").map(({ label, kind }): [string, Declaration] => [
      `read.${label}-read`,
      { kind, args: {}, get: before[`read.${label}`]?.id ?? "" },
    ]);
    const adopt: Operation["to"] = ({ label, args }) => {
      const name = `adopted.${label}`;
      if (now[name] !== undefined) return {};
      // The server keeps the source as a uid, and the arguments of an adoption are what it holds.
      const normalized = (before[name]?.outputs?.[NORMALIZED] ?? {}) as Record<string, string>;
      const held = Object.entries(normalized).reduce(
        (known, [path, form]) => withMember(known, path, form),
        args,
      );
      return { adopt: before[name]?.id ?? "", args: held };
    };
    await deploy({ ...program({ ...edits, adopted: adopt }), ...Object.fromEntries(reads) });
  });

  test("that takes options and secrets away, and does nothing with other resources", async () => {
    const again: Readonly<Record<string, Operation["to"]>> = { options: asIs, secret: asIs };
    await deploy(program(each((name, { to }) => again[name] ?? to)));
  });

  test("that deletes all resources", async () => {
    await deploy({});
  });
});
