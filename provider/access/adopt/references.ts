import { parentOf } from "../../text/uid";
import type { FieldSpec } from "../../fields/fieldSpec";
import { isObject } from "../../fields/values";
import type { Json } from "../../fields/values";
import type { Directory } from "../graph/directory";
import type { Candidate } from "./candidates";
import { CallExpression, CompactObject, printDeclaration, VariableReference } from "./code";
import type { CodeValue } from "./code";
import { camelCase, slug } from "./names";
import type { VariableNames } from "./names";

/** The key of the stack's configuration for the uid of the organisation. */
export const ROOT_UID_KEY = "rootUid";

/** Replaces uids by references to what the program declares, looks up or defines as a constant. */
export class References {
  /** By the uid by which others refer to it. */
  private readonly byUid: ReadonlyMap<string, Candidate>;
  private readonly resourceVariables = new Map<Candidate, string>();
  /** The constants of the program: the reference to each by uid, and its code. */
  private readonly constants = new Map<
    string,
    { readonly reference: VariableReference; readonly name: string; readonly value: CodeValue }
  >();
  private usesLookup = false;
  /** Whether the program reads the uid of the organisation from the stack's configuration. */
  usesRootUid = false;

  constructor(
    private readonly root: string,
    private readonly names: ReadonlyMap<Candidate, string>,
    private readonly directory: Directory,
    private readonly variables: VariableNames,
  ) {
    const candidates = [...names.keys()].filter(({ spec }) => spec.sharesParentUid !== true);
    this.byUid = new Map(candidates.map((candidate) => [candidate.object.uid, candidate]));
  }

  /** The functions of the package that the constants call. */
  get lookups(): readonly string[] {
    return this.usesLookup ? ["getRoleOutput"] : [];
  }

  /** @param exported The names that other files use. */
  constantCode(exported: ReadonlySet<string>): string[] {
    return [...this.constants.values()].map(({ name, value }) =>
      printDeclaration(name, value, exported.has(name)),
    );
  }

  /** Finds the variable of a resource; undefined if no other resource refers to it, so that it needs none. */
  findVariable(candidate: Candidate): string | undefined {
    return this.resourceVariables.get(candidate);
  }

  /** An argument with references in place of its uids. */
  resolve(field: FieldSpec, value: Json): CodeValue {
    if (typeof value === "string") {
      const isUid = field.type === "string" && (field.format === "uid" || field.format === "groupUid");
      return isUid ? this.refer(value) : value;
    }
    if (Array.isArray(value) && field.type === "list") {
      return value.map((item) => this.resolve(field.items, item));
    }
    if (!isObject(value)) return value;
    const entries = Object.entries(value).flatMap(([key, member]): [string, CodeValue][] => {
      const inner =
        field.type === "map" ? field.values : field.type === "object" ? field.fields[key] : undefined;
      if (member === undefined) return [];
      return [[key, inner === undefined ? member : this.resolve(inner, member)]];
    });
    return Object.fromEntries(entries);
  }

  private refer(uid: string): CodeValue {
    const candidate = this.byUid.get(uid);
    if (candidate) return new VariableReference(this.resourceVariable(candidate), "id");
    return this.constants.get(uid)?.reference ?? this.createConstant(uid);
  }

  private resourceVariable(candidate: Candidate): string {
    const { spec, object } = candidate;
    const name = camelCase(this.names.get(candidate) ?? object.uid);
    const variable =
      this.resourceVariables.get(candidate) ?? this.variables.create(`${name}${spec.kind}`, object.uid);
    this.resourceVariables.set(candidate, variable);
    return variable;
  }

  private createConstant(uid: string): CodeValue {
    const object = this.directory.byUid(uid);
    if (object === undefined) return uid;
    const name = typeof object.inputs["name"] === "string" ? object.inputs["name"] : undefined;
    if (object.builtIn && name !== undefined) return this.createLookup(uid, name);
    const wanted =
      uid === this.root ? "organisation" : `${camelCase(slug(name ?? "") || "other")}${object.kind}`;
    const variable = this.variables.create(wanted, uid);
    // The programs of init read the same key. The root may also be a group of an organisation, which it does not name.
    const isOrganisation = uid === this.root && parentOf(uid) === undefined;
    this.usesRootUid ||= isOrganisation;
    const value = isOrganisation
      ? new CallExpression(new VariableReference("config", "require"), [ROOT_UID_KEY])
      : uid;
    return this.addConstant(uid, new VariableReference(variable), variable, value);
  }

  private createLookup(uid: string, name: string): VariableReference {
    this.usesLookup = true;
    const variable = this.variables.create(`${camelCase(slug(name) || "builtIn")}Role`, uid);
    const call = new CallExpression(new VariableReference("getRoleOutput"), [
      new CompactObject({ name, builtIn: true }),
    ]);
    return this.addConstant(uid, new VariableReference(variable, "uid"), variable, call);
  }

  private addConstant(
    uid: string,
    reference: VariableReference,
    name: string,
    value: CodeValue,
  ): VariableReference {
    this.constants.set(uid, { reference, name, value });
    return reference;
  }
}
