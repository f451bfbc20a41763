import { getRole } from "../../../provider/index";
import { ProgramContext } from "../support/program";
import { GROUP_UID, ROLE_UID } from "../support/samples";
import { errorOf, missing, TOKEN } from "../support/server";
import type { Reply } from "../support/server";

const context = new ProgramContext().install();
const OTHER_UID = "0123456789abcdef0123456789abcdef01234567";
const CUSTOM_UID = `${GROUP_UID}/3333333333333333`;
const viewer = {
  uid: ROLE_UID,
  name: "viewer",
  description: "May look",
  capabilities: ["CAP_REPO_LIST", "CAP_TAG_LIST"],
  createTime: null,
};
const custom = { uid: CUSTOM_UID, name: "viewer", description: "", capabilities: ["CAP_REPO_LIST"] };

const roles = (...all: object[]): Reply => ({ json: { roles: all, nextPageToken: "", skipped: 0 } });

async function told(args: object): Promise<string> {
  const error = await errorOf(getRole(args));
  expect(error).toMatchObject({ name: "LookupError", code: "LOOKUP" });
  expect(String(error.stack)).not.toMatch(/\n\s+at /);
  expect(error.message).not.toContain(TOKEN);
  return error.message;
}

describe("getRole", () => {
  test("by name requests that name and returns the exact match", async () => {
    context.server.script([roles({ ...viewer, uid: OTHER_UID, name: "Viewer" }, viewer, { name: "viewer" })]);
    await expect(getRole({ name: "viewer" })).resolves.toMatchObject({ uid: ROLE_UID, builtIn: true });
    expect(context.server.last().query.get("name")).toBe("viewer");
    expect(context.server.last().query.has("uidp.children_of")).toBe(false);
  });

  test("distinguishes a built-in role from a custom one of the same name", async () => {
    context.server.script(() => roles(custom, viewer));
    await expect(getRole({ name: "viewer", builtIn: true })).resolves.toMatchObject({
      uid: ROLE_UID,
      builtIn: true,
    });
    await expect(getRole({ name: "viewer", builtIn: false })).resolves.toStrictEqual({
      uid: CUSTOM_UID,
      name: "viewer",
      description: "",
      capabilities: ["CAP_REPO_LIST"],
      builtIn: false,
      parentUid: GROUP_UID,
    });
  });
});

describe("getRole says", () => {
  const many = Array.from({ length: 21 }, (_, i) => ({
    ...custom,
    uid: `${GROUP_UID}/${(i + 1).toString(16).padStart(16, "0")}`,
  }));

  test("that there are more than twenty of a name, or more than twenty names", async () => {
    context.server.script(() => roles(...many));
    expect((await told({ name: "viewer" })).split("\n").slice(20)).toEqual([
      expect.stringContaining("0000014 (parent: "),
      "  …",
      "  see npx --no pulumi-platform explain PP1204",
    ]);
    context.server.script(({ query }) =>
      query.has("name") ? roles() : roles(...many.map((one, i) => ({ ...one, name: `role ${i + 10}` }))),
    );
    expect(await told({ name: "viewer" })).toContain('"role 29", …');
  });

  test("that there is none, and where it looked", async () => {
    context.server.script(() => roles());
    expect(await told({ name: "viewer" })).toBe(
      'getRole: there is no role with the name "viewer" that this token may see (PP1203)',
    );
    expect(await told({ name: "viewer", parentUid: GROUP_UID })).toBe(
      `getRole: there is no role with the name "viewer" below ${GROUP_UID} that this token may see (PP1203)`,
    );
    context.server.script([missing(ROLE_UID)]);
    expect(await told({ uid: ROLE_UID })).toBe(
      `getRole: there is no object with the uid ${ROLE_UID} (PP1203)`,
    );
  });

  test("which argument the one with the name does not meet", async () => {
    context.server.script(() => roles(viewer));
    expect(await told({ name: "viewer", builtIn: false })).toBe(
      'getRole: the role with the name "viewer" has builtIn true, not false: change that, or leave it out (PP1203)',
    );
  });

  test("where else there is one of the name", async () => {
    context.server.script(({ query }) => (query.has("uidp.children_of") ? roles(custom) : roles(viewer)));
    expect(await told({ name: "viewer", parentUid: OTHER_UID })).toBe(
      [
        `getRole: there is no role with the name "viewer" below ${OTHER_UID} that this token may see`,
        "  elsewhere there is:",
        `  ${ROLE_UID} (parent: none) May look`,
        "  see npx --no pulumi-platform explain PP1203",
      ].join("\n"),
    );
  });

  test("which there are, built-in and custom, and the one that was probably meant", async () => {
    const owner = { ...viewer, uid: OTHER_UID, name: "owner" };
    context.server.script(({ query }) =>
      query.get("name") === null ? roles(viewer, custom, owner) : roles(),
    );
    expect((await told({ name: "viewre" })).split("\n")).toEqual([
      'getRole: there is no role with the name "viewre" that this token may see',
      '  did you mean "viewer"?',
      "  see npx --no pulumi-platform explain PP1203",
    ]);
    expect(context.server.requests).toHaveLength(2);
  });

  test("which there are of those that can be meant", async () => {
    const deployer = { ...custom, name: "deployer" };
    context.server.script(({ query }) => (query.get("name") === null ? roles(viewer, deployer) : roles()));
    for (const [more, list] of [
      [{}, ['  built-in: "viewer"', '  custom: "deployer"']],
      [{ builtIn: true }, ['  built-in: "viewer"']],
      [{ builtIn: false }, ['  custom: "deployer"']],
    ] as const)
      expect((await told({ name: "auditing", ...more })).split("\n").slice(1, -1)).toEqual(list);
  });

  test("that there are several, with each one's uid, parent and description", async () => {
    context.server.script([roles(viewer, { ...custom, description: "Ours\n::error::x" })]);
    expect((await told({ name: "viewer" })).split("\n")).toEqual([
      'getRole: 2 objects have the name "viewer"; narrow by parentUid, or give the uid of one:',
      `  ${ROLE_UID} (parent: none) May look`,
      `  ${CUSTOM_UID} (parent: ${GROUP_UID}) Ours ::error::x`,
      "  see npx --no pulumi-platform explain PP1204",
    ]);
  });
});
