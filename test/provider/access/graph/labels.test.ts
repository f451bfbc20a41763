import { nameIn } from "../../../../provider/access/graph/grant";
import { labelByKey } from "../../../../provider/access/graph/groupHierarchy";
import {
  acme,
  binding,
  compareResources,
  groups,
  identity,
  owner,
  pinned,
  role,
  viewer,
  edit,
} from "../../../support/access";

test.each([
  ["viewer (built in)", "“viewer (built in)”"],
  ["reader at acme / web (as before)", "“reader at acme / web (as before)”"],
  ["x” or “owner", '“x" or "owner”'],
  ["registry.push", "registry.push"],
])("a role called %j is shown as %s", (name, shown) => {
  const own = role("own", ["IAM_ROLES_UPDATE"]);
  const renamed = edit(own, { name });
  const ci = identity("ci", pinned);
  const { after } = compareResources(groups, [
    ...groups,
    viewer,
    owner,
    ci,
    renamed,
    binding(ci, renamed, acme),
  ]);
  expect(after.grants.map(({ role: held }) => nameIn(held))).toEqual([shown]);
});

test("what no document describes is called by the beginning of the last part of its uid", () => {
  expect(labelByKey(new Map(), `${acme}/0123456789abcdef`)).toBe("0123456789ab");
});

test("what has no name is called by that of its resource", () => {
  const { after } = compareResources(groups, [...groups, viewer, binding(owner, viewer, acme)]);
  const [bound] = [...after.entities.values()].filter(({ kind }) => kind === "RoleBinding");
  expect(labelByKey(after.entities, bound!.key)).toBe(bound!.urn!.split("::").at(-1));
});

test("an object of another kind in the place of an identity is called what it is", () => {
  const runner = role("runner", ["REPO_LIST"]);
  const all = [...groups, viewer, runner];
  const { after } = compareResources(all, [...all, binding(runner, viewer, acme)]);
  expect(after.grants.map(({ subject }) => subject.displayName)).toEqual([
    "Role runner, which is no identity",
  ]);
});
