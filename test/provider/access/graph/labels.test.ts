import { distinctLabels, labelByKey } from "../../../../provider/access/graph/groupHierarchy";
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
  ["viewer (built in)", "viewer (built in) (in acme, new)"],
  ["Viewer (BUILT-IN)", "Viewer (BUILT-IN) (in acme, new)"],
  ["reader (in acme, uid 5c0d)", "reader (in acme, uid 5c0d) (in acme, new)"],
  ["reader (read only)", undefined],
  ["built in", undefined],
])("a role called %j is shown as %s", (name, label) => {
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
  expect([...distinctLabels(after.entities).values()]).toEqual(label === undefined ? [] : [label]);
});

test("what no document describes is called by the beginning of the last part of its uid", () => {
  expect(labelByKey(new Map(), `${acme}/0123456789abcdef`)).toBe("0123456789ab");
});
