import { startEmulator } from "../../emulator";
import type { Emulator } from "../../emulator";
import { compare } from "../../provider/access/review/compare";
import { groupBy } from "../../provider/fields/values";
import { graphOf, readRoleCapabilities } from "../../provider/access/graph/resolveGrants";
import { withoutRetained } from "../../provider/access/graph/entityKeys";
import type { Inventory } from "../../provider/access/documents/inventory";
import type { AccessGraph } from "../../provider/access/graph/model";
import type { Comparison } from "../../provider/access/review/compare";
import { parsePreview } from "../../provider/access/documents/preview";
import type { Grant, GrantChange } from "../../provider/access/graph/grant";
import { parseStateExport } from "../../provider/access/documents/stateExport";
import { takeInventory } from "../../provider/inventory/takeInventory";
import { clientOf } from "../provider/support/server";
import { Stack, WRITES_STATE_ONCE } from "../support/engine";
import type { Declarations, Run } from "../support/engine";
import { pick, randomOf } from "../../scripts/lib/random.cjs";
import type { Random } from "../../scripts/lib/random.cjs";
import { RandomOrganisation } from "./support/randomOrganisation";
import { grantsAtServer } from "../support/serverGrants";
import type { Tuple } from "../support/serverGrants";
import { builtInRole, call, create } from "../support/wire";

/*
 * What a review foresees must be what the server holds afterwards: random programs, random edits, the real
 * engine. One program holds several organisations side by side, since a run of the engine takes as long for one.
 * REVIEW_ORGANISATIONS=20 REVIEW_ROUNDS=10 judges 200 programs with six edits each, REVIEW_SEED others.
 */
const count = Number(process.env["REVIEW_ORGANISATIONS"] ?? "5");
const rounds = Number(process.env["REVIEW_ROUNDS"] ?? "3");
const seed = Number(process.env["REVIEW_SEED"] ?? "1");

/** The grants of a graph, with the uids that its resources have by now. */
function foreseen({ entities, grants }: AccessGraph, ids: ReadonlyMap<string, string>): Tuple[] {
  const uidOf = (key: string): string => {
    const entity = entities.get(key);
    return entity?.uid ?? ids.get(entity?.urn ?? "") ?? key;
  };
  return grants.map(({ subject, role, group }: Grant) => {
    // A part of a resource: what it is, the resource, what tells it from other parts. What stays beside its successor is whole.
    const isPartOf = subject.key.startsWith("[") && !entities.has(subject.key);
    const [kind, owner = "", label = ""] = isPartOf
      ? (JSON.parse(subject.key) as string[])
      : ["", subject.key];
    const isPart = kind === "externalGroup" || kind === "service";
    const who = [subject.type, uidOf(owner), ...(isPart ? [label] : [])].join(" ");
    return JSON.stringify([who, uidOf(role.key), uidOf(group.key), role.capabilities]);
  });
}

/** The grants before a change, also with what their roles allow after it. */
function withRolesOf({ before, after }: Comparison): AccessGraph {
  const changed = before.grants.flatMap((grant): Grant[] => {
    const capabilities = readRoleCapabilities(after.entities.get(grant.role.key));
    return capabilities === undefined ? [] : [{ ...grant, role: { ...grant.role, capabilities } }];
  });
  return graphOf(before.entities, [...before.grants, ...changed]);
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

/** The organisations as `pulumi-platform inventory` reads them. */
async function inventoryOf(emulator: Emulator, roots: readonly string[]): Promise<Inventory> {
  const taken = await Promise.all(
    roots.map((root) => takeInventory(clientOf(emulator), { root, now: Date.now })),
  );
  const [first] = taken;
  if (first === undefined) throw new Error("there is no organisation to list");
  const objects = new Map(
    taken.flatMap((each) => each.objects.map((object) => [`${object.kind} ${object.uid}`, object] as const)),
  );
  return { ...first, complete: taken.every(({ complete }) => complete), objects: [...objects.values()] };
}

/** What each subject can do in each group by its grants there and above, as texts. */
function effectiveOf({ entities, grants, hierarchy }: AccessGraph): Set<string> {
  const byGroup = groupBy(grants, ({ group }) => [group.key]);
  const groups = [...entities.values()].filter(({ kind }) => kind === "Group");
  return new Set(
    groups.flatMap(({ key }) =>
      hierarchy
        .chain(key)
        .flatMap((above) => byGroup.get(above) ?? [])
        .flatMap(({ subject, role }) =>
          (role.capabilities ?? []).map((can) => JSON.stringify([withoutRetained(subject.key), key, can])),
        ),
    ),
  );
}

/** What subjects can newly do and no change announces, and what grants that are called narrowed newly allow. */
function unannounced({ before, after, grants }: Comparison): string[] {
  const held = effectiveOf(before);
  const isGain = ({ change }: GrantChange): boolean => change === "gained" || change === "widened";
  const bySubject = groupBy(grants.filter(isGain), ({ grant }) => [withoutRetained(grant.subject.key)]);
  const silent = [...effectiveOf(after)].filter((text) => {
    const [subject = "", group = "", can = ""] = JSON.parse(text) as string[];
    if (held.has(text) || before.entities.get(group)?.kind !== "Group") return false;
    const above = after.hierarchy.chain(group);
    const gains = bySubject.get(subject) ?? [];
    return !gains.some(
      ({ grant }) => above.includes(grant.group.key) && grant.role.capabilities?.includes(can) === true,
    );
  });
  const widening = grants
    .filter(({ change }) => change === "narrowed")
    .flatMap(({ grant: { subject, role, group } }) =>
      (role.capabilities ?? []).map((can) => JSON.stringify([withoutRetained(subject.key), group.key, can])),
    )
    .filter((text) => !held.has(text));
  return [...silent, ...widening.map((text) => `narrowed: ${text}`)];
}

/** A resource that owns all bindings of a group may hang on several new resources at once: the review then says so. */
const UNTOLD = /^GroupAccess (\S+): .* is not known yet: it depends on .*, and which of these is unknown$/;

/** What a review says of every preview without --show-sames. */
const OMITTED = /^\d+ unchanged resources are not shown, /;

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
    return !isDue && !OMITTED.test(line);
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

const SECOND_ISSUER = "https://accounts.google.com";

/** Changes that another client makes, each of one object that grants something or says who is granted it. */
const changesByHand: Readonly<
  Record<string, (emulator: Emulator, held: Held, random: Random) => Promise<string>>
> = {
  "revoke a binding": async (emulator, { bindings }, random) => {
    if (bindings.length === 0) return "none";
    const uid = pick(random, bindings);
    await call(emulator, "DELETE", `/iam/v2/roleBindings/${uid}`);
    return uid;
  },
  "bind an identity": async (emulator, { groups, identities, roles }, random) => {
    const group = pick(random, groups);
    const grant = { identityUid: pick(random, identities), roleUid: pick(random, roles) };
    await call(emulator, "POST", `/iam/v2/roleBindings/${group}`, grant);
    return `${grant.identityUid} at ${group}`;
  },
  "change a role": async (emulator, { roles }, random) => {
    const uid = pick(random, roles);
    const capabilities = pick(random, [
      ["CAP_REPO_LIST"],
      ["CAP_REPO_LIST", "CAP_IAM_GROUPS_DELETE"],
      ["CAP_REPO_DELETE", "CAP_IAM_GROUPS_LIST", "CAP_IAM_ROLE_BINDINGS_CREATE"],
    ]);
    await call(emulator, "PATCH", `/iam/v2/roles/${uid}?updateMask=capabilities`, { capabilities });
    return `${uid}: ${capabilities.join(", ")}`;
  },
  "trust another subject": async (emulator, { identities }, random) => {
    const uid = pick(random, identities);
    const claimMatch = { issuer: SECOND_ISSUER, subject: String(Math.floor(random() * 1_000)) };
    await call(emulator, "PATCH", `/iam/v2/identities/${uid}?updateMask=claimMatch`, { claimMatch });
    return uid;
  },
};

/** What an organisation has that somebody could change past its program. */
interface Held {
  readonly groups: readonly string[];
  readonly identities: readonly string[];
  readonly roles: readonly string[];
  readonly bindings: readonly string[];
}

/** @param moving a group that the program replaces: nothing that others made may be in it. */
async function heldIn(emulator: Emulator, root: string, moving: string): Promise<Held> {
  const { objects } = await inventoryOf(emulator, [root]);
  const uids = (kind: string) =>
    objects.filter((one) => one.kind === kind && one.builtIn !== true).map(({ uid }) => uid);
  return {
    groups: uids("Group").filter((uid) => uid !== moving),
    identities: uids("Identity"),
    roles: uids("Role"),
    bindings: uids("RoleBinding"),
  };
}

/** What an update says of its errors, without the one that only says that there are some. */
function errorsOf({ output }: Run): { errors: string[] } {
  const texts = Array.from(
    output.matchAll(/"message":"((?:[^"\\]|\\.)*)"[^}]*"severity":"error"/g),
    ([, text = ""]) => text,
  );
  return { errors: texts.filter((text) => !text.startsWith("update failed")) };
}

/** How the organisations of a run come to differ from what their program was told last. */
interface Setting {
  readonly what: string;
  readonly rounds: number;
  /** Changes past the program before each preview, in each organisation. */
  readonly byHand: number;
  readonly refreshes: (round: number) => boolean;
}

const settings: readonly Setting[] = [
  { what: "nobody else changes anything", rounds, byHand: 0, refreshes: () => false },
  {
    what: "others change access before each preview, which has --refresh in half of the rounds",
    // Four rounds have each pair of --refresh and --show-sames.
    rounds: rounds + 1,
    byHand: 3,
    refreshes: (round) => round % 4 === 1 || round % 4 === 2,
  },
];

test.each(settings)(
  `the server holds after the update what the review predicted, where $what ($rounds rounds of edits)`,
  async ({ rounds: edits, byHand, refreshes: refreshesIn }) => {
    const emulator = await startEmulator();
    const stack = new Stack({ url: emulator.url, token: emulator.token, env: WRITES_STATE_ONCE });
    try {
      await stack.init();
      const builtIn = await builtInRole(emulator, "registry.pull");
      const other = await create(emulator, "/iam/v2/groups", { name: "of nobody" });
      const organisations = Array.from(
        { length: byHand > 0 ? 1 : count },
        (_, i) => new RandomOrganisation(`o${i}`, seed + i, builtIn),
      );
      const exportNow = () => {
        const state = parseStateExport(stack.exported({ showSecrets: true }));
        return { state, ids: new Map(state.resources.map(({ urn, id = "" }) => [urn, id])) };
      };
      const uidIn = (ids: ReadonlyMap<string, string>, name: string) =>
        [...ids].find(([urn]) => urn.endsWith(`::${name}`))?.[1];
      const rootsIn = (ids: ReadonlyMap<string, string>) =>
        organisations.map(({ name }) => uidIn(ids, `${name}-org`));
      let now = exportNow();

      const random = randomOf(seed);
      for (let round = 0; round <= edits; round += 1) {
        const edited: string[] = [];
        for (const { name } of round === 0 ? [] : organisations) {
          for (let i = 0; i < byHand; i += 1) {
            const what = pick(random, Object.keys(changesByHand));
            const [root = "", moving = ""] = ["org", "group-2"].map((own) =>
              uidIn(now.ids, `${name}-${own}`),
            );
            const held = await heldIn(emulator, root, moving);
            edited.push(`${name}: ${what}: ${(await changesByHand[what]?.(emulator, held, random)) ?? ""}`);
          }
        }
        const programs = organisations.map((one) => (round === 0 ? one.declarations() : one.edit()));
        stack.declare(Object.assign({}, ...programs) as Declarations);
        const contexts = organisations.map(
          ({ name, seed: own, lastEdits }) =>
            `organisation ${name} (seed ${own}), round ${round}: ${[...lastEdits, ...edited].join(", ")}`,
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
        const refreshes = refreshesIn(round);
        const options = refreshes ? ["--refresh"] : [];
        const preview = await succeed("preview", "--json", ...options, ...(isWhole ? ["--show-sames"] : []));
        const inventoried = rootsIn(before.ids).filter((uid) => uid !== undefined);
        const comparison = compare({
          preview: parsePreview(preview.stdout),
          ...(isWhole ? {} : { before: before.state }),
          inventory: await inventoryOf(
            emulator,
            inventoried.length === 1 ? inventoried : [other, ...inventoried],
          ),
        });
        const { names, wrong } = untold(comparison, preview.stdout);
        // The inventories of several organisations are one document here, which names the first of them.
        const incomplete = comparison.incomplete.filter(
          (line) => !line.includes(" is outside of the group "),
        );
        expect({ contexts, unresolved: wrong, incomplete }).toEqual({
          contexts,
          unresolved: [],
          incomplete: [],
        });
        expect({ contexts, unannounced: unannounced(comparison) }).toEqual({ contexts, unannounced: [] });
        await compareWithServer(foreseen(comparison.before, before.ids), () => true);

        // A resource with an argument that another client changed too is updated and then fails, so that somebody looks.
        const up = await stack.pulumi([
          "up",
          "--yes",
          "--skip-preview",
          "--json",
          "--continue-on-error",
          ...options,
        ]);
        const isWholeUpdate = up.code === 0;
        if (!isWholeUpdate) {
          const unforeseen = byHand > 0 && !refreshes ? /PP(3405|4004|4010)/ : /^$/;
          const { errors } = errorsOf(up);
          const refused = comparison.changes.flatMap(({ refusedBy, before: one }) =>
            refusedBy !== undefined && one?.uid !== undefined ? [one.uid] : [],
          );
          const isForetold = (text: string): boolean => refused.some((uid) => text.includes(uid));
          if (errors.length === 0) throw new Error([...contexts, up.output.slice(-4_000)].join("\n"));
          expect({
            contexts,
            errors: errors.filter((text) => !isForetold(text) && !unforeseen.test(text)),
          }).toEqual({
            contexts,
            errors: [],
          });
        }
        const { steps } = JSON.parse(preview.stdout) as { steps: { op: string; urn: string }[] };
        if (isWholeUpdate) {
          // An update that failed leaves what it replaced to the next one, and no preview shows that.
          const left = new Set(before.state.pendingDeletes.map(({ urn }) => urn));
          const done = stepsOfUpdate(up.stdout).filter(
            ({ op, urn }) => op !== "delete-replaced" || !left.has(urn),
          );
          expect({ contexts, done: operationsOf(done) }).toEqual({ contexts, done: operationsOf(steps) });
        }
        now = exportNow();
        const open = new Set(names.flatMap((name) => [uidIn(before.ids, name), uidIn(now.ids, name)]));
        const after = foreseen(comparison.after, now.ids);
        // What hangs on a resource that failed stays as it was, and another resource may have changed its role.
        const former = isWholeUpdate ? [] : foreseen(withRolesOf(comparison), now.ids);
        const isOld = new Set(former.filter((tuple) => !after.includes(tuple)));
        const held = new Set(await grantsAtServer(emulator));
        // A service has what its identity has, and one of both may have failed.
        const isMixed = (tuple: Tuple): boolean => !isWholeUpdate && tuple.startsWith('["service ');
        // What an earlier update left to delete goes now, beside what the preview shows.
        const isExact = isWholeUpdate && before.state.pendingDeletes.length === 0;
        await compareWithServer(
          isExact ? after : after.filter((tuple) => held.has(tuple)),
          (tuple) => !open.has(placeOf(tuple)) && !isOld.has(tuple) && !isMixed(tuple),
        );

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
  },
);
