import type { Emulator } from "../../emulator";
import { kindTables } from "../../emulator/tables";
import { replaceReferences } from "../../scripts/lib/organisation/index.cjs";
import type { Declarations } from "./engine";
import { declared, memberAt, nested, propertyPathOf, samples, surroundings } from "./samples";
import type { FieldCase, Sample } from "./samples";
import { call } from "./wire";

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
      return String((await call(emulator, "POST", address, bodyOf(args)))["uid"]);
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

/** One resource of a state. */
export interface Held {
  readonly kind: string;
  readonly uid: string;
  readonly inputs: Readonly<Record<string, unknown>>;
}

/** Whether a change would take from an identity provider the one of the two that it needs. */
export const lacksOtherProof = (inputs: Readonly<Record<string, unknown>>, property: string): boolean =>
  property === "oidc.pkceEnabled" && memberAt(inputs, "oidc.clientSecret") === undefined;

/** The changes that the samples of a kind have, and that fit a resource as it is. */
function fitting({ kind, inputs }: Held): FieldCase[] {
  const isSynced = inputs["syncConfig"] !== undefined;
  return samples
    .filter((sample) => sample.kind === kind)
    .flatMap(({ fields }) => fields)
    .filter((field) => {
      const property = propertyPathOf(field);
      const isSet = memberAt(inputs, property) !== undefined;
      // What a program leaves out is not its own, but for what decides access: whole accounts here.
      if (!isSet && !(kind === "AccountAssociation" && field.whole)) return false;
      if (field.unseen || field.without !== undefined) return false;
      // Its source owns the rest of it.
      if (isSynced && !property.startsWith("syncConfig")) return false;
      // An audience that the server filled in belongs to its issuer.
      if (property === "claimMatch.issuer" && memberAt(inputs, "claimMatch.audience") === undefined)
        return false;
      return !lacksOtherProof(inputs, property);
    });
}

/**
 * Changes one field of a resource past the package, another one for each `turn`; deletes what cannot be changed.
 * `ids`: what the samples' values refer to. Answers the property, or `deleted`; undefined where nobody can do either.
 */
export async function changeByHand(
  emulator: Emulator,
  held: Held,
  turn: number,
  ids: Readonly<Record<string, string>>,
): Promise<string | undefined> {
  const { kind, uid, inputs } = held;
  if (kind === "TermsAcceptance") return undefined;
  const fields = fitting(held).filter(
    (field) =>
      JSON.stringify(memberAt(inputs, propertyPathOf(field))) !== JSON.stringify(withUids(field.to, ids)),
  );
  const field = fields[turn % fields.length];
  if (field === undefined) {
    await call(emulator, "DELETE", `${addresses[kind] ?? ""}/${uid}`);
    return "deleted";
  }
  const to = withUids("wire" in field ? field.wire : field.to, ids);
  if (kind === "Tag") {
    const { parentUid, ...tag } = inputs;
    await call(emulator, "POST", `/registry/v2/tags/${String(parentUid)}`, { ...tag, [field.path]: to });
  } else {
    const address =
      kind === "RepoReadme" ? `/registry/v2/repos/${uid}/readme` : `${addresses[kind] ?? ""}/${uid}`;
    await call(emulator, "PATCH", `${address}?updateMask=${field.path}`, nested(field.path, to));
  }
  return propertyPathOf(field);
}
