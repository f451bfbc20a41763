import type { HandlerContext } from "../../../provider/lifecycle/context";
import { handlersFor } from "../../../provider/lifecycle/handlers";
import { ProgramRecord } from "../../../provider/lifecycle/programRecord";
import { aggregatedKind } from "../../../provider/fields/resourceSpec";
import { ADOPT, UNKNOWN } from "../../../provider/fields/values";
import type { Props } from "../../../provider/fields/values";
import { kinds } from "../../../provider/kinds";
import { runOf } from "../support/handlerStack";
import {
  GROUP_UID,
  IDENTITY_UID,
  requiredOutputs,
  ROLE_UID,
  ROOT_UID,
  sampleOf,
  specOf,
} from "../support/samples";

const UID = `${GROUP_UID}/0123456789abcdef`;
const inputs: Props = { parentUid: GROUP_UID, name: "ci", claimMatch: { issuer: "https://i.example.com" } };
const edited: Props = { ...inputs, name: "deploy" };
const identity = specOf("Identity");
const unchanged = { changed: false, replaces: [] };
const changed = { changed: true, replaces: [] };

/** What is recorded when the engine checks what a program declares and compares it with what is recorded. */
function checkAndDiff(
  record: ProgramRecord,
  declared: Props,
  diff: { changed: boolean; replaces: string[] },
  recorded = inputs,
): void {
  record.recordCheck(identity, declared);
  record.recordDiff(identity, UID, recorded, declared, diff);
}

const noClient = () => {
  throw new Error("nothing may be sent");
};
/** A run whose handlers may send nothing. */
const offlineContext = (record: ProgramRecord, more: Partial<HandlerContext> = {}) =>
  runOf(noClient, { record, ...more });

describe("the record of a program", () => {
  const reversed = Object.fromEntries(Object.entries(inputs).reverse());
  const replaces = { changed: true, replaces: ["parentUid"] };

  test.each<[string, isHeld: boolean, run: (record: ProgramRecord) => void]>([
    ["nothing that it does not name", false, () => undefined],
    ["what it creates", true, (record) => record.claim(identity, UID, "ci")],
    ["what it would adopt", true, (record) => record.recordCheck(identity, { ...inputs, [ADOPT]: UID })],
    ["what is unchanged", true, (record) => checkAndDiff(record, inputs, unchanged)],
    [
      "what is updated",
      true,
      (record) => {
        checkAndDiff(record, edited, changed);
        record.recordUpdate(identity, UID);
      },
    ],
    ["nothing that it replaces", false, (record) => checkAndDiff(record, edited, replaces)],
    [
      "nothing that the engine replaces by an option, before it is created again",
      false,
      (record) => checkAndDiff(record, edited, changed),
    ],
    [
      "nothing that the engine replaces though its inputs are the same",
      false,
      (record) => {
        checkAndDiff(record, inputs, unchanged);
        record.recordCreate(identity, `${UID}0`, inputs);
      },
    ],
    [
      "what it keeps though it is created again",
      true,
      (record) => {
        checkAndDiff(record, inputs, unchanged);
        record.recordCreate(identity, UID, inputs);
      },
    ],
    [
      "nothing that only a refresh compares",
      false,
      (record) => record.recordDiff(identity, UID, inputs, inputs, unchanged),
    ],
    [
      "what another resource, whose recorded outputs differ, may still update",
      true,
      (record) => checkAndDiff(record, edited, changed, { ...inputs, description: "other" }),
    ],
    [
      "what is compared with its members in another order",
      true,
      (record) => {
        record.recordCheck(identity, inputs);
        record.recordDiff(identity, UID, inputs, reversed, unchanged);
      },
    ],
  ])("holds %s", (_title, isHeld, run) => {
    const record = new ProgramRecord();
    run(record);
    expect(record.isOwned("Identity", UID, inputs)).toBe(isHeld);
    expect(record.isOwned("Role", UID, inputs)).toBe(false);
  });
});

describe("a delete on behalf of another resource", () => {
  const tag: Props = { parentUid: UID, name: "latest", digest: `sha256:${"a".repeat(64)}` };
  const binding: Props = { parentUid: GROUP_UID, identityUid: IDENTITY_UID, roleUid: ROLE_UID };
  const access = {
    parentUid: GROUP_UID,
    bindings: { ci: { identityUid: IDENTITY_UID, roleUid: ROLE_UID } },
  };

  /** A run in which the program declares one resource and the engine deletes another: the lines that are printed. */
  async function deleteBeside(by: string, declared: Props, kind: string, deleted: Props): Promise<string[]> {
    const lines: string[] = [];
    const record = new ProgramRecord();
    const context = offlineContext(record, { warn: (line) => lines.push(line) });
    handlersFor(specOf(by), context).check({}, declared);
    await handlersFor(specOf(kind), context).delete(UID, deleted);
    return lines;
  }

  const overwriting = kinds
    .map(({ spec }) => spec)
    // A GroupAccess deletes the bindings that no other one declares.
    .filter((spec) => spec.operations?.takesOver === true && aggregatedKind(spec) === undefined)
    .map(({ kind }) => [kind, sampleOf(kind), kind, sampleOf(kind)] as const);

  test.each<readonly [string, Props, string, Props]>([
    ...overwriting,
    ["RoleBinding", binding, "GroupAccess", access],
    ["Group", { name: "team" }, "Group", { name: "team", [ADOPT]: UID }],
  ])("of the %s %j that a %s declares sends nothing, and says so", async (kind, olds, by, declared) => {
    expect(await deleteBeside(by, declared, kind, olds)).toEqual([
      expect.stringMatching(new RegExp(`${UID} stays: another resource of this program manages it now`)),
    ]);
  });

  test.each([
    ["a tag of another name", "Tag", tag, { ...tag, name: "v1" }],
    ["a tag of another repository", "Tag", tag, { ...tag, parentUid: ROOT_UID }],
    ["an equal binding", "RoleBinding", binding, binding],
  ])("goes on beside %s", async (_title, kind, olds, declared) => {
    await expect(deleteBeside(kind, declared, kind, olds)).rejects.toThrow("nothing may be sent");
  });

  test("is refused once another step of the run has failed, and sends nothing", async () => {
    const context = offlineContext(new ProgramRecord());
    await expect(handlersFor(specOf("Group"), context).create({ name: "team" })).rejects.toThrow();
    await expect(handlersFor(specOf("Tag"), context).delete(UID, tag)).rejects.toMatchObject({
      errorCode: "PP4010",
      message: expect.stringMatching(/is not deleted, because another step of this run failed/),
    });
  });
});

describe("two resources of the program for one object, which only their uids show", () => {
  const freeFields = (kind: string) => {
    const { identifiedBy = ["parentUid"], fields } = specOf(kind);
    return Object.entries(fields).filter(([key]) => !identifiedBy.includes(key));
  };

  /** Other inputs for the same object: an argument that does not identify it is changed. */
  function otherInputs(kind: string, given: Props): Props {
    const others: Props = { string: "other", list: ["other"], boolean: true };
    const [key, field] = freeFields(kind).find(([, { type }]) => type in others) ?? [];
    if (key === undefined || field === undefined) throw new Error(`no argument of ${kind} can differ`);
    return { ...given, [key]: others[field.type] };
  }

  // All arguments of a mapping identify it: the server refuses a second one.
  const identified = kinds
    .map(({ spec }) => spec)
    .filter(
      ({ kind, sharesParentUid, identifiedBy }) =>
        (sharesParentUid ?? identifiedBy) && freeFields(kind).length > 0,
    )
    .map(({ kind, sharesParentUid }) => {
      const given = sampleOf(kind);
      return { kind, given, uid: sharesParentUid ? (given["parentUid"] as string) : UID };
    });

  test.each(identified)(
    "$kind: the second is refused before a request while the first is kept",
    async ({ kind, given, uid }) => {
      const run = handlersFor(specOf(kind), offlineContext(new ProgramRecord()));
      run.check({}, given);
      run.diff({ ...given, ...requiredOutputs(kind) }, given, uid);
      await expect(run.create(otherInputs(kind, given))).rejects.toMatchObject({
        errorCode: "PP4009",
        message: expect.stringMatching(/^creating .*: another resource of this program already manages/),
      });
      // The engine may replace a resource that is unchanged: the new one has its inputs.
      await expect(run.create(given)).rejects.toThrow("nothing may be sent");
    },
  );

  test.each(identified)(
    "$kind: the first is refused once the second was created",
    async ({ kind, given, uid }) => {
      const record = new ProgramRecord();
      const spec = specOf(kind);
      const run = handlersFor(spec, offlineContext(record));
      await record.reserve(spec, otherInputs(kind, given), "creating it", "the second", () =>
        Promise.resolve(record.claim(spec, uid, "the second")),
      );
      run.check({}, given);
      expect(() => run.diff({ ...given, ...requiredOutputs(kind) }, given, uid)).toThrow(
        "is the object of another resource of this program",
      );
    },
  );

  const role: Props = { parentUid: GROUP_UID, name: "reader", capabilities: ["CAP_REPO_LIST"] };
  const adopting: Props = { ...role, [ADOPT]: UID };

  test("an adoption of what another resource is, is refused whichever comes first", async () => {
    const [first, second] = [0, 1].map(() =>
      handlersFor(specOf("Role"), offlineContext(new ProgramRecord())),
    );
    first!.check({}, role);
    first!.diff(role, role, UID);
    await expect(first!.create(adopting)).rejects.toMatchObject({ errorCode: "PP4009" });
    const record = new ProgramRecord();
    record.claim(specOf("Role"), UID, 'role "made"');
    await expect(handlersFor(specOf("Role"), offlineContext(record)).create(adopting)).rejects.toThrow(
      'another resource of this program, role "made", already manages this object; remove one of the two',
    );
    second!.check({}, adopting);
    second!.check({}, role);
    expect(() => second!.diff(role, role, UID)).toThrow(
      `role "reader" ${UID} is the object of another resource of this program`,
    );
  });

  test("a resource that keeps adopt() in the program is no second one, nor is what a refresh compares", () => {
    const run = handlersFor(specOf("Role"), offlineContext(new ProgramRecord()));
    run.check({}, adopting);
    expect(run.diff(role, adopting, UID)).toMatchObject({ changes: false });
    expect(run.diff(role, role, UID)).toMatchObject({ changes: false });
  });

  test("adopt() of another object than the resource has is refused: nothing else may keep that one", () => {
    const run = handlersFor(specOf("Role"), offlineContext(new ProgramRecord()));
    run.check({}, adopting);
    const own = `${UID}f`;
    expect(() => run.diff(role, adopting, own)).toThrow(
      `role "reader" has ${own} since an earlier run, and adopt names ${UID}`,
    );
  });

  const grant: Props = { parentUid: GROUP_UID, identityUid: IDENTITY_UID, roleUid: ROLE_UID };
  const access: Props = { parentUid: GROUP_UID, bindings: {} };

  test.each([
    ["a RoleBinding first", "RoleBinding", grant, "GroupAccess", access],
    ["a GroupAccess first", "GroupAccess", access, "RoleBinding", grant],
  ])("the owner of all bindings of a group and of one: %s", (_title, one, its, other, theirs) => {
    const context = offlineContext(new ProgramRecord());
    const [first, second] = [one, other].map((kind) => handlersFor(specOf(kind), context));
    expect(first!.check({}, its)).toEqual([]);
    expect(first!.check(its, its)).toEqual([]);
    expect(second!.check({}, theirs)).toEqual([
      { property: "parentUid", reason: expect.stringContaining("owns all role bindings"), code: "PP1104" },
    ]);
    for (const parentUid of [ROOT_UID, UNKNOWN])
      expect(second!.check({}, { ...theirs, parentUid })).toEqual([]);
  });
});
