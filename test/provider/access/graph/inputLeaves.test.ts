import { compositeKey } from "../../../../provider/access/graph/entityKeys";
import { definersOf, readRoleCapabilities } from "../../../../provider/access/graph/resolveGrants";
import { mapLeaves } from "../../../../provider/access/graph/inputLeaves";
import { referredKindOf } from "../../../../provider/fields/fieldSpec";
import type { Leaf } from "../../../../provider/access/graph/inputLeaves";
import type { Json } from "../../../../provider/fields/values";
import { kinds } from "../../../../provider/kinds";
import { valueOf } from "../../../support/fieldValues";

const leaves = kinds.flatMap(({ spec }) => {
  const inputs = Object.fromEntries(
    Object.entries(spec.fields).map(([key, field]) => [key, valueOf(field, 0)]),
  );
  const found: [path: string, leaf: Leaf][] = [];
  mapLeaves(spec, inputs, (value, leaf) => {
    found.push([`${spec.kind}.${leaf.path}`, leaf]);
    return value;
  });
  return found;
});

it("every reference leads to a kind of this package", () => {
  const names = kinds.map(({ spec }) => spec.kind);
  const referred = leaves.flatMap(([, leaf]) => referredKindOf(leaf.field) ?? []);
  expect(referred.length).toBeGreaterThan(0);
  expect(referred.filter((kind) => !names.includes(kind))).toEqual([]);
});

it("what names a role or an identity leads to no other kind", () => {
  const kindsOf = (name: RegExp) =>
    new Set(leaves.filter(([path]) => name.test(path)).map(([, leaf]) => referredKindOf(leaf.field)));
  expect(kindsOf(/\.roleUids?\b|\.defaultRole$/)).toEqual(new Set(["Role"]));
  expect(kindsOf(/\.identityUids?\b|serviceBindings\./)).toEqual(new Set(["Identity"]));
});

it("a service is who its own identity is, not who another service of the association acts as", () => {
  const inputs = { chainguard: { serviceBindings: { INGESTER: "one", COSIGNED: "other" } } };
  const entities = new Map([["all", { key: "all", kind: "AccountAssociation", inputs, secretPaths: [] }]]);
  const key = compositeKey("service", "all", "COSIGNED");
  const subject = { type: "service", key, name: "COSIGNED", displayName: "", matchesMany: false } as const;
  expect(definersOf(subject, entities)).toEqual(["other"]);
});

it("what a role allows is not known where a part of it was not read", () => {
  const read = (...capabilities: Json[]) => readRoleCapabilities({ inputs: { capabilities } });
  expect(read("CAP_TAG_LIST", "CAP_REPO_LIST")).toEqual(["CAP_REPO_LIST", "CAP_TAG_LIST"]);
  expect(read("CAP_TAG_LIST", "[secret]")).toBeUndefined();
});
