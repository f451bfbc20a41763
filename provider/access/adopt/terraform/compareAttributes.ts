import { printable } from "../../../http/errors";
import { equalForDrift, isSet } from "../../../fields/equal";
import type { FieldSpec } from "../../../fields/fieldSpec";
import { isObject } from "../../../fields/values";
import type { Json, Props } from "../../../fields/values";
import { isServerFilled } from "../../../fields/mergeLive";
import { specOf } from "../../graph/directory";
import { convertValue, unwrapBlock } from "./convert";
import type { AdoptableType, AttributeMapping, Attributes, BlockMapping, LeafMapping } from "./mapping";
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
export type LiveOf = (kind: string) => Props | undefined;

type Fields = Readonly<Record<string, FieldSpec>>;

const NEWER: AttributeMapping = { reason: "this version of the package does not know it" };

function isEmpty(value: Json | undefined): boolean {
  if (value === undefined || value === null || value === "" || value === false || value === 0) return true;
  if (typeof value !== "object") return false;
  return Object.values(value).every(isEmpty);
}

function show(value: Json | undefined): string {
  if (isEmpty(value)) return "not set";
  return typeof value === "string"
    ? JSON.stringify(printable(value, 80))
    : printable(JSON.stringify(value), 120);
}

/** Whether another attribute has the value of the same argument: versions of the provider differ in their spelling. */
function isSetByAnother(
  attributes: Props,
  mappings: Attributes,
  name: string,
  mapping: AttributeMapping,
): boolean {
  return Object.entries(mappings).some(
    ([other, one]) =>
      other !== name &&
      "to" in one &&
      "to" in mapping &&
      one.to === mapping.to &&
      !isEmpty(attributes[other]),
  );
}

class AttributeComparison {
  readonly differences: AttributeDifference[] = [];
  readonly unmapped: UnmappedAttribute[] = [];

  constructor(
    private readonly instance: TerraformInstance,
    private readonly liveOf: LiveOf,
  ) {}

  visit(attributes: Props, mappings: Attributes, fields: Fields, live: Props, path: readonly string[]): void {
    for (const [name, value] of Object.entries(attributes)) {
      const mapping = Object.hasOwn(mappings, name) ? (mappings[name] ?? NEWER) : NEWER;
      const at = [...path, name];
      if (isEmpty(value) && isSetByAnother(attributes, mappings, name, mapping)) continue;
      if ("isComputed" in mapping) continue;
      if ("reason" in mapping) this.addUnmapped(at, value, mapping.reason);
      else if ("members" in mapping) this.visitBlock(value, mapping, fields, live, at);
      else this.visitLeaf(value, mapping, fields, live, at);
    }
  }

  private addUnmapped(path: readonly string[], value: Json | undefined, reason: string): void {
    if (!isEmpty(value)) this.unmapped.push({ attribute: printable(path.join("."), 100), reason });
  }

  private visitBlock(
    value: Json | undefined,
    { to, members }: BlockMapping,
    fields: Fields,
    live: Props,
    path: readonly string[],
  ): void {
    const field = fields[to];
    const inner = unwrapBlock(value);
    const liveInner = live[to];
    if (field?.type !== "object") return;
    if (isObject(inner) && !isEmpty(inner)) {
      this.visit(inner, members, field.fields, isObject(liveInner) ? liveInner : {}, path);
    } else this.compare(field, inner, liveInner, path);
  }

  private visitLeaf(
    value: Json | undefined,
    { to, kind, convert }: LeafMapping,
    fields: Fields,
    live: Props,
    path: readonly string[],
  ): void {
    const field = kind === undefined ? fields[to] : specOf(kind)?.fields[to];
    const siblings = kind === undefined ? live : (this.liveOf(kind) ?? {});
    // The server has its own spelling of some values, and never returns others.
    if (field === undefined || field.secret || field.inputOnly || ("normalized" in field && field.normalized))
      return;
    const wanted = value === undefined || value === null ? value : convertValue(value, field, convert);
    if (!isSet(field, wanted) && isServerFilled(field, siblings, to)) return;
    this.compare(field, wanted, siblings[to], path);
  }

  private compare(
    field: FieldSpec,
    wanted: Json | undefined,
    live: Json | undefined,
    path: readonly string[],
  ): void {
    if (equalForDrift(field, wanted, live)) return;
    const isHidden = this.instance.sensitive?.has(path[0] ?? "") !== false || field.secret === true;
    const [terraform, actual] = isHidden ? ["[secret]", "[secret]"] : [show(wanted), show(live)];
    this.differences.push({ attribute: path.join("."), terraform, live: actual });
  }
}

/** Compares the attributes of an instance with the live object, in the terms of the kind that it becomes. */
export function compareAttributes(
  instance: TerraformInstance,
  mapping: AdoptableType,
  liveOf: LiveOf,
): { readonly differences: readonly AttributeDifference[]; readonly unmapped: readonly UnmappedAttribute[] } {
  const comparison = new AttributeComparison(instance, liveOf);
  const fields = specOf(mapping.kind)?.fields ?? {};
  comparison.visit(instance.attributes, mapping.attributes, fields, liveOf(mapping.kind) ?? {}, []);
  return comparison;
}

/** The kinds of the objects that an instance manages: its own, and those of attributes that are resources here. */
export function kindsOfInstance(
  { attributes }: TerraformInstance,
  mapping: AdoptableType,
): readonly string[] {
  const attributeKinds = Object.entries(mapping.attributes).flatMap(([name, one]) =>
    "kind" in one && one.kind !== undefined && !isEmpty(attributes[name]) ? [one.kind] : [],
  );
  return [mapping.kind, ...attributeKinds];
}
