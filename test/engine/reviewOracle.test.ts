import { startEmulator } from "../../emulator";
import type { Emulator } from "../../emulator";
import { compare } from "../../provider/access/review/compare";
import { diffGrants } from "../../provider/access/review/grantChanges";
import { grantKey, GroupHierarchy } from "../../provider/access/graph/groupHierarchy";
import { accessKinds } from "../../provider/access/graph/accessKinds";
import type { Inventory } from "../../provider/access/documents/inventory";
import type { AccessGraph } from "../../provider/access/graph/model";
import type { Comparison } from "../../provider/access/review/comparison";
import { parsePreview } from "../../provider/access/documents/preview";
import type { Grant } from "../../provider/access/graph/grant";
import { parseStateExport } from "../../provider/access/documents/stateExport";
import { listedKinds } from "../../provider/access/documents/inventoryKinds";
import { takeInventory } from "../../provider/inventory/takeInventory";
import { clientOf } from "../support/driftMatrix";
import { Stack, WRITES_STATE_ONCE } from "../support/engine";
import type { Declarations, Run } from "../support/engine";
import { RandomOrganisation } from "../support/randomOrganisation";
import { grantsAtServer } from "../support/serverGrants";
import type { Tuple } from "../support/serverGrants";
import { call } from "../support/wire";

/*
 * What a review foresees must be what the server holds afterwards: random programs, random edits, the real
 * engine. One program holds several organisations side by side, since a run of the engine takes as long for one.
 * REVIEW_ORGANISATIONS=20 REVIEW_ROUNDS=10 judges 200 programs with six edits each, REVIEW_SEED others.
 */
const count = Number(process.env["REVIEW_ORGANISATIONS"] ?? "7");
const rounds = Number(process.env["REVIEW_ROUNDS"] ?? "3");
const seed = Number(process.env["REVIEW_SEED"] ?? "1");

type Wire = Record<string, unknown>;
/** The grants of a graph, with the uids that its resources have by now. */
function foreseen({ entities, grants }: AccessGraph, ids: ReadonlyMap<string, string>): Tuple[] {
  const uidOf = (key: string): string => {
    const entity = entities.get(key);
    return entity?.uid ?? ids.get(entity?.urn ?? "") ?? key;
  };
  return grants.map(({ subject, role, group }: Grant) => {
    // A part of a resource: what it is, the resource, what tells it from other parts.
    const [kind, owner = "", label = ""] = subject.key.startsWith("[")
      ? (JSON.parse(subject.key) as string[])
      : ["", subject.key];
    const isPart = kind === "externalGroup" || kind === "service";
    const who = [subject.type, uidOf(owner), ...(isPart ? [label] : [])].join(" ");
    return JSON.stringify([who, uidOf(role.key), uidOf(group.key), role.capabilities]);
  });
}

const placeOf = (tuple: Tuple): string => (JSON.parse(tuple) as string[])[2] ?? "";

/** What only one side has, of each organisation by itself. */
function differences(
  foretold: readonly Tuple[],
  held: readonly Tuple[],
  contextOf: (place: string) => string,
): Record<string, { readonly onlyForeseen: Tuple[]; readonly onlyHeld: Tuple[] }> {
  const [all, there] = [new Set(foretold), new Set(held)];
  const found: Record<string, { onlyForeseen: Tuple[]; onlyHeld: Tuple[] }> = {};
  for (const tuple of [...new Set([...all, ...there])].sort()) {
    if (all.has(tuple) && there.has(tuple)) continue;
    const own = (found[contextOf(placeOf(tuple))] ??= { onlyForeseen: [], onlyHeld: [] });
    (all.has(tuple) ? own.onlyForeseen : own.onlyHeld).push(tuple);
  }
  return found;
}

/** What grants access in the organisations, and what it refers to: as `pulumi-platform inventory` reads it. */
async function inventoryOf(emulator: Emulator, roots: readonly string[]): Promise<Inventory> {
  const kinds = Object.keys(accessKinds).filter((kind) => listedKinds.includes(kind));
  const taken = await Promise.all(
    roots.map((root) => takeInventory(clientOf(emulator), { root, kinds, now: Date.now })),
  );
  const [first] = taken;
  if (first === undefined) throw new Error("there is no organisation to list");
  const objects = new Map(
    taken.flatMap((each) => each.objects.map((object) => [`${object.kind} ${object.uid}`, object] as const)),
  );
  return { ...first, complete: taken.every(({ complete }) => complete), objects: [...objects.values()] };
}

/** before + gained - lost = after, as sets. */
function balance({ before, after }: Comparison): { computed: string[]; expected: string[] } {
  const keys = (graph: AccessGraph): string[] => {
    const places = new GroupHierarchy(graph.entities);
    return graph.grants.map((grant) => grantKey(grant, places));
  };
  const places = { before: new GroupHierarchy(before.entities), after: new GroupHierarchy(after.entities) };
  const result = new Set(keys(before));
  const { changes } = diffGrants(before, after);
  for (const { change, grant, before: old } of changes) {
    const gone = change === "lost" ? grant : old;
    if (gone) result.delete(grantKey(gone, places.before));
  }
  for (const { change, grant } of changes) {
    if (change !== "lost") result.add(grantKey(grant, places.after));
  }
  return { computed: [...result].sort(), expected: [...new Set(keys(after))].sort() };
}

/** A resource that owns all bindings of a group may hang on several new resources at once: the review then says so. */
const UNTOLD = /^GroupAccess (\S+): .* is not known yet: it depends on .*, and which of these is unknown$/;

/** The resources whose bindings the review says it cannot tell, and what it says besides, or without need. */
function untold({ unresolved, changes }: Comparison, preview: string): { names: string[]; wrong: string[] } {
  const { steps } = JSON.parse(preview) as {
    steps: { urn: string; newState?: { propertyDependencies?: Record<string, string[]> } }[];
  };
  const isNew = new Set(
    changes.filter(({ op }) => op === "create" || op === "replace").map(({ urn }) => urn),
  );
  const names = new Set<string>();
  const wrong = unresolved.filter((line) => {
    const [, name = ""] = UNTOLD.exec(line) ?? [];
    const from = steps
      .filter(({ urn }) => urn.endsWith(`::${name}`))
      .flatMap(({ newState }) => newState?.propertyDependencies?.["bindings"] ?? []);
    const isDue = name !== "" && new Set(from.filter((urn) => isNew.has(urn))).size > 1;
    if (isDue) names.add(name);
    return !isDue;
  });
  return { names: [...names], wrong };
}

/** The halves of a replacement are one operation. */
const OPERATIONS: Readonly<Record<string, string>> = {
  "create-replacement": "replace",
  "delete-replaced": "replace",
};

/** What is done to each resource, by URN; what stays the same is left out. */
function operationsOf(
  steps: readonly { readonly op: string; readonly urn: string }[],
): Record<string, string> {
  const done = steps
    .filter(({ op, urn }) => !["same", "read", "refresh"].includes(op) && !urn.includes("::pulumi:"))
    .map(({ op, urn }) => [urn, OPERATIONS[op] ?? op] as const);
  return Object.fromEntries(done.sort(([a], [b]) => (a < b ? -1 : 1)));
}

/** The steps of an update, from the events that `up --json` prints, a line each. */
function stepsOfUpdate(stdout: string): { op: string; urn: string }[] {
  return stdout
    .split("\n")
    .filter((line) => line.startsWith("{"))
    .flatMap((line) => {
      const { resourcePreEvent: event } = JSON.parse(line) as {
        resourcePreEvent?: { metadata: { op: string; urn: string } };
      };
      return event ? [event.metadata] : [];
    });
}

test(`the server holds after the update what the review predicted (${count} programs, ${rounds} rounds of edits)`, async () => {
  const emulator = await startEmulator();
  const stack = new Stack({ url: emulator.url, token: emulator.token, env: WRITES_STATE_ONCE });
  try {
    await stack.init();
    const body = await call(emulator, "GET", "/iam/v2/roles?name=registry.pull");
    const builtIn = (body["roles"] as Wire[])[0]?.["uid"] as string;
    const other = String((await call(emulator, "POST", "/iam/v2/groups", { name: "of nobody" }))["uid"]);
    const organisations = Array.from(
      { length: count },
      (_, i) => new RandomOrganisation(`o${i}`, seed + i, builtIn),
    );
    const exportNow = async () => {
      const { stdout } = await stack.succeed(["stack", "export", "--show-secrets"]);
      const state = parseStateExport(stdout);
      return { state, ids: new Map(state.resources.map(({ urn, id = "" }) => [urn, id])) };
    };
    const uidIn = (ids: ReadonlyMap<string, string>, name: string) =>
      [...ids].find(([urn]) => urn.endsWith(`::${name}`))?.[1];
    const rootsIn = (ids: ReadonlyMap<string, string>) =>
      organisations.map(({ name }) => uidIn(ids, `${name}-org`));
    let now = await exportNow();

    for (let round = 0; round <= rounds; round += 1) {
      const programs = organisations.map((one) => (round === 0 ? one.declarations() : one.edit()));
      stack.declare(Object.assign({}, ...programs) as Declarations);
      const contexts = organisations.map(
        ({ name, seed: own, lastEdits }) =>
          `organisation ${name} (seed ${own}), round ${round}: ${lastEdits.join(", ")}`,
      );
      const succeed = async (...args: string[]): Promise<Run> => {
        const run = await stack.pulumi(args);
        if (run.code !== 0)
          throw new Error([`pulumi ${args.join(" ")}`, ...contexts, run.output.slice(-4_000)].join("\n"));
        return run;
      };
      const compareWithServer = async (foretold: readonly Tuple[], isJudged: (tuple: Tuple) => boolean) => {
        const roots = rootsIn(now.ids);
        const contextOf = (place: string) =>
          contexts[roots.findIndex((root) => place.split("/")[0] === root)] ??
          `${place}: of no organisation, round ${round}`;
        const held = await grantsAtServer(emulator);
        expect(differences(foretold.filter(isJudged), held.filter(isJudged), contextOf)).toEqual({});
      };

      const before = now;
      const isWhole = round % 2 === 0;
      const preview = await succeed("preview", "--json", ...(isWhole ? ["--show-sames"] : []));
      const comparison = compare({
        preview: parsePreview(preview.stdout),
        ...(isWhole ? {} : { before: before.state }),
        inventory: await inventoryOf(emulator, [
          other,
          ...rootsIn(before.ids).filter((uid) => uid !== undefined),
        ]),
      });
      const { names, wrong } = untold(comparison, preview.stdout);
      expect({ contexts, unresolved: wrong, incomplete: comparison.incomplete }).toEqual({
        contexts,
        unresolved: [],
        incomplete: [],
      });
      const { computed, expected } = balance(comparison);
      expect({ contexts, grants: computed }).toEqual({ contexts, grants: expected });
      await compareWithServer(foreseen(comparison.before, before.ids), () => true);

      const { stdout } = await succeed("up", "--yes", "--skip-preview", "--json");
      const { steps } = JSON.parse(preview.stdout) as { steps: { op: string; urn: string }[] };
      expect({ contexts, done: operationsOf(stepsOfUpdate(stdout)) }).toEqual({
        contexts,
        done: operationsOf(steps),
      });
      now = await exportNow();
      const open = new Set(names.flatMap((name) => [uidIn(before.ids, name), uidIn(now.ids, name)]));
      await compareWithServer(foreseen(comparison.after, now.ids), (tuple) => !open.has(placeOf(tuple)));

      if (round > 0) continue;
      for (const { name } of organisations) {
        for (const [identity, group] of [
          ["identity-0", "org"],
          ["identity-1", "org"],
          ["identity-0", "group-3"],
        ]) {
          await call(emulator, "POST", `/iam/v2/roleBindings/${uidIn(now.ids, `${name}-${group}`) ?? ""}`, {
            identityUid: uidIn(now.ids, `${name}-${identity}`),
            roleUid: builtIn,
          });
        }
      }
    }
  } finally {
    await emulator.close();
    stack.dispose();
  }
});
