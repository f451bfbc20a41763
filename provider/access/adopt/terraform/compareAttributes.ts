import { printable } from "../../../http/errors";
import { equalForDrift, isSet } from "../../../fields/equal";
import type { FieldSpec } from "../../../fields/fieldSpec";
import { isServerFilled } from "../../../fields/mergeLive";
import { isObject } from "../../../fields/values";
import type { Json, Props } from "../../../fields/values";
import { specOf } from "../../graph/directory";
import type { AdoptableType, AttributeMapping, AttributeMappings, LeafMapping } from "./mapping";
import type { TerraformInstance } from "./stateFile";

/** An attribute whose value in Terraform's state is not the live one. Values are as reports show them. */
export interface AttributeDifference {
  readonly attribute: string;
  readonly terraform: string;
  readonly live: string;
}

/** An attribute that has a value in Terraform's state and no counterpart. */
export interface UnmappedAttribute {
  readonly attribute: string;
  readonly reason: string;
}

/** The live arguments of the object of a kind that an instance manages; undefined if it does not exist. */
type LiveOf = (kind: string) => Props | undefined;

type Fields = Readonly<Record<string, FieldSpec>>;

const NEWER: AttributeMapping = { reason: "this version of the package does not know it" };

function isUnset(value: Json | undefined): boolean {
  if (value === undefined || value === null || value === "" || value === false || value === 0) return true;
  if (typeof value !== "object") return false;
  return Object.values(value).every(isUnset);
}

function show(value: Json | undefined): string {
  if (isUnset(value)) return "not set";
  return typeof value === "string"
    ? JSON.stringify(printable(value, 80))
    : printable(JSON.stringify(value), 120);
}

/** Whether another attribute has the value of the same argument: versions of the provider differ in their spelling. */
function isSetByAnother(attributes: Props, mappings: AttributeMappings, name: string): boolean {
  const { [name]: own, ...others } = mappings;
  const target = own && "to" in own ? own.to : undefined;
  return (
    target !== undefined &&
    Object.entries(others).some(
      ([other, one]) => "to" in one && one.to === target && !isUnset(attributes[other]),
    )
  );
}

/** A value of Terraform in the terms of a field: enums with their prefix, numbers as text where the field is text. */
function convertValue(
  value: Json | undefined,
  field: FieldSpec,
  convert: LeafMapping["convert"],
): Json | undefined {
  if (value === undefined || value === null) return value;
  if (convert) return convert(Array.isArray(value) ? value : [value]);
  const isName = field.type === "enum" && typeof value === "string" && value !== "";
  if (isName && !value.startsWith(field.prefix)) return `${field.prefix}${value}`;
  return field.type === "string" && typeof value === "number" ? String(value) : value;
}

/** Compares the attributes of an instance with the live object, in the terms of the kind that it becomes. */
export function compareAttributes(
  { attributes, sensitive }: TerraformInstance,
  { kind, attributes: mappings }: AdoptableType,
  liveOf: LiveOf,
): { readonly differences: readonly AttributeDifference[]; readonly unmapped: readonly UnmappedAttribute[] } {
  const differences: AttributeDifference[] = [];
  const unmapped: UnmappedAttribute[] = [];

  function compare(
    field: FieldSpec,
    wanted: Json | undefined,
    live: Json | undefined,
    path: readonly string[],
  ) {
    if (equalForDrift(field, wanted, live)) return;
    const isHidden = sensitive?.has(path[0] ?? "") !== false || field.secret === true;
    const [terraform, actual] = isHidden ? ["[secret]", "[secret]"] : [show(wanted), show(live)];
    differences.push({ attribute: path.join("."), terraform, live: actual });
  }

  function compareLeaf(
    value: Json | undefined,
    { to, kind: other, convert }: LeafMapping,
    fields: Fields,
    live: Props,
    path: readonly string[],
  ): void {
    const field = other === undefined ? fields[to] : specOf(other)?.fields[to];
    const siblings = other === undefined ? live : (liveOf(other) ?? {});
    // The server has its own spelling of some values, and never returns others.
    if (field === undefined || field.secret || field.inputOnly || ("normalized" in field && field.normalized))
      return;
    const wanted = convertValue(value, field, convert);
    if (isSet(field, wanted) || !isServerFilled(field, siblings, to))
      compare(field, wanted, siblings[to], path);
  }

  function visit(
    values: Props,
    known: AttributeMappings,
    fields: Fields,
    live: Props,
    above: readonly string[],
  ): void {
    for (const [name, value] of Object.entries(values)) {
      const mapping = Object.hasOwn(known, name) ? (known[name] ?? NEWER) : NEWER;
      const path = [...above, name];
      if ("isComputed" in mapping || (isUnset(value) && isSetByAnother(values, known, name))) continue;
      if ("reason" in mapping) {
        if (!isUnset(value))
          unmapped.push({ attribute: printable(path.join("."), 100), reason: mapping.reason });
      } else if ("members" in mapping) {
        const field = fields[mapping.to];
        const liveBlock = live[mapping.to];
        // Older versions of the provider keep a block as a list of one.
        const block = Array.isArray(value) && value.length <= 1 ? value[0] : value;
        if (field?.type !== "object") continue;
        if (isObject(block) && !isUnset(block))
          visit(block, mapping.members, field.fields, isObject(liveBlock) ? liveBlock : {}, path);
        else compare(field, block, liveBlock, path);
      } else compareLeaf(value, mapping, fields, live, path);
    }
  }

  visit(attributes, mappings, specOf(kind)?.fields ?? {}, liveOf(kind) ?? {}, []);
  return { differences, unmapped };
}

/** The kinds of the objects that an instance manages: its own, and those of attributes that are resources here. */
export function kindsOfInstance(
  { attributes }: TerraformInstance,
  mapping: AdoptableType,
): readonly string[] {
  const attributeKinds = Object.entries(mapping.attributes).flatMap(([name, one]) =>
    "kind" in one && one.kind !== undefined && !isUnset(attributes[name]) ? [one.kind] : [],
  );
  return [mapping.kind, ...attributeKinds];
}
