import { UNKNOWN } from "../../../../provider/fields/values";
import { GROUP_UID, PROVIDER_UID, ROLE_UID, ROOT_UID } from "../../support/samples";
import { GROUP_UID_WANTED, UID_WANTED, ANCHOR } from "./support";
import type { Refusals } from "./support";

export const grants: Refusals = {
  Role: [
    {
      name: "wrong capabilities",
      inputs: {
        parentUid: `${ROOT_UID}/`,
        name: "puller",
        capabilities: [
          "repo.list",
          "CAP_REPO_LIST",
          "REPO_LIST",
          "cap_repo_lst",
          null,
          "",
          7,
          "CAP_",
          "nonsense",
        ],
        capabilites: [],
      },
      failures: [
        'capabilites is not an argument; did you mean "capabilities"?',
        `parentUid ${GROUP_UID_WANTED}`,
        'capabilities[0] must be a full name that begins with CAP_, not "repo.list"; did you mean CAP_REPO_LIST?',
        'capabilities[2] must be a full name that begins with CAP_, not "REPO_LIST"; did you mean CAP_REPO_LIST?',
        'capabilities[3] must be a full name that begins with CAP_, not "cap_repo_lst"; did you mean CAP_REPO_LIST?',
        "capabilities[4] must not be empty",
        "capabilities[5] must not be empty",
        "capabilities[6] must be a string, not the number 7",
        'capabilities[7] must be a full name that begins with CAP_, not "CAP_", as in CAP_IAM_GROUPS_CREATE',
        'capabilities[8] must be a full name that begins with CAP_, not "nonsense", as in CAP_IAM_GROUPS_CREATE',
      ],
    },
  ],
  GroupAccess: [
    {
      name: "wrong labels and wrong bindings",
      inputs: {
        parentUid: GROUP_UID,
        bindings: {
          "": { identityUid: ROOT_UID, roleUid: ROOT_UID },
          "two\nlines": { identityUid: ROOT_UID, roleUid: ROLE_UID },
          "unmanaged: alice as owner": { identityUid: GROUP_UID, roleUid: ROOT_UID },
          half: { identityUid: ROLE_UID },
          none: null,
          text: "owner",
          wrong: { identityUid: "alice", roleUid: "owner", parentUid: ROOT_UID },
        },
        ignore: { identities: [], identityUids: ["alice"], namePatterns: ["(?=a)"] },
      },
      failures: [
        'bindings[""] must have a key that is not empty',
        'bindings[""] key must be one line of at most 100 characters',
        'bindings["two\\nlines"] key must be one line of at most 100 characters',
        'bindings["unmanaged: alice as owner"] has a label that begins with "unmanaged:", which is reserved for bindings that the program does not have',
        "bindings.half.roleUid is missing: give a uid, as in the id of another resource",
        "bindings.none must have a value",
        'bindings.text must be an object, as in { identityUid: "…", roleUid: "…" }, not a string',
        "bindings.wrong.parentUid is not an argument",
        `bindings.wrong.identityUid ${UID_WANTED}`,
        `bindings.wrong.roleUid ${UID_WANTED}, as getRoleOutput({ name: "owner" }).uid`,
        "ignore.identities is not an argument",
        `ignore.identityUids[0] ${UID_WANTED}`,
        `ignore.namePatterns[0] ${ANCHOR} invalid or unsupported Perl syntax: \`(?=\``,
      ],
    },
    {
      name: "one grant under two labels, of which only the known are told",
      inputs: {
        parentUid: GROUP_UID,
        bindings: {
          a: { identityUid: ROOT_UID, roleUid: ROLE_UID },
          b: { identityUid: ROOT_UID, roleUid: UNKNOWN },
          c: { identityUid: ROOT_UID, roleUid: ROLE_UID },
          d: { identityUid: ROOT_UID, roleUid: UNKNOWN },
          e: UNKNOWN,
        },
      },
      failures: ['bindings.c grants the same role to the same identity as "a": remove one of them'],
    },
  ],
  GroupInvite: [
    ...["0s", "-1s", "0h0m"].map((ttl) => ({
      name: `a life of ${ttl}`,
      inputs: { parentUid: GROUP_UID, roleUid: ROLE_UID, ttl },
      failures: [`ttl must be greater than 0s, not ${ttl}`],
    })),
    {
      name: "a life as a number",
      inputs: { parentUid: GROUP_UID, roleUid: ROLE_UID, ttl: 24 },
      failures: ['ttl must be a string, as in "24h", not the number 24'],
    },
  ],
  ExternalGroupRoleMapping: [
    {
      name: "a scope below a root",
      inputs: { parentUid: PROVIDER_UID, externalGroupId: "a", roleUid: ROLE_UID, scope: GROUP_UID },
      failures: ["scope must be the uid of a root group, which has no slash"],
    },
  ],
};
