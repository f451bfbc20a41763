import type { InventoryObject } from "../../../../../provider/access/documents/inventory";
import { listedKinds } from "../../../../../provider/access/documents/inventory";
import type { ReviewReport } from "../../../../../provider/access/report/report";
import { review } from "../../../../../provider/access/report/reviewReport";
import { defaultRuleOptions, findingsOf } from "../../../../../provider/access/rules";
import type { Props } from "../../../../../provider/fields/values";
import { inventoryOf, preview, state, step } from "../../../../support/documents";

/*
 * A pull request that trusts more than it says: one line of an identity widens three grants, two people become
 * owners, a role gains a capability, an invite has no address, and a deployment loses its place.
 */

const ACME = "ce2d1984a010471142503340d670612d63ffb9f6";
const uid = (digits: string): string => `${ACME}/${digits.repeat(4)}`;
const [PAYMENTS, WEB, CI, BOT, RELEASE] = [uid("1a2b"), uid("99aa"), uid("0aa0"), uid("0bb0"), uid("2cc2")];
const [OWNER, PUSH, VIEWER] = ["89", "7a", "6b"].map((byte) => byte.repeat(20)) as [string, string, string];
const [JO, SAM] = ["01", "02"].map((byte) => byte.repeat(20)) as [string, string];
const NOW = Date.parse("2026-05-11T06:00:00Z");
const issuer = "https://token.actions.githubusercontent.com";

type Place = (line: number) => { readonly sourcePosition: string };
const at: Place = (line) => ({ sourcePosition: `project:///index.ts#${line},1` });

const role = (name: string, key: string, ...capabilities: string[]): InventoryObject => ({
  kind: "Role",
  uid: key,
  builtIn: true,
  inputs: { name, capabilities },
});

const deployer = (claim: Props): Props => ({
  parentUid: ACME,
  name: "ci-deployer",
  claimMatch: { issuer, ...claim },
});
const binding = (parentUid: string, identityUid: string, roleUid: string): Props => ({
  parentUid,
  identityUid,
  roleUid,
});
const release = (...capabilities: string[]): Props => ({ parentUid: ACME, name: "release", capabilities });

const group = (name: string, key: string, line: number, parentUid?: string) =>
  state("Group", name, { name, ...(parentUid === undefined ? {} : { parentUid }) }, { id: key, ...at(line) });

const same = (one: ReturnType<typeof state>) => step("same", one, one);

const bound = (name: string, digits: string, inputs: Props, line: number) =>
  state("RoleBinding", name, inputs, { id: uid(digits), ...at(line) });

const grants = [
  bound("ci-owns", "a1a1", binding(ACME, CI, OWNER), 31),
  bound("ci-pushes", "a2a2", binding(PAYMENTS, CI, PUSH), 36),
  bound("ci-views", "a3a3", binding(WEB, CI, VIEWER), 41),
  bound("bot-releases", "a4a4", binding(PAYMENTS, BOT, RELEASE), 46),
];

const bot = {
  parentUid: ACME,
  name: "release-bot",
  claimMatch: { issuer, subject: "repo:acme/bot:environment:release" },
};

const steps = [
  same(group("acme", ACME, 4)),
  same(group("payments", PAYMENTS, 6, ACME)),
  same(group("web", WEB, 7, ACME)),
  step("create", undefined, state("Group", "sandbox", { parentUid: ACME, name: "sandbox" }, at(8))),
  step(
    "update",
    state("Identity", "ci", deployer({ subject: "repo:acme/pay:ref:refs/heads/main" }), {
      id: CI,
      ...at(12),
    }),
    state("Identity", "ci", deployer({ subjectPattern: "repo:acme.*" }), { id: CI, ...at(12) }),
  ),
  same(state("Identity", "bot", bot, { id: BOT, ...at(20) })),
  step(
    "update",
    state("Role", "release", release("CAP_TAG_CREATE"), { id: RELEASE, ...at(26) }),
    state("Role", "release", release("CAP_TAG_CREATE", "CAP_REPO_DELETE"), { id: RELEASE, ...at(26) }),
  ),
  ...grants.map(same),
  step("create", undefined, state("RoleBinding", "jo", binding(ACME, JO, OWNER), at(51))),
  step("create", undefined, state("RoleBinding", "sam", binding(ACME, SAM, OWNER), at(56))),
  step(
    "update",
    bound("bot-web", "a5a5", binding(WEB, BOT, VIEWER), 61),
    bound("bot-web", "a5a5", binding(WEB, BOT, PUSH), 61),
  ),
  step("delete", bound("jo-views", "a6a6", binding(WEB, JO, VIEWER), 66)),
  step(
    "create",
    undefined,
    state("GroupInvite", "contractor", { parentUid: PAYMENTS, roleUid: VIEWER }, at(71)),
  ),
];

/** What the server has of the program before the change. */
const recorded = steps.flatMap(({ oldState }): InventoryObject[] => {
  if (oldState?.id === undefined) return [];
  const inputs = Object.fromEntries(Object.entries(oldState.inputs).filter(([key]) => key !== "__provider"));
  return [{ kind: oldState.type.replace(/^.*:/, ""), uid: oldState.id, inputs }];
});

const inventory = {
  ...inventoryOf(
    ACME,
    ...recorded,
    { kind: "Identity", uid: JO, inputs: { name: "jo@example.com" } },
    { kind: "Identity", uid: SAM, inputs: { name: "sam@example.com" } },
    role(
      "owner",
      OWNER,
      "CAP_IAM_ROLES_UPDATE",
      "CAP_IAM_ROLE_BINDINGS_CREATE",
      "CAP_REPO_DELETE",
      "CAP_REPO_LIST",
    ),
    role("registry.push", PUSH, "CAP_MANIFEST_CREATE", "CAP_REPO_LIST", "CAP_TAG_CREATE"),
    role("viewer", VIEWER, "CAP_IAM_GROUPS_LIST", "CAP_REPO_LIST"),
  ),
  takenAt: "2026-05-11T05:50:00Z",
  kinds: listedKinds,
};

const sources = { preview: preview(...steps), inventory };

/** The review of that pull request, as all rules make it. */
export function teamReview(): ReviewReport {
  return review(sources, {
    failOn: "high",
    rules: (comparison) => findingsOf(comparison, defaultRuleOptions(NOW)),
    provenance: {
      commit: "1f2e3d4c5b6a79880716253443526170f9e8d7c6",
      pullRequest: "42",
      time: "2026-05-11T06:00:00.000Z",
      cli: "v3.230.0",
      package: "0.1.0",
      inventoryTime: "2026-05-11T05:50:00Z",
      inventoryAgeSeconds: 600,
    },
  });
}
