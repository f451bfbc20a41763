import type { Emulator } from "../../emulator";
import { call } from "./wire";

type Wire = Record<string, unknown>;

/** Who, what, where, and what the role allows: in the server's uids. */
export type Tuple = string;

export const parentOf = (uid: string): string => uid.slice(0, uid.lastIndexOf("/"));
const uidIn = (value: unknown): string => ((value as Wire | null)?.["uid"] as string | undefined) ?? "";

/** The resources of a collection, as the server holds them. */
export function collectionOf(emulator: Emulator, collection: string): Wire[] {
  return Object.entries(emulator.state()).find(([name]) => name.endsWith(collection))?.[1] ?? [];
}

async function capabilitiesAt(emulator: Emulator): Promise<ReadonlyMap<unknown, readonly string[]>> {
  const found = new Map<unknown, readonly string[]>();
  let token = "";
  do {
    const query = new URLSearchParams({ page_size: "200", page_token: token }).toString();
    const body: Wire = await call(emulator, "GET", `/iam/v2/roles?${query}`);
    for (const role of body["roles"] as Wire[]) {
      found.set(role["uid"], [...(role["capabilities"] as string[])].sort());
    }
    token = (body["nextPageToken"] as string | undefined) ?? "";
  } while (token !== "");
  return found;
}

/** The grants that the server holds, read off its resources without any code of the review. */
export async function grantsAtServer(emulator: Emulator): Promise<Tuple[]> {
  const list = (collection: string): Wire[] => collectionOf(emulator, collection);
  const capabilities = await capabilitiesAt(emulator);
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
    // Without its role, once that is deleted, an invite grants nothing.
    ...list("groupInvites")
      .filter((invite) => uidIn(invite["role"]) !== "")
      .map((invite) =>
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

/** What tells the server who a holder is, by its uid: whoever changes it hands over the holder's grants. */
export function holdersAtServer(emulator: Emulator): ReadonlyMap<string, string> {
  const told = (resource: Wire, keys: readonly string[]): [string, string] => [
    resource["uid"] as string,
    JSON.stringify(keys.map((key) => resource[key])),
  ];
  return new Map([
    ...collectionOf(emulator, "identities").map((one) =>
      told(one, ["claimMatch", "staticKeys", "awsIdentity", "servicePrincipal"]),
    ),
    ...collectionOf(emulator, "identityProviders").map((one) => told(one, ["oidc", "scim"])),
    ...collectionOf(emulator, "groupInvites").map((one) => told(one, ["email", "singleUse"])),
  ]);
}
