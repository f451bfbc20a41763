import { startEmulator } from "../../../../emulator";
import type { Emulator } from "../../../../emulator";
import type { Inventory, InventoryObject } from "../../../../provider/access/documents/inventory";
import { inventoryKinds } from "../../../../provider/access/documents/inventory";
import { parseStateExport } from "../../../../provider/access/documents/stateExport";
import { decidesAccess, mustBeAnnounced } from "../../../../provider/fields/fieldAccess";
import { review } from "../../../../provider/access/report/reviewReport";
import { isVerified } from "../../../../provider/access/report/expected";
import { rootOf } from "../../../../provider/text/uid";
import type { VerifyReport } from "../../../../provider/access/report/report";
import { parseReviewReport } from "../../../../provider/access/report/report";
import { verify } from "../../../../provider/access/verify/verify";
import { takeInventory } from "../../../../provider/inventory/takeInventory";
import type { FieldSpec } from "../../../../provider/fields/fieldSpec";
import type { ResourceSpec } from "../../../../provider/fields/resourceSpec";
import { isObject, SECRET_MASK } from "../../../../provider/fields/values";
import type { Json, Props } from "../../../../provider/fields/values";
import { preview, PROVENANCE, same, state, step } from "../../../support/documents";
import { clientOf } from "../../support/server";
import { otherValue } from "../../../support/fieldValues";
import { declared, memberAt, samples, surroundings, withMember } from "../../../support/samples";
import { HandlerStack } from "../../support/handlerStack";
import type { Held } from "../../support/handlerStack";
import { specOf, specs } from "../../support/samples";

/*
 * Every argument of every kind by its description, changed behind the back of an announced update: of an object that the
 * update leaves alone, and of one that it creates. The inventories are those of a server that holds all samples.
 */

const AFTER_ALL = "2099-01-01T00:00:00Z";

/** An argument, or one inside it, of an object. */
interface Leaf {
  readonly path: readonly string[];
  readonly field: FieldSpec;
  /** Whether its description, or that of what it is in, calls it harmless. */
  readonly isHarmless: boolean;
}

function leavesOf(
  fields: Readonly<Record<string, FieldSpec>>,
  path: readonly string[] = [],
  isHarmless = false,
): Leaf[] {
  return Object.entries(fields).flatMap(([key, field]): Leaf[] => {
    const inner = [...path, key];
    const isInnerHarmless = isHarmless || field.harmless !== undefined;
    if (field.type === "object" && !field.inputOnly) return leavesOf(field.fields, inner, isInnerHarmless);
    return [{ path: inner, field, isHarmless: isInnerHarmless }];
  });
}

/** Another value than the one that is there: a list and a map keep what they hold. */
function otherThan(field: FieldSpec, value: Json | undefined): Json {
  if (field.type === "list" && Array.isArray(value)) return [...value, otherValue(field.items, value[0])];
  if (field.type === "map" && isObject(value)) return { ...value, "99": otherValue(field.values, undefined) };
  return otherValue(field, value);
}

/** What no inventory tells, or what the server keeps anybody from changing. */
function isOutOfReach(label: string, { path, field }: Leaf): boolean {
  const name = path.join(".");
  if (field.inputOnly === true || field.secret === true || name === "parentUid") return true;
  return label === "synced" && (name === "aliases" || name === "activeTags");
}

/** An edit of the inventory after the update. */
interface Edit {
  readonly title: string;
  readonly isHarmless: boolean;
  /** What a finding must name; undefined where the list of grants shows it. */
  readonly named: string;
  readonly edit: (object: InventoryObject) => InventoryObject;
}

/** An object as it was before the update of a resource. */
interface Update {
  readonly name: string;
  readonly inputs: Props;
  readonly outs: Props;
  readonly object: (object: InventoryObject) => InventoryObject;
}

const setInput = (path: readonly string[], value: Json | undefined) => (object: InventoryObject) => ({
  ...object,
  inputs: withMember(object.inputs, path, value) as Props,
});

function editsOf(label: string, object: InventoryObject): Edit[] {
  const { kind, inputs, details = {} } = object;
  const spec = specOf(kind);
  const ofInputs = leavesOf(spec.fields)
    .filter((leaf) => !isOutOfReach(label, leaf))
    .flatMap(({ path, field, isHarmless }): Edit[] => {
      const value = memberAt(inputs, path) as Json | undefined;
      const known = { isHarmless: isHarmless && path[0] !== "name", named: path.join(".") };
      const changed = { ...known, title: "changed", edit: setInput(path, otherThan(field, value)) };
      const cleared = { ...known, title: "cleared", edit: setInput(path, undefined) };
      return value === undefined ? [{ ...changed, title: "set" }] : [changed, cleared];
    });
  const outputs = Object.entries(spec.outputs ?? {}).filter(([, field]) => field.secret !== true);
  const ofDetails = [...outputs, ...("etag" in details ? [["etag", { type: "string" }] as const] : [])].map(
    ([key, field]): Edit => ({
      title: "changed",
      isHarmless: false,
      named: key,
      edit: (one) => ({
        ...one,
        details: { ...one.details, [key]: otherThan(field, details[key]) },
      }),
    }),
  );
  return [...ofInputs, ...ofDetails];
}

describe("what changes behind the back of an update", () => {
  let emulator: Emulator;
  const held = new Map<string, Held>();
  /** By the uid of the root group. */
  const inventories = new Map<string, Inventory>();

  beforeAll(async () => {
    emulator = await startEmulator();
    const declarations = {
      ...surroundings,
      ...Object.fromEntries(
        samples.flatMap((sample) => Object.entries(declared(sample.label, sample, sample.args))),
      ),
    };
    const stack = new HandlerStack(emulator, declarations);
    for (const name of Object.keys(declarations)) held.set(name, await stack.make(name));
    for (const root of new Set([...held.values()].map(({ id }) => rootOf(id)))) {
      const request = { root, kinds: inventoryKinds, now: Date.now };
      inventories.set(root, await takeInventory(clientOf(emulator), request));
    }
  });

  afterAll(() => emulator.close());

  const heldAs = (name: string): Held => {
    const one = held.get(name);
    if (one === undefined) throw new Error(`nothing is made as ${name}`);
    return one;
  };
  const inventoryOf = (uid: string): Inventory => {
    const inventory = inventories.get(rootOf(uid));
    if (inventory === undefined) throw new Error(`no inventory of ${uid}`);
    return inventory;
  };
  const isObjectOf = ({ kind, id, inputs }: Held, object: InventoryObject): boolean =>
    kind === "GroupAccess"
      ? object.kind === "RoleBinding" && object.inputs["parentUid"] === inputs["parentUid"]
      : object.kind === kind && object.uid === id;

  /** The inventory with one sample, and what it lies in and refers to: most edits concern nothing else. */
  function inventoryAround(label: string): Inventory {
    const one = heldAs(label);
    const inventory = inventoryOf(rootOf(one.id));
    let around: readonly InventoryObject[] = [];
    let next = inventory.objects.filter((object) => isObjectOf(one, object));
    while (next.length > around.length) {
      around = next;
      const text = JSON.stringify(around);
      next = inventory.objects.filter(({ uid }) => text.includes(uid));
    }
    return { ...inventory, objects: around };
  }

  /** The report of an update that creates these, sets one from other arguments, or leaves all as it is, and the state after it. */
  function announce(
    inventory: Inventory,
    created: readonly string[],
    updated?: Update,
    hidden?: Omit<Update, "object">,
  ) {
    const isCreated = (object: InventoryObject): boolean =>
      created.some((name) => isObjectOf(heldAs(name), object));
    const own = [...held].filter(([, one]) => inventory.objects.some((object) => isObjectOf(one, object)));
    const before = { ...inventory, takenAt: "2026-05-30T00:00:00Z" };
    const steps = own.map(([name, { kind, id, inputs, outs }]) => {
      if (name === hidden?.name) return same(state(kind, name, hidden.inputs, { id, outputs: hidden.outs }));
      const now = state(kind, name, inputs, { id, outputs: outs });
      if (name === updated?.name) {
        return step("update", state(kind, name, updated.inputs, { id, outputs: updated.outs }), now);
      }
      return created.includes(name) ? step("create", undefined, state(kind, name, inputs)) : same(now);
    });
    const report = review(
      {
        preview: preview(...steps),
        inventory: {
          ...before,
          objects: inventory.objects
            .filter((object) => !isCreated(object))
            .map((object) => updated?.object(object) ?? object),
        },
      },
      { provenance: PROVENANCE, failOn: "never", rules: () => [] },
    );
    const rows = own.map(([name, { kind, id, inputs, outs }]) => ({
      ...state(kind, name, inputs, { id, outputs: outs }),
      custom: true,
    }));
    const text = JSON.stringify({ version: 3, deployment: { resources: rows } });
    return {
      inventory,
      announced: parseReviewReport(JSON.stringify(report), "review.json"),
      recorded: parseStateExport(text, "state.json"),
    };
  }

  type Announcement = ReturnType<typeof announce>;

  /** The state after an update that was not done: it still records these arguments. */
  function stateBefore(announcement: Announcement, { name, inputs }: Update): Announcement {
    const { recorded } = announcement;
    const resources = recorded.resources.map((one) =>
      one.urn.endsWith(`::${name}`) ? { ...one, inputs } : one,
    );
    return { ...announcement, recorded: { ...recorded, resources } };
  }

  function verifyWith(
    { inventory, announced, recorded }: Announcement,
    objects: readonly InventoryObject[],
  ): VerifyReport {
    const after = { ...inventory, takenAt: AFTER_ALL, objects };
    return verify({ review: announced, inventory: after, state: recorded }, { provenance: PROVENANCE });
  }

  const brief = ({ failing, incomplete, findings }: VerifyReport) => ({
    failing,
    incomplete,
    messages: findings.map(({ message }) => message),
  });
  const CLEAN = { failing: 0, incomplete: [], messages: [] };

  /** The samples of one organisation by its root. */
  const byRoot = (): Map<string, string[]> => {
    const names = new Map<string, string[]>();
    for (const { label } of samples) {
      const root = rootOf(heldAs(label).id);
      names.set(root, [...(names.get(root) ?? []), label]);
    }
    return names;
  };

  // A group that is a root is there before anything else, and no program of another organisation creates it.
  const created = (names: readonly string[]): string[] =>
    names.filter((name) => heldAs(name).id !== rootOf(heldAs(name).id));

  test("is nothing after an update that does what it announced", () => {
    for (const [root, names] of byRoot()) {
      for (const change of [[], created(names)]) {
        const announcement = announce(inventoryOf(root), change);
        expect(brief(verifyWith(announcement, inventoryOf(root).objects))).toEqual(CLEAN);
      }
    }
  });

  describe.each(["leaves alone", "creates"])("of what it %s", (what) => {
    const announceAround = (label: string): Announcement =>
      announce(inventoryAround(label), what === "creates" ? created([label]) : []);

    test.each(samples.map(({ label, kind }) => [label, kind] as const))(
      "is found in every argument of %s, a %s, that no description calls harmless",
      (label) => {
        const one = heldAs(label);
        const announcement = announceAround(label);
        const { objects } = announcement.inventory;
        const failures: unknown[] = [];
        for (const object of objects.filter((each) => isObjectOf(one, each))) {
          for (const { title, named, isHarmless, edit } of editsOf(label, object)) {
            // No earlier version of what the update creates is known.
            if (what === "creates" && named === "etag") continue;
            const edited = objects.map((each) => (each === object ? edit(each) : each));
            const report = verifyWith(announcement, edited);
            const isNamed = object.kind === "RoleBinding" || JSON.stringify(report.findings).includes(named);
            // Access that is less than announced is missing, and no finding.
            const isFound = report.failing > 0 ? isNamed : report.missing.length > 0;
            const isExpected = isHarmless || !isVerified(object.kind) ? report.failing === 0 : isFound;
            if (!isExpected) failures.push({ kind: object.kind, title, named, ...brief(report) });
          }
        }
        expect(failures).toEqual([]);
      },
    );

    test.each(samples.map(({ label, kind }) => [label, kind] as const))(
      "is found in every argument of %s, a %s, that only the state tells",
      (label) => {
        const { kind, inputs } = heldAs(label);
        const announcement = announceAround(label);
        const failures: unknown[] = [];
        for (const [key, field] of Object.entries(specOf(kind).fields)) {
          if (field.inputOnly !== true || field.secret === true || field.returnedAs !== undefined) continue;
          const written = { ...inputs, [key]: otherThan(field, inputs[key]) };
          const update = { name: label, inputs: written, outs: {}, object: (one: InventoryObject) => one };
          const report = verifyWith(stateBefore(announcement, update), announcement.inventory.objects);
          const isFound = report.findings.some(({ message }) => message.includes(`has changed (${key})`));
          if (isFound === (field.harmless !== undefined)) failures.push({ key, ...brief(report) });
        }
        expect(failures).toEqual([]);
      },
    );
  });

  test.each(samples.map(({ label, kind }) => [label, kind] as const))(
    "is missing in every announced argument of %s, a %s, that was not set",
    (label) => {
      const one = heldAs(label);
      const inventory = inventoryAround(label);
      const { objects } = inventory;
      const failures: unknown[] = [];
      const spec = specOf(one.kind);
      for (const object of objects.filter((each) => each.kind === one.kind && isObjectOf(one, each))) {
        for (const { path, field } of leavesOf(spec.fields)) {
          const property = path[0] ?? "";
          const isReplaced = spec.fields[property]?.immutable === true || field.immutable === true;
          if (isReplaced || field.secret === true || path.join(".") === "parentUid") continue;
          const value = memberAt(one.inputs, path) as Json | undefined;
          // Each argument is set in a sample; not every one can be taken away again by an update.
          if (value === undefined) continue;
          // What cannot be taken back is announced only where there is more of it afterwards.
          const isPermanent = spec.capabilities?.delete.length === 0;
          const other = isPermanent && Array.isArray(value) ? ["another"] : otherThan(field, value);
          const before = (inputs: Props): Props => withMember(inputs, path, other) as Props;
          const isReturned = field.inputOnly !== true;
          const updated: Update = {
            name: label,
            inputs: before(one.inputs),
            outs: before(one.outs),
            object: (each) =>
              each === object && isReturned ? { ...each, inputs: before(each.inputs) } : each,
          };
          const announcement = announce(inventory, [], updated);
          const done = verifyWith(announcement, objects);
          const undone = verifyWith(stateBefore(announcement, updated), objects.map(updated.object));
          const isNamed = undone.incomplete.some(
            (line) =>
              line.startsWith("announced, but missing: ") &&
              (object.kind === "RoleBinding" || line.includes(property)),
          );
          if (undone.failing > 0 || !isNamed || done.failing > 0 || !done.complete)
            failures.push({ path, done: brief(done), undone: brief(undone) });
        }
      }
      expect(failures).toEqual([]);
    },
  );

  describe("of what the program keeps secret", () => {
    /** Kinds of which an object may be written, and of which the API does not tell when it was. */
    const lacksVersion = new Set(["GroupAccess"]);
    const decidesAccessAt = (
      fields: ResourceSpec["fields"],
      [key = "", ...inner]: readonly string[],
    ): boolean => {
      const field = fields[key];
      if (field === undefined) return false;
      return field.type === "object" && inner.length > 0
        ? decidesAccessAt(field.fields, inner)
        : decidesAccess(field);
    };
    /** The report of an update that leaves all as it is, where the program keeps one argument secret. */
    const announceSecret = (label: string, path: readonly string[]): Announcement => {
      const one = heldAs(label);
      const hide = (inputs: Props): Props => withMember(inputs, path, SECRET_MASK) as Props;
      return announce(inventoryAround(label), [], undefined, {
        name: label,
        inputs: hide(one.inputs),
        outs: hide(one.outs),
      });
    };
    const secrets = (label: string) =>
      leavesOf(specOf(heldAs(label).kind).fields).filter(
        ({ path, field }) =>
          field.inputOnly !== true &&
          field.secret !== true &&
          path.join(".") !== "parentUid" &&
          memberAt(heldAs(label).inputs, path) !== undefined,
      );

    const WRITTEN_SINCE = { updateTime: AFTER_ALL, details: { etag: "another" } };

    test.each(samples.map(({ label, kind }) => [label, kind] as const))(
      "is nothing as long as nobody writes %s, a %s, and is found in each argument once somebody does",
      (label) => {
        const one = heldAs(label);
        const spec = specOf(one.kind);
        const { objects } = inventoryAround(label);
        const mayUpdate = spec.capabilities?.update !== undefined;
        const failures: unknown[] = [];
        for (const { path, field } of secrets(label)) {
          const announcement = announceSecret(label, path);
          const kept = verifyWith(announcement, objects);
          const isProven = kept.complete && kept.unresolved.length === 0;
          if (kept.failing > 0 || isProven === lacksVersion.has(one.kind))
            failures.push({ path, ...brief(kept), unresolved: kept.unresolved });
          if (!mayUpdate || !decidesAccessAt(spec.fields, path)) continue;
          const edited = objects.map((each): InventoryObject => {
            if (!isObjectOf(one, each)) return each;
            const value = otherThan(field, memberAt(each.inputs, path) as Json | undefined);
            const { details, ...written } = setInput(path, value)(each);
            return { ...written, ...WRITTEN_SINCE, details: { ...details, ...WRITTEN_SINCE.details } };
          });
          const changed = verifyWith(announcement, edited);
          if (changed.failing === 0 && changed.complete) failures.push({ path, ...brief(changed) });
        }
        expect(failures).toEqual([]);
      },
    );
  });

  test("is found as a new object of each kind", () => {
    const found: string[] = [];
    for (const [root] of byRoot()) {
      const { objects } = inventoryOf(root);
      const announcement = announce(inventoryOf(root), []);
      for (const object of objects) {
        if (object.builtIn) continue;
        const spec = specOf(object.kind);
        const { parentUid } = object.inputs;
        const parent = typeof parentUid === "string" ? parentUid : root;
        const uid = `${parent}/${"f".repeat(16)}`;
        const inputs = spec.sharesParentUid ? { ...object.inputs, parentUid: uid } : object.inputs;
        const { failing, findings } = verifyWith(announcement, [...objects, { ...object, uid, inputs }]);
        if (failing > 0 && findings.some((finding) => finding.uid === uid)) found.push(object.kind);
      }
    }
    const verified = specs.map(({ kind }) => kind).filter((kind) => inventoryKinds.includes(kind));
    expect([...new Set(found)].sort()).toEqual(verified.filter(isVerified).sort());
  });

  test("has a description for each argument that decides whether it is compared", () => {
    const kinds = specs.filter(({ kind }) => !isVerified(kind)).map(({ kind }) => kind);
    expect(kinds).toEqual(["RepoReadme", "TermsAcceptance"]);
    const isHarmless = (field: FieldSpec): boolean =>
      field.harmless !== undefined ||
      (field.type === "object" && Object.values<FieldSpec>(field.fields).every(isHarmless));
    const left = specs
      .flatMap(({ kind, fields }) => Object.entries(fields).map(([key, field]) => ({ kind, key, field })))
      .filter(({ key, field }) => !mustBeAnnounced(key, field) && !isHarmless(field));
    expect(left).toEqual([]);
  });
});
