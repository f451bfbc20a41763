import * as pulumi from "@pulumi/pulumi";
import { getGroup, getGroupOutput } from "../../../provider/index";
import { ProgramContext, resolved } from "../support/program";
import { CHILD_UID, GROUP_UID, ROOT_UID } from "../support/samples";
import { errorOf, missing } from "../support/server";

const context = new ProgramContext().install();
const root = {
  uid: ROOT_UID,
  name: "acme",
  description: "An organisation",
  kind: "ORG_KIND_CUSTOMER",
  verified: true,
  status: "ORG_STATUS_READY",
  resourceLimits: {},
};
const team = { uid: GROUP_UID, name: "team", description: "", kind: "ORG_KIND_CUSTOMER", verified: false };

test("getGroup by uid returns the group; a root group has no parent", async () => {
  context.server.script([{ json: root }]);
  await expect(getGroup({ uid: ROOT_UID })).resolves.toStrictEqual({
    uid: ROOT_UID,
    name: "acme",
    description: "An organisation",
    kind: "ORG_KIND_CUSTOMER",
    verified: true,
    status: "ORG_STATUS_READY",
  });
  expect(context.server.calls).toEqual([`GET /iam/v2/groups/${ROOT_UID}`]);
});

test("getGroup by name finds it, directly below a parent where one is given", async () => {
  const deeper = { ...team, uid: `${CHILD_UID}/5555555555555555` };
  context.server.script(() => ({ json: { groups: [deeper, team] } }));
  await expect(getGroup({ name: "team", parentUid: ROOT_UID })).resolves.toStrictEqual({
    ...team,
    parentUid: ROOT_UID,
  });
  expect(context.server.last().query.get("uidp.children_of")).toBe(ROOT_UID);
  const error = await errorOf(getGroup({ name: "team" }));
  expect(error.message.split("\n")).toEqual([
    'getGroup: 2 objects have the name "team"; narrow by parentUid, or give the uid of one:',
    `  ${deeper.uid} (parent: ${CHILD_UID})`,
    `  ${GROUP_UID} (parent: ${ROOT_UID})`,
    "  see pulumi-platform explain PP1204",
  ]);
});

test("getGroup explains that there is no such group, and which arguments it accepts", async () => {
  context.server.script([missing(GROUP_UID)]);
  expect((await errorOf(getGroup({ uid: GROUP_UID }))).message).toBe(
    `getGroup: there is no object with the uid ${GROUP_UID} (PP1203)`,
  );
  const strange = { name: "a", builtIn: true } as object;
  expect((await errorOf(getGroup(strange))).message).toBe(
    "getGroup: builtIn is not an argument; it takes uid, name, parentUid (PP1201)",
  );
});

test("getGroupOutput accepts arguments that are known later", async () => {
  context.server.script([{ json: team }]);
  const output = getGroupOutput({ uid: pulumi.output(Promise.resolve(GROUP_UID)) });
  await expect(resolved(output)).resolves.toMatchObject({ name: "team", parentUid: ROOT_UID });
});
