import type { Emulator } from "../../emulator";
import { kindTables } from "../../emulator/tables";
import { replaceReferences } from "../../scripts/lib/organisation/index.cjs";
import type { Declarations } from "./engine";
import { declared, samples, surroundings } from "./samples";
import type { Sample } from "./samples";
import { call, create } from "./wire";

/** Where each kind is written, that is written by POST below its parent. */
export const addresses: Readonly<Record<string, string>> = Object.fromEntries(
  kindTables
    .filter(({ methods }) => methods.includes("create"))
    .map(({ kind, prefix, collection }) => [kind, `${prefix}/${collection}`]),
);

/** The value with `${name}` replaced by uids. */
export function withUids(value: unknown, ids: Readonly<Record<string, string>>): unknown {
  return replaceReferences(value, (name) => ids[name] ?? "") as unknown;
}

/** The body that makes what a program declares; without what the address says. */
export function bodyOf({ parentUid: _, syncConfig, ttl, ...args }: Record<string, unknown>) {
  return {
    ...args,
    ...(syncConfig === undefined ? {} : { sync_config: syncConfig }),
    ...(ttl === undefined ? {} : { ttl: "3600s" }),
  };
}

/** Makes an object as a request of another client would; returns its uid. */
export async function makeObject(
  emulator: Emulator,
  kind: string,
  args: Record<string, unknown>,
): Promise<string> {
  const parent = typeof args["parentUid"] === "string" ? args["parentUid"] : "";
  switch (kind) {
    case "RepoReadme":
      await call(emulator, "PATCH", `/registry/v2/repos/${parent}/readme`, bodyOf(args));
      return parent;
    case "TermsAcceptance":
      await call(emulator, "POST", `/iam/v2/terms/${parent}`, bodyOf(args));
      return parent;
    case "GroupAccess":
      for (const binding of Object.values(args["bindings"] as Record<string, unknown>)) {
        await call(emulator, "POST", `/iam/v2/roleBindings/${parent}`, binding);
      }
      return parent;
    default: {
      const address = [addresses[kind] ?? "", ...(parent === "" ? [] : [parent])].join("/");
      return await create(emulator, address, bodyOf(args));
    }
  }
}

/** A token is the provider's, and nothing that could be listed. */
const listed = samples.filter(({ kind }) => kind !== "ScimToken");

/**
 * Makes samples, and what they refer to, past the package; answers the uids by name. `known`: the uids of what is not made
 * again.
 */
export async function makeSamples(
  emulator: Emulator,
  wanted: readonly Sample[] = listed,
  known: Readonly<Record<string, string>> = {},
): Promise<Record<string, string>> {
  const all: Declarations = {
    ...surroundings,
    ...Object.assign({}, ...wanted.map((sample) => declared(sample.label, sample, sample.args))),
  };
  const ids: Record<string, string> = { ...known };
  for (const [name, { kind, args }] of Object.entries(all)) {
    ids[name] ??= await makeObject(emulator, kind, withUids(args, ids) as Record<string, unknown>);
  }
  return ids;
}
