import { checkInputs } from "../../../provider/fields/check";
import type { Props } from "../../../provider/fields/values";
import { GROUP_UID, IDENTITY_UID, OTHER_IDENTITY_UID, ROLE_UID, samples, specOf } from "../support/samples";

/* With `ignoreChanges` the engine hands `check` what is recorded, as a refresh may have found it. */

const check = (kind: string, olds: Props, inputs: Props): string[] =>
  checkInputs(specOf(kind), inputs, { olds, now: 0 }).map(({ property, reason }) => `${property} ${reason}`);

const grant = { identityUid: IDENTITY_UID, roleUid: ROLE_UID };
const access = (bindings: Props): Props => ({ parentUid: GROUP_UID, bindings });
const UNMANAGED = "unmanaged: carol as editor";
const repo = (more: Props): Props => ({ parentUid: GROUP_UID, name: "web", ...more });

test.each<[string, string, Props, Props]>([
  [
    "a label of what others made",
    "GroupAccess",
    access({ mine: grant, [UNMANAGED]: { ...grant, identityUid: OTHER_IDENTITY_UID } }),
    { allowSelfRemoval: true },
  ],
  [
    "a label of what others made that is longer than a program's may be",
    "GroupAccess",
    access({ [`unmanaged: ${"x".repeat(200)}`]: grant }),
    { allowSelfRemoval: true },
  ],
  [
    "a grant of a role that is gone",
    "GroupAccess",
    access({ [UNMANAGED]: { ...grant, roleUid: "" } }),
    { allowSelfRemoval: true },
  ],
  [
    "a reserved key",
    "Repo",
    repo({ customOverlay: { environment: { CHAINGUARD_X: "1" } } }),
    { description: "new" },
  ],
  [
    "a reserved key beside one that changes",
    "Repo",
    repo({ customOverlay: { environment: { CHAINGUARD_X: "1" } } }),
    { customOverlay: { environment: { CHAINGUARD_X: "1", X: "2" } } },
  ],
  ["a name that is newer than this package", "Repo", repo({ catalogTier: 17 }), { description: "new" }],
  ["an invite without a role", "GroupInvite", { parentUid: GROUP_UID, ttl: "1h" }, { email: "a@b.example" }],
])(
  "%s is refused where the program writes it, and passes where it is recorded",
  (_what, kind, inputs, more) => {
    expect(check(kind, {}, inputs)).not.toEqual([]);
    expect(check(kind, inputs, inputs)).toEqual([]);
    expect(check(kind, inputs, { ...inputs, ...more })).toEqual([]);
  },
);

test("the same label for another grant is the program's own, and so is another label", () => {
  const olds = access({ [UNMANAGED]: grant });
  const refused = `bindings["${UNMANAGED}"] has a label that begins with "unmanaged:", which is reserved for bindings that the program does not have`;
  expect(check("GroupAccess", olds, access({ [UNMANAGED]: { ...grant, roleUid: GROUP_UID } }))).toEqual([
    refused,
  ]);
  expect(check("GroupAccess", olds, access({ "unmanaged: x": grant }))).toEqual([
    refused.replace(UNMANAGED, "unmanaged: x"),
  ]);
});

test.each(samples.map(({ kind, label, inputs }) => [kind, label, inputs] as const))(
  "%s %s: an invalid value beside a recorded one is refused",
  (kind, _label, inputs) => {
    expect(check(kind, inputs, { ...inputs, nonsense: "x" })).toEqual([
      expect.stringContaining("nonsense is not an argument"),
    ]);
  },
);
