import { inspect } from "node:util";
import { specs } from "../../../../provider/access/documents/specs";
import { decidesAccess } from "../../../../provider/fields/fieldAccess";
import { reportFormats, renderers } from "../../../../provider/access/report/render";
import type { DriftReport } from "../../../../provider/access/report/report";
import { aggregatedKind } from "../../../../provider/fields/resourceSpec";
import { SECRET_MASK } from "../../../../provider/fields/values";
import type { Props } from "../../../../provider/fields/values";
import {
  argumentsOf,
  driftBetween,
  inventoryOf,
  live,
  org,
  root,
  secret,
  stateOf,
} from "../../../support/driftDocuments";
import type { Live } from "../../../support/driftDocuments";
import { jwks, samples } from "../../../support/samples";
import { kinds } from "../../../../provider/kinds";

const listed = kinds.map(({ spec }) => spec.kind);

/** Everything that a run can write. */
const everything = (report: DriftReport): string =>
  [JSON.stringify(report), ...reportFormats.map((format) => renderers[format](report, {}))].join("\n");

interface Recorded {
  readonly kind: string;
  readonly uid: string;
  readonly inputs: unknown;
}

const compare = (recorded: readonly Recorded[], objects: readonly Live[]) =>
  driftBetween([stateOf(recorded)], [], {
    inventories: [inventoryOf([root, ...objects], { kinds: listed })],
  });

const cases = samples
  .filter(({ kind }) => {
    const spec = specs[kind];
    return spec === undefined || aggregatedKind(spec) === undefined;
  })
  .flatMap(({ label, kind, args }) =>
    Object.entries(specs[kind]?.fields ?? {})
      .filter(([key, field]) => args[key] !== undefined && !field.path && !field.inputOnly && !field.secret)
      .map(([key, field]) => [`${label} ${key}`, { kind, inputs: argumentsOf(args), key, field }] as const),
  );

describe("an argument that the state holds as a secret", () => {
  test.each(cases)("is compared if its plain text is known: %s", async (_title, { kind, inputs, key }) => {
    const object = live(kind, inputs);
    const same = { ...object, inputs: { ...object.inputs, [key]: secret(object.inputs[key]) } };
    expect(await compare([same], [object])).toMatchObject({ complete: true, findings: [], unresolved: [] });
  });

  test.each(cases)(
    "is named if it is unknown, and makes the run incomplete if it decides access: %s",
    async (_title, { kind, inputs, key, field }) => {
      const object = live(kind, inputs);
      const hidden = { ...object, inputs: { ...object.inputs, [key]: secret(object.inputs[key], false) } };
      const report = await compare([hidden], [object]);
      expect(report.findings).toEqual([]);
      if (decidesAccess(field))
        expect(report.incomplete).toEqual([expect.stringContaining(`${key} of urn:`)]);
      else
        expect([...report.incomplete, ...report.unresolved]).toEqual([
          expect.stringContaining(`${key} of urn:`),
        ]);
    },
  );
});

test("what the server chose is compared also where a program calls it a secret", async () => {
  const [image, early, late] = ["a".repeat(40), "2026-07-01T00:00:00Z", "2026-08-01T00:00:00Z"];
  const repo = live("Repo", { name: "web", syncConfig: { source: "nginx" } });
  const token = {
    ...live("ScimToken", argumentsOf(samples.find(({ kind }) => kind === "ScimToken")?.args ?? {})),
    uid: org,
  };
  const recorded = [
    { ...repo, outputs: { __normalized: secret({ "syncConfig.source": image }) } },
    { ...token, outputs: { tokenExpireTime: secret(early) } },
  ];
  const differences = async (source: string, tokenExpireTime: string) =>
    (
      await compare(recorded, [
        { ...repo, inputs: { ...repo.inputs, syncConfig: { source } } },
        { ...token, details: { tokenExpireTime } },
      ])
    ).differences.flatMap(({ fields }) => fields.map(({ path }) => path));
  expect(await differences(image, early)).toEqual([]);
  expect(await differences("b".repeat(40), late)).toEqual(["tokenExpireTime", "syncConfig.source"]);
});

describe("a change by hand of a secret", () => {
  const owner: Live = {
    kind: "Role",
    uid: "e".repeat(40),
    inputs: { name: "owner", capabilities: ["CAP_IAM_ROLES_UPDATE", "CAP_IAM_ROLE_BINDINGS_CREATE"] },
    builtIn: true,
  };
  const viewer: Live = {
    ...owner,
    uid: "f".repeat(40),
    inputs: { name: "viewer", capabilities: ["CAP_REPO_LIST"] },
  };
  const ci = live("Identity", { name: "ci", claimMatch: { issuer: "https://ci.example", subject: "ci" } });
  const roles = [owner, viewer, ci];

  const CANARY = "canary-in-the-state";
  const LIVE = "canary-that-lives";
  const issuer = "https://ci.example";
  /** What is trusted, by a text of it. */
  const changes: readonly [string, string, (text: string) => Props][] = [
    ["keys", "staticKeys", (text) => ({ issuer, subject: "k", issuerKeys: jwks(text) })],
    ["a subject", "claimMatch", (subject) => ({ issuer, subject })],
    ["a pattern", "claimMatch", (text) => ({ issuer, subjectPattern: `^${text}.*$` })],
    ["a claim", "claimMatch", (team) => ({ issuer, subject: "x", claims: { team } })],
  ];

  test.each(changes)("of %s is found, and no output holds a value", async (_what, key, trusting) => {
    const before = trusting(CANARY);
    const identity = live("Identity", { name: "secretive", [key]: trusting(LIVE) });
    const binding = live("RoleBinding", { identityUid: identity.uid, roleUid: owner.uid });
    for (const hidden of [
      secret(before),
      Object.fromEntries(Object.entries(before).map(([name, value]) => [name, secret(value)])),
    ]) {
      const recorded = { ...identity, inputs: { ...identity.inputs, [key]: hidden } };
      const report = await compare([ci, recorded, binding], [...roles, identity, binding]);
      expect(report.differences).toMatchObject([{ kind: "changed" }]);
      expect(["widened", "unknown"]).toContain(report.differences[0]?.direction);
      const text = everything(report);
      expect(text).not.toContain(CANARY);
      expect(text).not.toContain(LIVE);
      expect(text).toContain(SECRET_MASK);
    }
  });

  const entry = { identityUid: ci.uid, roleUid: viewer.uid };
  const bindings = { deploys: entry };
  const hidden = secret("x", false);
  const overlay = (contents: unknown, annotations: unknown = { "com.example.a": "b" }) => ({
    customOverlay: { contents, annotations },
  });
  const oidc = { issuer: "https://login.example", clientId: "a" };

  /** What the state hides, what lives, and of how many values nobody knows whether access is as it was. */
  const unknown: readonly [string, string, object, object, number][] = [
    ["who holds one", "GroupAccess", { bindings: { deploys: { ...entry, identityUid: hidden } } }, {}, 1],
    ["a whole binding", "GroupAccess", { bindings: { deploys: hidden } }, {}, 1],
    ["all bindings", "GroupAccess", { bindings: hidden }, {}, 1],
    ["what is excepted", "GroupAccess", { bindings, ignore: hidden }, {}, 1],
    ["a part of it", "GroupAccess", { bindings, ignore: { namePatterns: hidden } }, {}, 1],
    ["a list", "Repo", overlay({ packages: hidden }), overlay({ packages: ["a"] }), 0],
    ["a key like a path", "Repo", overlay({}, { "com.example.a": hidden }), overlay({}), 0],
  ];
  test.each(unknown)("is not found where the state hides %s of a %s", async (...given) => {
    const [, kind, recorded, now, gaps] = given;
    const own = live(kind, { name: "it", ...(now as Props) });
    const uid = kind === "GroupAccess" ? org : own.uid;
    const state = { kind, uid, inputs: { ...own.inputs, ...recorded } };
    const lives = kind === "GroupAccess" ? live("RoleBinding", entry) : own;
    const report = await compare([ci, state], [...roles, lives]);
    expect(report.findings).toEqual([]);
    expect(report.incomplete).toHaveLength(gaps);
    expect(report.unresolved).toHaveLength(1 - gaps);
  });

  test("of who holds a binding hides no other one that is made or removed by hand", async () => {
    const held = live("RoleBinding", entry);
    const other = live("RoleBinding", { identityUid: ci.uid, roleUid: owner.uid });
    const inputs = { parentUid: org, bindings: { deploys: { ...entry, identityUid: hidden } } };
    for (const objects of [[held, other], []]) {
      const report = await compare([ci, { kind: "GroupAccess", uid: org, inputs }], [...roles, ...objects]);
      expect(report.findings.filter(({ id }) => id === "drift-changed")).toMatchObject([{ uid: org }]);
    }
  });

  test("says nothing of what no response contains", async () => {
    const provider = live("IdentityProvider", { name: "sso", defaultRole: viewer.uid, oidc });
    const state = { ...provider, inputs: { ...provider.inputs, oidc: { ...oidc, clientSecret: hidden } } };
    const report = await compare([ci, state], [...roles, provider]);
    expect(report).toMatchObject({ complete: true, findings: [], unresolved: [] });
  });

  test("is in no output of a comparison with a state", () => {
    const state = stateOf([
      { ...ci, inputs: { name: secret(CANARY), claimMatch: { subject: secret(CANARY) } } },
    ]);
    expect(JSON.stringify(state)).not.toContain(CANARY);
    expect(inspect(state, { depth: Infinity, showHidden: true })).not.toContain(CANARY);
  });
});
