import { nameIn } from "../../../../provider/access/graph/grant";
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
} from "../../../support/access";

test.each([
  ["viewer (built in)", "“viewer (built in)”"],
  ["reader at acme / web (as before)", "“reader at acme / web (as before)”"],
  ["x” or “owner", '“x" or "owner”'],
  ["registry.push", "registry.push"],
])("a role called %j is shown as %s", (name, shown) => {
  const own = role("own", ["IAM_ROLES_UPDATE"]);
  const renamed = { ...own, inputs: { ...own.inputs, name } };
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

test("an object of another kind in the place of an identity is called what it is", () => {
  const runner = role("runner", ["REPO_LIST"]);
  const all = [...groups, viewer, runner];
  const { after } = compareResources(all, [...all, binding(runner, viewer, acme)]);
  expect(after.grants.map(({ subject }) => subject.displayName)).toEqual([
    "Role runner, which is no identity",
  ]);
});
