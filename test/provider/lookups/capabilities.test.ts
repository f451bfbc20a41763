import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { startEmulator } from "../../../emulator";
import type { Emulator } from "../../../emulator";
import type { ResourceSpec } from "../../../provider/fields/resourceSpec";
import * as platform from "../../../provider/index";
import { ROOT } from "../../support/engine";
import { outcomeOf, RestrictedOrganisation, sampleDeclarations } from "../support/kindLife";
import { ProgramContext } from "../support/program";
import { specs } from "../support/samples";
import { upperFirst } from "../../../scripts/lib/letterCase.cjs";

/* Each lookup, with exactly the capabilities that its page names, and with one less. */

const context = new ProgramContext().install();
let emulator: Emulator;
let organisation: RestrictedOrganisation;
let argumentsOf: Readonly<Record<string, object>>;

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

beforeAll(async () => {
  emulator = await startEmulator();
  organisation = await RestrictedOrganisation.create(emulator);
  const ofKinds = [];
  for (const spec of specs.filter(hasLookups)) {
    ofKinds.push(...(await argumentsOfKind(spec)));
  }
  argumentsOf = { ...Object.fromEntries(ofKinds), ...(await furtherArguments()) };
});
afterAll(() => emulator.close());

/** A part of another resource has a lookup of its own kind. */
const hasLookups = ({ kind, listing }: ResourceSpec): boolean =>
  `get${kind}` in platform && listing?.singletonOf === undefined;

const lookups = lookupsOfPages();

/** What else an allowed caller is told: its token has no e-mail address. */
const outcomes: Readonly<Record<string, RegExp>> = { lookupGroup: /there is no group for the e-mail domain/ };

test("the pages name what each lookup needs", () => {
  const functions = Object.keys(platform).filter((name) => `${name}Output` in platform);
  expect(lookups.map(([name]) => name).sort()).toEqual(functions.sort());
});

test.each(lookups)("%s needs what its page names, and no more", async (name, needed) => {
  const { caller } = organisation;
  const { [name]: lookup } = platform as unknown as Record<string, (args: object) => Promise<unknown>>;
  const args = argumentsOf[name];
  expect([name, args]).toEqual([name, expect.any(Object)]);
  context.configure({ "platform:baseUrl": emulator.url, "platform:token": caller.token });
  const run = async (held: readonly string[]): Promise<string> => {
    await caller.holds(held);
    return outcomeOf((lookup as NonNullable<typeof lookup>)(args ?? {}));
  };
  for (const left of needed) {
    expect([left, await run(needed.filter((each) => each !== left))]).toEqual([left, "is refused"]);
  }
  expect(await run(needed)).toMatch(outcomes[name] ?? /^is allowed$/);
});
