import { startEmulator } from "../../emulator";
import type { Emulator } from "../../emulator";
import { compare } from "../../provider/access/compare";
import { diffGrants, grantKey } from "../../provider/access/grantChanges";
import { Places } from "../../provider/access/grants";
import type { Inventory, InventoryObject } from "../../provider/access/inventory";
import type { Comparison, World } from "../../provider/access/model";
import { parsePreview } from "../../provider/access/preview";
import type { Grant } from "../../provider/access/report";
import { parseStateExport } from "../../provider/access/stateExport";
import { Stack } from "../support/engine";
import type { Declarations } from "../support/engine";
import { RandomOrganisation } from "../support/randomOrganisation";
import { call } from "../support/wire";

/*
 * What a review foresees must be what the server holds afterwards: random programs, random edits, the real
 * engine. REVIEW_ROUNDS=200 runs as many rounds of six edits, REVIEW_SEED others.
 */
const rounds = Number(process.env["REVIEW_ROUNDS"] ?? "3");
const seed = Number(process.env["REVIEW_SEED"] ?? "1");

type Wire = Record<string, unknown>;
/** Who, what, where, and what the role allows: in the server's uids. */
type Tuple = string;

const parentOf = (uid: string): string => uid.slice(0, uid.lastIndexOf("/"));
const uidIn = (value: unknown): string => ((value as Wire | null)?.["uid"] as string | undefined) ?? "";

/** The grants that the server holds, read off its resources without any code of the review. */
async function grantsAtServer(emulator: Emulator): Promise<Tuple[]> {
  const state = emulator.state();
  const list = (collection: string): Wire[] =>
    Object.entries(state).find(([name]) => name.endsWith(collection))?.[1] ?? [];
  const body = await call(emulator, "GET", "/iam/v2/roles?page_size=200");
  const capabilities = new Map(
    (body["roles"] as Wire[]).map((role) => [role["uid"], [...(role["capabilities"] as string[])].sort()]),
  );
  const tuple = (who: string, role: unknown, group: unknown): Tuple =>
    JSON.stringify([who, role, group, capabilities.get(role)]);
  const held = list("roleBindings").map((binding) => ({
    identity: uidIn(binding["identity"]),
    role: uidIn(binding["role"]),
    group: parentOf(binding["uid"] as string),
  }));
  const services = list("accountAssociations").flatMap((association) => {
    const chainguard = association["chainguard"] as { serviceBindings?: Record<string, string> } | null;
    return Object.entries(chainguard?.serviceBindings ?? {}).flatMap(([service, identity]) =>
      held
        .filter((one) => one.identity === identity)
        .map(({ role, group }) => tuple(`service ${String(association["uid"])} ${service}`, role, group)),
    );
  });
  return [
    ...held.map(({ identity, role, group }) => tuple(`identity ${identity}`, role, group)),
    ...list("groupInvites").map((invite) =>
      tuple(`invite ${String(invite["uid"])}`, uidIn(invite["role"]), parentOf(invite["uid"] as string)),
    ),
    ...list("identityProviders").map((provider) => {
      const uid = provider["uid"] as string;
      return tuple(`identityProvider ${uid}`, provider["defaultRole"], parentOf(uid));
    }),
    ...list("externalGroupRoleMappings").map((mapping) =>
      tuple(
        `externalGroup ${parentOf(mapping["uid"] as string)} ${String(mapping["externalGroupId"])}`,
        mapping["roleUid"],
        mapping["scope"],
      ),
    ),
    ...services,
  ];
}

/** The grants of a world, with the uids that its resources have by now. */
function foreseen({ entities, grants }: World, ids: ReadonlyMap<string, string>): Tuple[] {
  const uidOf = (key: string): string => {
    const entity = entities.get(key);
    return ids.get(entity?.urn ?? "") ?? entity?.uid ?? key;
  };
  return grants.map(({ subject, role, group }: Grant) => {
    const [owner = "", label] = subject.key.split("#");
    const who = [subject.type, uidOf(owner), ...(label === undefined ? [] : [label])].join(" ");
    return JSON.stringify([who, uidOf(role.key), uidOf(group.key), role.capabilities]);
  });
}

const asSet = (tuples: readonly Tuple[]): Tuple[] => [...new Set(tuples)].sort();

/** The bindings that were made by hand, and the built-in roles: what only an inventory tells. */
async function inventoryOf(emulator: Emulator, root: string): Promise<Inventory> {
  const body = await call(emulator, "GET", "/iam/v2/roles?page_size=200");
  const roles = (body["roles"] as Wire[]).map((role): InventoryObject => ({
    kind: "Role",
    uid: role["uid"] as string,
    inputs: { name: role["name"] as string, capabilities: role["capabilities"] as string[] },
    ...(String(role["uid"]).includes("/") ? {} : { builtIn: true as const }),
  }));
  const bindings = Object.entries(emulator.state())
    .filter(([name]) => name.endsWith("roleBindings"))
    .flatMap(([, list]) => list)
    .map((binding): InventoryObject => {
      const uid = binding["uid"] as string;
      const inputs = {
        parentUid: parentOf(uid),
        identityUid: uidIn(binding["identity"]),
        roleUid: uidIn(binding["role"]),
      };
      return { kind: "RoleBinding", uid, inputs };
    });
  return {
    schemaVersion: 1,
    root,
    takenAt: "2026-01-01T00:00:00Z",
    complete: true,
    refused: [],
    kinds: ["Role", "RoleBinding"],
    objects: [...roles, ...bindings],
  };
}

/** before + gained - lost = after, as sets. */
function balance({ before, after }: Comparison): { computed: string[]; expected: string[] } {
  const keys = (world: World): string[] => {
    const places = new Places(world.entities);
    return world.grants.map((grant) => grantKey(grant, places));
  };
  const places = { before: new Places(before.entities), after: new Places(after.entities) };
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

test(
  `what a review foresees is what the server holds after the update (${rounds} rounds of edits)`,
  async () => {
    const emulator = await startEmulator();
    const stack = new Stack(emulator);
    try {
      await stack.init();
      const body = await call(emulator, "GET", "/iam/v2/roles?name=registry.pull");
      const builtIn = (body["roles"] as Wire[])[0]?.["uid"] as string;
      const organisation = new RandomOrganisation(seed, builtIn);
      const idsNow = async () =>
        new Map((await stack.resources()).map(({ urn, id }): [string, string] => [urn, id ?? ""]));
      let declarations: Declarations = organisation.declarations();
      let byHand = false;

      for (let round = 0; round <= rounds; round += 1) {
        stack.declare(declarations);
        const context = `seed ${seed}, round ${round}: ${organisation.lastEdits.join(", ")}`;
        const ids = await idsNow();
        const withInventory = round % 2 === 0;
        const root = [...ids].find(([urn]) => urn.endsWith("::org"))?.[1] ?? "0".repeat(40);
        const inventory = await inventoryOf(emulator, root);
        const exported = await stack.succeed(["stack", "export"]);
        const preview = await stack.succeed([
          "preview",
          "--json",
          ...(withInventory ? ["--show-sames"] : []),
        ]);
        const comparison = compare({
          preview: parsePreview(preview.stdout),
          ...(withInventory ? {} : { before: parseStateExport(exported.stdout) }),
          inventory,
        });
        expect({ context, unresolved: comparison.unresolved, incomplete: comparison.incomplete }).toEqual({
          context,
          unresolved: [],
          incomplete: [],
        });
        const { computed, expected } = balance(comparison);
        expect({ context, grants: computed }).toEqual({ context, grants: expected });
        const server = async () => ({ context, grants: asSet(await grantsAtServer(emulator)) });
        expect({ context, grants: asSet(foreseen(comparison.before, ids)) }).toEqual(await server());
        await stack.up();
        expect({ context, grants: asSet(foreseen(comparison.after, await idsNow())) }).toEqual(
          await server(),
        );

        if (!byHand) {
          byHand = true;
          const after = await idsNow();
          const uidOf = (name: string) => [...after].find(([urn]) => urn.endsWith(`::${name}`))?.[1] ?? "";
          for (const identity of ["identity-0", "identity-1"]) {
            await call(emulator, "POST", `/iam/v2/roleBindings/${uidOf("org")}`, {
              identityUid: uidOf(identity),
              roleUid: builtIn,
            });
          }
        }
        declarations = organisation.edit();
      }
    } finally {
      await emulator.close();
      stack.dispose();
    }
  },
  60_000 + rounds * 30_000,
);
