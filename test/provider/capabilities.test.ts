import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { startEmulator } from "../../emulator";
import type { Emulator } from "../../emulator";
import { capabilities } from "../../examples/least-privilege/capabilities";
import { main as adopt } from "../../provider/cli/commands/adopt/adopt";
import { main as drift } from "../../provider/cli/commands/drift";
import { main as inventory } from "../../provider/cli/commands/inventory";
import type { NeededCapabilities, ResourceSpec } from "../../provider/fields/resourceSpec";
import type { Props } from "../../provider/fields/values";
import * as platform from "../../provider/index";
import { exportText } from "../../scripts/lib/documents.cjs";
import { upperFirst } from "../../scripts/lib/letterCase.cjs";
import { named } from "../support/driftDocuments";
import { ROOT } from "../support/engine";
import type { Declaration, Declarations } from "../support/engine";
import { temporaryFolder } from "../support/folders";
import { RestrictedCaller } from "../support/leastPrivilege";
import { spreadOf } from "../support/properties";
import { declared, samples, surroundings, withMember } from "../support/samples";
import type { Sample } from "../support/samples";
import { call } from "../support/wire";
import { runCommand } from "./cli/support";
import { HandlerStack } from "./support/handlerStack";
import { ProgramContext } from "./support/program";
import { specs } from "./support/samples";

/*
 * Each operation of each kind, each lookup and each command that reads an organisation, as a caller that holds one role: with
 * exactly the capabilities that descriptions and pages name, and with one less.
 */

const rootOf = (uid: unknown): string => (typeof uid === "string" ? (uid.split("/")[0] ?? "") : "");

const sampleOf = (kind: string): Sample => {
  const found = samples.find((sample) => sample.kind === kind);
  if (!found) throw new Error(`no sample of ${kind}`);
  return found;
};

/** A change of a field that stays in place. */
function changed(sample: Sample): Record<string, unknown> | undefined {
  const [field] = sample.fields.filter(({ without }) => without === undefined);
  if (field) return withMember(sample.args, field.property ?? field.path, field.to);
  if (sample.kind === "ScimToken") return { ...sample.args, rotate: "two" };
  return undefined;
}

/** A sample of each kind, with what it refers to. */
function sampleDeclarations(): Declarations {
  const copies = specs.map(({ kind }) => sampleOf(kind)).map((each) => declared(each.label, each, each.args));
  return { ...surroundings, ...Object.fromEntries(copies.flatMap(Object.entries<Declaration>)) };
}

/** Runs one operation of a life. */
type RunOperation = <T>(operation: keyof NeededCapabilities, run: () => Promise<T>) => Promise<T>;

/** An organisation with what samples refer to, created by the emulator's own token, and a caller with one role there. */
class RestrictedOrganisation {
  private constructor(
    private readonly emulator: Emulator,
    readonly stack: HandlerStack,
    readonly caller: RestrictedCaller,
    readonly org: string,
  ) {}

  static async create(emulator: Emulator): Promise<RestrictedOrganisation> {
    emulator.reset();
    const stack = new HandlerStack(emulator, sampleDeclarations());
    const org = (await stack.make("org")).id;
    const caller = await RestrictedCaller.below(emulator, org);
    return new RestrictedOrganisation(emulator, stack, caller, org);
  }

  /** Creates what a sample refers to; the life itself is all the caller's. */
  async prepare(spec: ResourceSpec): Promise<(around: RunOperation) => Promise<void>> {
    const sample = sampleOf(spec.kind);
    const inputs = await this.resolve(sample, sample.args);
    await this.caller.bind(rootOf(inputs["parentUid"]));
    const change = changed(sample);
    const changedInputs = change && (await this.resolve(sample, change));
    return spec.kind === "GroupAccess"
      ? this.life(spec, ...this.ownBindings(inputs))
      : this.life(spec, inputs, changedInputs);
  }

  /** An update of an existing sample by the caller, which sets these members. */
  async prepareUpdate(spec: ResourceSpec, members: Props) {
    const { id, inputs, outs } = await this.stack.make(sampleOf(spec.kind).label);
    await this.caller.bind(rootOf(id));
    await this.bindOwners(rootOf(id));
    const handlers = this.handlersOf(spec);
    return () => handlers.update(id, outs, { ...inputs, ...members });
  }

  /** Runs an operation without each of its capabilities in turn, which is refused, and then with all of them. */
  async withExactly<T>(needed: readonly string[], run: () => Promise<T>): Promise<T> {
    for (const left of needed) {
      await this.caller.holds(needed.filter((each) => each !== left));
      expect(`without ${left} it ${await outcomeOf(run())}`).toBe(`without ${left} it is refused`);
    }
    await this.caller.holds(needed);
    return run();
  }

  /** Gives two identities the role `owner`, which the server wants before people are provisioned. */
  private async bindOwners(group: string): Promise<void> {
    const { roles } = await call(this.emulator, "GET", "/iam/v2/roles?name=owner");
    const [{ uid: roleUid } = {}] = roles as readonly { readonly uid?: string }[];
    for (const label of ["someone", "other"]) {
      const { id: identityUid } = await this.stack.make(label);
      await call(this.emulator, "POST", `/iam/v2/roleBindings/${group}`, { identityUid, roleUid });
    }
  }

  private resolve(sample: Sample, args: Record<string, unknown>): Promise<Props> {
    return this.stack.resolved(declared(sample.label, sample, args)[sample.label]?.args ?? {});
  }

  private handlersOf({ kind }: ResourceSpec) {
    return new HandlerStack({ url: this.emulator.url, token: this.caller.token }, {}).handlersOf(kind);
  }

  private life(spec: ResourceSpec, inputs: Props, changedInputs: Props | undefined) {
    const handlers = this.handlersOf(spec);
    return async (around: RunOperation): Promise<void> => {
      const { id, outs } = await around("create", () => handlers.create(inputs));
      let recorded = outs;
      if (changedInputs) {
        recorded = await around("update", () => handlers.update(id, outs, changedInputs));
      }
      await around("delete", () => handlers.delete(id, recorded));
      // A group without bindings is read too, to tell it from a missing one.
      await around("read", () => handlers.read(id, recorded));
    };
  }

  /** A GroupAccess that removes bindings of the caller, who must not lose its last role, and creates another one. */
  private ownBindings(inputs: Props): [Props, Props] {
    const bindings = inputs["bindings"] as Record<string, { identityUid: string; roleUid: string }>;
    const [read, write] = Object.values(bindings).map(({ roleUid }) => ({
      identityUid: this.caller.identity,
      roleUid,
    }));
    return [
      { ...inputs, bindings: { read } },
      { ...inputs, bindings: { write } },
    ];
  }
}

const errorText = (error: unknown): string => (error instanceof Error ? error.message : String(error));

/** How an operation ended for a caller that may lack a capability. */
async function outcomeOf(running: Promise<unknown>): Promise<string> {
  return running.then(
    () => "is allowed",
    (error: unknown) =>
      /PERMISSION_DENIED|CAP_[A-Z_]+ is needed/.test(errorText(error)) ? "is refused" : errorText(error),
  );
}

const context = new ProgramContext().install();
let emulator: Emulator;
let organisation: RestrictedOrganisation;

beforeAll(async () => {
  emulator = await startEmulator();
});
afterAll(() => emulator.close());

/** The lookups with the capabilities that their pages name. */
function lookupsOfPages(): [lookup: string, needed: readonly string[]][] {
  const folder = join(ROOT, "docs/reference/lookups");
  return readdirSync(folder).flatMap((file) => {
    const sections = readFileSync(join(folder, file), "utf8").split(/^## /m);
    return sections.flatMap((section): [string, readonly string[]][] => {
      const sentence = /\bNeeds (?:no capability|((?:`CAP_[A-Z_]+`(?: and )?)+))\. /.exec(section);
      const [name = ""] = section.split("\n");
      return sentence ? [[name, sentence[1]?.match(/CAP_[A-Z_]+/g) ?? []]] : [];
    });
  });
}

/** The sample of a kind, which stands behind what it refers to. */
function labelOf(kind: string): string {
  const found = Object.entries(sampleDeclarations()).findLast(([, each]) => each.kind === kind);
  if (!found) throw new Error(`no sample of ${kind}`);
  return found[0];
}

/** The arguments of the two lookups that each kind has. */
async function argumentsOfKind({ kind, collection }: ResourceSpec): Promise<[string, object][]> {
  const { id } = await organisation.stack.make(labelOf(kind));
  await organisation.caller.bind(id.split("/")[0] ?? "");
  const list = upperFirst(collection.slice(collection.lastIndexOf("/") + 1));
  return [
    [`get${kind}`, { uid: id }],
    [`get${list}`, { uids: [id] }],
  ];
}

/** The arguments of the others, which have no kind or take another part of one. */
async function furtherArguments(): Promise<Record<string, object>> {
  const { org, stack } = organisation;
  const { id: association } = await stack.make(labelOf("AccountAssociation"));
  const { inputs } = await stack.make(labelOf("Tag"));
  const ecosystems = ["ECOSYSTEM_JAVA"];
  context.configure({ "platform:baseUrl": emulator.url, "platform:token": emulator.token });
  const [advisory] = await platform.getAdvisories({ limit: 1 });
  const [artifact] = await platform.getArtifacts({ ecosystems, limit: 1 });
  return {
    getAdvisories: {},
    getAdvisory: { uid: advisory?.uid },
    getArtifacts: { ecosystems },
    getArtifactCount: { ecosystems },
    getArtifactVersions: { artifactUid: artifact?.uid },
    getAdvisoryDocuments: {},
    getVulnerabilityMetadata: { ids: ["CVE-2026-0001"] },
    getImageArchitectures: { repoUid: inputs["parentUid"], digest: inputs["digest"] },
    getImageSize: { repoUid: inputs["parentUid"], digest: inputs["digest"] },
    getRepoReadme: { repoUid: inputs["parentUid"] },
    getTermsAcceptances: { groupUid: org },
    checkAccountAssociation: { uid: association, provider: "ACCOUNT_PROVIDER_TYPE_AMAZON" },
    checkEligibility: {},
    lookupGroup: {},
    lookupIdentity: { issuer: "https://issuer.example.com", subject: "someone" },
    ping: {},
  };
}

/** A part of another resource has a lookup of its own kind. */
const hasLookups = ({ kind, listing }: ResourceSpec): boolean =>
  `get${kind}` in platform && listing?.singletonOf === undefined;

const lookups = lookupsOfPages();

/** What else an allowed caller is told: its token has no e-mail address. */
const outcomes: Readonly<Record<string, RegExp>> = { lookupGroup: /there is no group for the e-mail domain/ };

describe("a lookup", () => {
  let argumentsOf: Readonly<Record<string, object>>;

  beforeAll(async () => {
    organisation = await RestrictedOrganisation.create(emulator);
    const ofKinds = [];
    for (const spec of specs.filter(hasLookups)) {
      ofKinds.push(...(await argumentsOfKind(spec)));
    }
    argumentsOf = { ...Object.fromEntries(ofKinds), ...(await furtherArguments()) };
  });

  test("the pages name what each lookup needs", () => {
    const functions = Object.keys(platform).filter((name) => `${name}Output` in platform);
    expect(lookups.map(([name]) => name).sort()).toEqual(functions.sort());
  });

  test.each(lookups)("%s needs what its page names, and no more", async (name, needed) => {
    const { [name]: lookup } = platform as unknown as Record<string, (args: object) => Promise<unknown>>;
    const args = argumentsOf[name];
    expect([name, args]).toEqual([name, expect.any(Object)]);
    context.configure({ "platform:baseUrl": emulator.url, "platform:token": organisation.caller.token });
    const { [name]: expected = /^is allowed$/ } = outcomes;
    const run = () => (lookup as NonNullable<typeof lookup>)(args ?? {});
    expect(await outcomeOf(organisation.withExactly(needed, run))).toMatch(expected);
  });
});

describe("with an organisation of its own", () => {
  beforeEach(async () => {
    organisation = await RestrictedOrganisation.create(emulator);
  });
  test.each(specs.map((spec) => [spec.kind, spec] as const))(
    "%s needs the capabilities that its description names, and no others",
    async (_kind, spec) => {
      const life = await organisation.prepare(spec);
      await life((operation, run) => organisation.withExactly(spec.capabilities?.[operation] ?? [], run));
    },
  );

  /** The fields whose setting needs capabilities besides those of their kind. */
  const fieldsWithCapabilities = specs.flatMap((spec) =>
    Object.entries(spec.fields).flatMap(([key, { type, capabilities }]) =>
      capabilities === undefined ? [] : [[`${spec.kind}.${key}`, { spec, key, type, capabilities }] as const],
    ),
  );

  test("the fields with capabilities of their own are switches, which the next test turns on", () => {
    expect(fieldsWithCapabilities.map(([name, { type }]) => [name, type])).toEqual([
      ["IdentityProvider.scimEnabled", "boolean"],
    ]);
  });

  test.each(fieldsWithCapabilities)(
    "a change of %s needs the capabilities that the field names, and no others",
    async (_name, { spec, key, capabilities }) => {
      const update = await organisation.prepareUpdate(spec, { [key]: true });
      expect(await organisation.withExactly(capabilities, update)).toMatchObject({ [key]: true });
    },
  );

  const folder = temporaryFolder();

  async function run(main: typeof drift, argv: readonly string[]): Promise<number> {
    const env = { PLATFORM_BASE_URL: emulator.url, PLATFORM_TOKEN: organisation.caller.token };
    return (await runCommand(main, argv, { ...env, PLATFORM_MAX_RETRIES: "0" })).code;
  }

  /** A state of one resource of each kind that exists below the organisation. */
  async function writeState(): Promise<string> {
    const objects = [];
    for (const [label, { kind }] of Object.entries(sampleDeclarations())) {
      const { id, inputs } = await organisation.stack.make(label);
      if (kind !== "GroupAccess") objects.push(named({ kind, uid: id, inputs }));
    }
    const file = join(folder, "state.json");
    writeFileSync(file, exportText(objects));
    return file;
  }

  const [COMPLETE, INCOMPLETE] = [0, 4];

  async function holdsExactly(needed: readonly string[], job: () => Promise<number>): Promise<void> {
    for (const left of spreadOf(needed, 2, 0)) {
      await organisation.caller.holds(needed.filter((each) => each !== left));
      expect([left, await job()]).toEqual([left, INCOMPLETE]);
    }
    await organisation.caller.holds(needed);
    expect(await job()).toBe(COMPLETE);
  }

  // A list is refused to a caller who may list nowhere; whoever may list in a group below gets what is there.
  const elsewhere = ["nowhere else", "in a group below"];

  test.each(elsewhere)(
    "inventory and adopt need the capabilities of the role review, held %s",
    async (where) => {
      await writeState();
      const { org, caller } = organisation;
      if (where !== "nowhere else") await caller.holdsBelow(org, capabilities.review);
      await holdsExactly(capabilities.review, () => run(inventory, ["--root", org]));
      const out = ["--out", join(folder, "program"), "--force"];
      await holdsExactly(capabilities.review, () => run(adopt, ["--root", org, ...out]));
    },
  );

  test.each(spreadOf(elsewhere, 1, 1))(
    "drift needs the capabilities of the role drift, held %s",
    async (where) => {
      const { org, caller } = organisation;
      if (where !== "nowhere else") await caller.holdsBelow(org, capabilities.drift);
      const argv = ["--state", await writeState(), "--root", org, "--fail-on", "never"];
      await holdsExactly(capabilities.drift, () => run(drift, argv));
    },
  );
});
