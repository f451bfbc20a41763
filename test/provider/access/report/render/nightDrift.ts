import { findDrift } from "../../../../../provider/access/drift/drift";
import type { Inventory, InventoryObject } from "../../../../../provider/access/documents/inventory";
import { applyPolicy } from "../../../../../provider/access/suppressions/applyPolicy";
import { parsePolicy } from "../../../../../provider/access/suppressions/policyDocument";
import type { DriftReport } from "../../../../../provider/access/report/report";
import { parseStateExport } from "../../../../../provider/access/documents/stateExport";
import { listedKinds } from "../../../../../provider/access/documents/inventory";
import { state } from "../../../../support/documents";

/*
 * What a night leaves in an organisation: an owner made by hand, an identity that trusts other repositories, a
 * repository that is gone, a role that lost a capability, and a list that the server refuses.
 */

const ACME = "ce2d1984a010471142503340d670612d63ffb9f6";
const PAYMENTS = `${ACME}/1a2b3c4d5e6f7081`;
const WEB = `${ACME}/99aa88bb77cc66dd`;
const DEPLOYER = `${ACME}/0000aaaa1111bbbb`;
const NIGHTLY = `${ACME}/2222cccc3333dddd`;
const JO = "0123456789abcdef0123456789abcdef01234567";
const OWNER = "89abcdef0123456789abcdef0123456789abcdef";
const API = `${WEB}/5555eeee6666ffff`;
const BY_HAND = `${PAYMENTS}/4444333322221111`;
const NIGHT = { createTime: "2026-05-11T02:14:09Z", updateTime: "2026-05-11T02:20:00Z" };
const NOW = Date.parse("2026-05-11T06:00:00Z");

const issuer = "https://token.actions.githubusercontent.com";
const group = (name: string, parentUid?: string) => ({ ...(parentUid ? { parentUid } : {}), name });
const deployer = (claimMatch: Record<string, string>) => ({
  parentUid: ACME,
  name: "ci-deployer",
  claimMatch: { issuer, ...claimMatch },
});
const nightly = (...capabilities: string[]) => ({ parentUid: ACME, name: "nightly", capabilities });

const resources = [
  state("Group", "acme", group("acme"), { id: ACME }),
  state("Group", "payments", group("payments", ACME), { id: PAYMENTS }),
  state("Group", "web", group("web", ACME), { id: WEB }),
  state("Identity", "deployer", deployer({ subject: "repo:acme/pay:ref:refs/heads/main" }), {
    id: DEPLOYER,
    sourcePosition: "project:///index.ts#12,1",
  }),
  state("Role", "nightly", nightly("CAP_REPO_LIST", "CAP_TAG_LIST"), { id: NIGHTLY }),
  state("Repo", "api", { parentUid: WEB, name: "api" }, { id: API }),
];

const objects: InventoryObject[] = [
  { kind: "Group", uid: ACME, inputs: group("acme") },
  { kind: "Group", uid: PAYMENTS, inputs: group("payments", ACME) },
  { kind: "Group", uid: WEB, inputs: group("web", ACME) },
  {
    kind: "Identity",
    uid: DEPLOYER,
    inputs: deployer({ subjectPattern: "repo:acme/.*|repo:acme-labs/.*" }),
    ...NIGHT,
  },
  { kind: "Identity", uid: JO, inputs: { name: "jo@example.com" } },
  { kind: "Role", uid: NIGHTLY, inputs: nightly("CAP_REPO_LIST"), ...NIGHT },
  {
    kind: "Role",
    uid: OWNER,
    builtIn: true,
    inputs: { name: "owner", capabilities: ["CAP_IAM_ROLES_UPDATE", "CAP_IAM_ROLE_BINDINGS_CREATE"] },
  },
  {
    kind: "RoleBinding",
    uid: BY_HAND,
    inputs: { parentUid: PAYMENTS, identityUid: JO, roleUid: OWNER },
    ...NIGHT,
  },
];

const inventory: Inventory = {
  schemaVersion: 1,
  root: ACME,
  takenAt: "2026-05-11T05:50:00Z",
  complete: false,
  refused: [
    {
      kind: "Subscription",
      scope: WEB,
      code: "PERMISSION_DENIED",
      message: "the role lacks CAP_SUBSCRIPTION_LIST",
    },
  ],
  kinds: listedKinds,
  objects,
};

const policy = `allow:
  - kind: changed
    type: Role
    match: { uid: ${NIGHTLY} }
    fields: [capabilities]
    reason: the night shift agreed
    expires: 2026-06-30
`;

/** The report of that night, as drift makes it. */
export function findNightDrift(): Promise<DriftReport> {
  return findDrift({
    states: [parseStateExport(JSON.stringify({ version: 3, deployment: { resources } }), "export.json")],
    inventories: [inventory],
    actors: new Map([[BY_HAND, "created by sam@example.com"]]),
    failOn: "any",
    now: NOW,
    version: "0.1.0",
    suppress: (findings, isWhole) =>
      applyPolicy(findings, parsePolicy(policy, "policy.yaml"), NOW, "drift", isWhole),
  });
}
