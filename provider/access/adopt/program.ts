import { parentOf } from "../../api/uid";
import type { FieldSpec, Json, Props, ResourceSpec } from "../../engine/spec";
import { compareTexts, isObject } from "../../engine/values";
import { kinds } from "../../resources";
import { Directory, keyOf, specOf } from "../graph/directory";
import type { Inventory, InventoryObject } from "../documents/inventory";
import { declareObject } from "./adoptable";
import {
  Call,
  CompactObject,
  printDeclaration,
  printNamespaceImport,
  printNamedImport,
  Reference,
  printStatement,
} from "./code";
import type { CodeValue } from "./code";
import { resourceName, slug, uidSuffix } from "./names";

/** What is to be adopted. */
export interface AdoptionRequest {
  readonly inventory: Inventory;
  /** Kinds and uids; everything but the organisation itself if not given. */
  readonly only?: readonly string[];
  /** One component for each group directly below the root. */
  readonly byTeam?: boolean;
  /** Names that resources of the stack have already: `Role reader`. */
  readonly usedNames?: ReadonlySet<string>;
  /** Objects that a stack manages already: `Role <uid>`. */
  readonly managedKeys?: ReadonlySet<string>;
}

export interface AdoptedResource {
  readonly kind: string;
  readonly uid: string;
  /** The name that the program gives it. */
  readonly name: string;
  /** What the program declares, references resolved, secrets left out. */
  readonly inputs: Props;
  /** Secrets that the program takes from the stack's configuration. */
  readonly secrets: readonly { readonly path: string; readonly key: string }[];
}

export interface SkippedObject {
  readonly kind: string;
  readonly uid: string;
  readonly name: string;
  readonly reason: string;
}

export interface Adoption {
  /** A TypeScript program. */
  readonly code: string;
  readonly resources: readonly AdoptedResource[];
  readonly skipped: readonly SkippedObject[];
}

interface Candidate {
  readonly spec: ResourceSpec;
  readonly object: InventoryObject;
  readonly inputs: Props;
  readonly secretPaths: readonly string[];
}

const rank: ReadonlyMap<string, number> = new Map(kinds.map(({ spec }, i) => [spec.kind, i]));

/** The kind that owns all of a kind at a group at once. */
function collectionKindOf(kind: string): ResourceSpec | undefined {
  return kinds.find(({ spec }) => spec.listing?.aggregates === kind)?.spec;
}

/** Parents before children, kinds in the registry's order. */
function compareCandidates(a: Candidate, b: Candidate): number {
  return (
    (rank.get(a.spec.kind) ?? 0) - (rank.get(b.spec.kind) ?? 0) ||
    a.object.uid.split("/").length - b.object.uid.split("/").length ||
    compareTexts(a.object.uid, b.object.uid)
  );
}

function camel(name: string): string {
  const word = name.replace(/-+([a-z0-9])/g, (_, letter: string) => letter.toUpperCase());
  return /^[0-9]/.test(word) ? `_${word}` : word;
}

const capital = (word: string): string => word.charAt(0).toUpperCase() + word.slice(1);

/**
 * Names that are unique, and as short as they can be: where several would have one name, all of them tell
 * their parent, and where that is not enough, the end of their uids.
 */
function uniqueNames(
  chosen: readonly Candidate[],
  directory: Directory,
  taken: ReadonlySet<string>,
): Map<Candidate, string> {
  const names = new Map(chosen.map((one) => [one, resourceName(one.spec, one.object, directory)]));
  const longer: ((one: Candidate, name: string) => string)[] = [
    ({ spec, object }, name) => {
      const parent = spec.sharesParentUid ? object.uid : (parentOf(object.uid) ?? "");
      const at = slug(directory.nameOf(parent) ?? "");
      return at === "" || name.endsWith(`-${at}`) ? name : `${name}-${at}`;
    },
    ({ object }, name) => `${name}-${uidSuffix(object.uid)}`,
    ({ object }, name) => `${name.slice(0, -uidSuffix(object.uid).length)}${object.uid.replaceAll("/", "-")}`,
  ];
  for (const lengthen of longer) {
    const holders = new Map<string, number>();
    for (const [{ spec }, name] of names) {
      const key = keyOf(spec.kind, name);
      holders.set(key, (holders.get(key) ?? (taken.has(key) ? 1 : 0)) + 1);
    }
    for (const [one, name] of names) {
      if ((holders.get(keyOf(one.spec.kind, name)) ?? 0) > 1) names.set(one, lengthen(one, name));
    }
  }
  return names;
}

class ProgramGenerator {
  private readonly directory: Directory;
  private readonly skipped: SkippedObject[] = [];
  private readonly candidates: Candidate[] = [];
  /** By the uid that others refer to it by. */
  private readonly byUid = new Map<string, Candidate>();
  private names = new Map<Candidate, string>();
  private readonly variables = new Map<string, string>();
  private readonly usedVariables = new Set<string>(["pulumi", "config"]);
  /** Constants before the resources: their names by uid, and their code. */
  private readonly constants = new Map<string, { readonly reference: Reference; readonly code: string }>();
  private readonly referred = new Set<Candidate>();
  private readonly imports = new Set<string>();
  private usesPulumi = false;
  private usesConfig = false;

  constructor(private readonly request: AdoptionRequest) {
    this.directory = new Directory([request.inventory]);
  }

  generate(): Adoption {
    this.selectCandidates();
    this.candidates.sort(compareCandidates);
    this.names = uniqueNames(this.candidates, this.directory, this.request.usedNames ?? new Set());
    for (const one of this.candidates) {
      if (one.spec.sharesParentUid !== true) this.byUid.set(one.object.uid, one);
    }
    const teams = this.request.byTeam ? this.teams() : new Map<string, string>();
    const statements = this.candidates.map((one) => ({ one, args: this.argsOf(one) }));
    const blocks = statements.map(({ one, args }) => this.statement(one, args, teams));
    return {
      code: this.program(blocks, [...new Set(teams.values())].length === 0 ? [] : this.components()),
      resources: this.candidates.map((one) => ({
        kind: one.spec.kind,
        uid: one.object.uid,
        name: this.nameOf(one),
        inputs: one.inputs,
        secrets: one.secretPaths.map((path) => ({ path, key: this.secretKey(one, path) })),
      })),
      skipped: this.skipped.sort(
        (a, b) => compareTexts(a.kind, b.kind) || compareTexts(a.name, b.name) || compareTexts(a.uid, b.uid),
      ),
    };
  }

  private selectCandidates(): void {
    const { inventory, only, managedKeys: managed } = this.request;
    const now = Date.parse(inventory.takenAt);
    const wanted = only && new Set(only);
    for (const object of inventory.objects) {
      const spec = specOf(object.kind);
      if (spec === undefined || object.builtIn) continue;
      if (wanted && !wanted.has(object.kind) && !wanted.has(object.uid)) continue;
      const leave = (reason: string) =>
        void this.skipped.push({
          kind: object.kind,
          uid: object.uid,
          name: this.directory.describe(spec, object.uid, object.inputs),
          reason,
        });
      const gatherer = collectionKindOf(object.kind);
      if (managed?.has(keyOf(object.kind, object.uid))) {
        leave("the stack manages it already");
      } else if (gatherer && managed?.has(keyOf(gatherer.kind, parentOf(object.uid) ?? ""))) {
        leave(`the stack's ${gatherer.kind} owns all of its group: add it there`);
      } else if (object.uid === inventory.root && !spec.sharesParentUid && !wanted?.has(object.uid)) {
        leave("it is the organisation itself: name its uid with --only if the program is to manage it too");
      } else {
        const declared = declareObject(spec, object, now);
        if ("reason" in declared) leave(declared.reason);
        else {
          const secretPaths = declared.secrets.map(({ path }) => path);
          this.candidates.push({ spec, object, inputs: declared.inputs, secretPaths });
        }
      }
    }
  }

  private nameOf(one: Candidate): string {
    return this.names.get(one) ?? one.object.uid;
  }

  private newVariable(wanted: string, uid: string): string {
    for (
      let name = wanted, digits = 6;
      ;
      name = `${wanted}${uid.replaceAll("/", "").slice(-digits)}`, digits += 4
    ) {
      if (this.usedVariables.has(name)) continue;
      this.usedVariables.add(name);
      return name;
    }
  }

  private variableOf(one: Candidate): string {
    const { kind } = one.spec;
    const key = keyOf(kind, one.object.uid);
    const known = this.variables.get(key);
    if (known !== undefined) return known;
    const variable = this.newVariable(`${camel(this.nameOf(one))}${kind}`, one.object.uid);
    this.variables.set(key, variable);
    return variable;
  }

  /** What stands for a uid in the program. */
  private reference(uid: string): CodeValue {
    const one = this.byUid.get(uid);
    if (one) {
      this.referred.add(one);
      return new Reference(this.variableOf(one), "id");
    }
    const known = this.constants.get(uid);
    if (known) return known.reference;
    const object = this.directory.byUid(uid);
    const name = object?.inputs["name"];
    if (object?.builtIn && typeof name === "string") {
      this.imports.add("getRoleOutput");
      const variable = this.newVariable(`${camel(slug(name) || "builtIn")}Role`, uid);
      const call = new Call(new Reference("getRoleOutput"), [new CompactObject({ name, builtIn: true })]);
      return this.addConstant(uid, new Reference(variable, "uid"), printDeclaration(variable, call));
    }
    if (object === undefined) return uid;
    const isRoot = uid === this.request.inventory.root;
    const wanted = isRoot
      ? "organisation"
      : `${camel(slug(typeof name === "string" ? name : "") || "other")}${object.kind}`;
    const variable = this.newVariable(wanted, uid);
    return this.addConstant(uid, new Reference(variable), printDeclaration(variable, uid));
  }

  private addConstant(uid: string, reference: Reference, code: string): Reference {
    this.constants.set(uid, { reference, code });
    return reference;
  }

  private valueOf(field: FieldSpec, value: Json): CodeValue {
    if (typeof value === "string") {
      const isUid = field.type === "string" && (field.format === "uid" || field.format === "groupUid");
      return isUid ? this.reference(value) : value;
    }
    if (Array.isArray(value) && field.type === "list") {
      return value.map((item) => this.valueOf(field.items, item));
    }
    if (!isObject(value)) return value;
    const entries = Object.entries(value).flatMap(([key, member]): [string, CodeValue][] => {
      const inner =
        field.type === "map" ? field.values : field.type === "object" ? field.fields[key] : undefined;
      if (member === undefined) return [];
      return [[key, inner === undefined ? member : this.valueOf(inner, member)]];
    });
    return Object.fromEntries(entries);
  }

  private secretKey(one: Candidate, path: string): string {
    const last = path.slice(path.lastIndexOf(".") + 1);
    return `${camel(this.nameOf(one))}${capital(last)}`;
  }

  private argsOf(one: Candidate): CodeValue {
    const { spec, inputs, secretPaths } = one;
    let args = this.valueOf({ type: "object", fields: spec.fields }, inputs);
    for (const path of secretPaths) {
      this.usesConfig = true;
      const call = new Call(new Reference("config", "requireSecret"), [this.secretKey(one, path)]);
      args = withMember(args, path.split("."), call);
    }
    return args;
  }

  /** The component that each object belongs to, by uid: that of the group directly below the root. */
  private teams(): Map<string, string> {
    const teams = new Map<string, string>();
    for (const { object } of this.candidates) {
      const team = this.teamOf(object.uid);
      if (team !== undefined) teams.set(object.uid, this.teamVariable(team));
    }
    return teams;
  }

  private teamOf(uid: string): string | undefined {
    const depth = this.request.inventory.root.split("/").length;
    const team = uid
      .split("/")
      .slice(0, depth + 1)
      .join("/");
    return this.directory.find("Group", team) && team !== this.request.inventory.root ? team : undefined;
  }

  private readonly teamVariables = new Map<string, { readonly variable: string; readonly name: string }>();

  private teamVariable(team: string): string {
    const known = this.teamVariables.get(team);
    if (known) return known.variable;
    const base = slug(this.directory.nameOf(team) ?? "") || "team";
    const isTaken = [...this.teamVariables.values()].some(({ name }) => name === base);
    const name = isTaken ? `${base}-${uidSuffix(team)}` : base;
    const variable = this.newVariable(`${camel(base)}Team`, team);
    this.teamVariables.set(team, { variable, name });
    return variable;
  }

  private components(): string[] {
    this.usesPulumi = true;
    return [...this.teamVariables.values()].map(({ variable, name }) => {
      const component = new Reference("pulumi", "ComponentResource");
      return printDeclaration(variable, new Call(component, ["platform:adopted:Team", name], true));
    });
  }

  private statement(one: Candidate, args: CodeValue, teams: ReadonlyMap<string, string>): () => string {
    // Whether anything refers to it is known when all arguments are written.
    return () => {
      const { kind } = one.spec;
      this.imports.add(kind);
      const team = teams.get(one.object.uid);
      const options = team === undefined ? [] : [new CompactObject({ parent: new Reference(team) })];
      const call = new Call(new Reference(kind), [this.nameOf(one), args, ...options], true);
      return this.referred.has(one) ? printDeclaration(this.variableOf(one), call) : printStatement(call);
    };
  }

  private program(blocks: readonly (() => string)[], components: readonly string[]): string {
    const resources = blocks.map((block) => block());
    if (this.usesConfig) this.usesPulumi = true;
    const names = [...this.imports].sort((a, b) => compareTexts(a.toLowerCase(), b.toLowerCase()));
    const constants = [...this.constants.values()].map(({ code }) => code);
    const sections = [
      [
        "// Written by pulumi-platform adopt from what the platform held. It is yours to edit.",
        ...(this.usesPulumi ? [printNamespaceImport("pulumi", "@pulumi/pulumi")] : []),
        ...(names.length === 0 ? [] : [printNamedImport(names, "pulumi-platform")]),
      ].join("\n"),
      ...(this.usesConfig
        ? [printDeclaration("config", new Call(new Reference("pulumi", "Config"), [], true))]
        : []),
      ...(constants.length === 0 ? [] : [constants.join("\n")]),
      ...(components.length === 0 ? [] : [components.join("\n")]),
      ...resources,
    ];
    return `${sections.join("\n\n")}\n`;
  }
}

type CodeObject = Readonly<Record<string, CodeValue | undefined>>;

const isCodeObject = (value: CodeValue | undefined): value is CodeObject =>
  value !== null &&
  typeof value === "object" &&
  !Array.isArray(value) &&
  ![Reference, Call, CompactObject].some((node) => value instanceof node);

function withMember(value: CodeValue | undefined, path: readonly string[], member: CodeValue): CodeValue {
  const [key = "", ...rest] = path;
  const members = isCodeObject(value) ? value : {};
  return { ...members, [key]: rest.length === 0 ? member : withMember(members[key], rest, member) };
}

/**
 * The program that declares what an inventory holds: references in place of uids, the platform's own roles as
 * lookups, secrets from the stack's configuration. The same inventory gives the same bytes. What cannot be
 * declared is listed with the reason.
 */
export function generateProgram(request: AdoptionRequest): Adoption {
  return new ProgramGenerator(request).generate();
}
