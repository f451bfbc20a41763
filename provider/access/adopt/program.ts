import type { FieldSpec } from "../../fields/fieldSpec";
import { objectKey } from "../../fields/resourceSpec";
import type { ResourceSpec } from "../../fields/resourceSpec";
import { SECRET_MASK, capitalize, compareTexts, isObject } from "../../fields/values";
import type { Json, Props } from "../../fields/values";
import { innerField, memberPath } from "../../fields/walk";
import { parentUidOf } from "../../fields/wire";
import { withoutTrailing } from "../../text/plain";
import { parentOf } from "../../text/uid";
import type { InventoryObject } from "../documents/inventory";
import { Directory } from "../graph/directory";
import { isReference } from "../graph/inputLeaves";
import { selectCandidates, withMember } from "./state";
import type { Candidate, CandidateRequest, SkippedObject } from "./state";
import {
  CallExpression,
  CompactObject,
  VariableReference,
  printBareImport,
  printDeclaration,
  printNamedImport,
  printNamespaceImport,
  printStatement,
  variablesIn,
} from "./code";
import type { CodeValue } from "./code";

/** What to adopt, and how the program declares it. */
interface AdoptionRequest extends CandidateRequest {
  /** The folder for a file and a component of each group directly below the root; without it, there is one file. */
  readonly teamFolder?: string;
  /** Whether the program uses the native plugin. */
  readonly native?: boolean;
  /** Names that resources of the stack have already: `Role reader`. */
  readonly usedNames?: ReadonlySet<string>;
}

export interface AdoptedResource {
  readonly kind: string;
  readonly uid: string;
  /** The name that the program gives it. */
  readonly name: string;
  /** What the program declares, references resolved, secrets left out. */
  readonly inputs: Props;
  /** Secrets that the program reads from the stack's configuration. */
  readonly secrets: readonly { readonly path: string; readonly key: string }[];
}

export interface Adoption {
  /** A TypeScript program: its main file. */
  readonly code: string;
  /** The files that the main one imports, by their paths beside it. */
  readonly files: Readonly<Record<string, string>>;
  readonly resources: readonly AdoptedResource[];
  readonly skipped: readonly SkippedObject[];
  /** Settings that are no secret, and that the program reads from the stack's configuration. */
  readonly settings: Readonly<Record<string, string>>;
}

const HEADER = "// Written by pulumi-platform adopt from what the platform held. It is yours to edit.";

/** In the order in which the recommended lint rules want the names of an import. */
const sortNames = (names: readonly string[]): string[] =>
  [...names].sort((a, b) => compareTexts(a.toLowerCase(), b.toLowerCase()));

/** A resource of the program, before it is printed. */
interface Statement {
  readonly candidate: Candidate;
  readonly call: CallExpression;
  readonly team: Team | undefined;
}

class ProgramGenerator {
  private readonly names: ReadonlyMap<Candidate, string>;
  private readonly references: References;
  private readonly teams: Teams | undefined;

  constructor(
    private readonly request: AdoptionRequest,
    private readonly candidates: readonly Candidate[],
    directory: Directory,
  ) {
    const { inventory, teamFolder, usedNames, names } = request;
    const variables = new VariableNames(["pulumi", "config"]);
    this.names = uniqueNames(candidates, directory, usedNames ?? new Set(), names);
    this.references = new References(inventory.root, this.names, directory, variables);
    this.teams = teamFolder === undefined ? undefined : new Teams(inventory.root, directory, variables);
  }

  generate(): Omit<Adoption, "skipped"> {
    const teams = this.candidates.map(({ object }) => this.teams?.teamOf(object.uid));
    // A resource has a variable only if an argument refers to it, so all arguments are generated before one is printed.
    const statements = this.candidates.map((candidate, i) => this.generateStatement(candidate, teams[i]));
    return {
      ...this.printFiles(statements),
      resources: this.candidates.map((candidate) => this.describe(candidate)),
      settings: this.references.usesRootUid ? { [ROOT_UID_KEY]: this.request.inventory.root } : {},
    };
  }

  private describe(candidate: Candidate): AdoptedResource {
    const { spec, object, inputs, secretPaths } = candidate;
    return {
      kind: spec.kind,
      uid: object.uid,
      name: this.nameOf(candidate),
      inputs,
      secrets: secretPaths.map((path) => ({ path, key: this.configKeyOf(candidate, path) })),
    };
  }

  private nameOf(candidate: Candidate): string {
    return this.names.get(candidate) ?? candidate.object.uid;
  }

  private configKeyOf(candidate: Candidate, path: string): string {
    const property = path.slice(path.lastIndexOf(".") + 1);
    return `${camelCase(this.nameOf(candidate))}${capitalize(property)}`;
  }

  private generateArguments(candidate: Candidate): CodeValue {
    const { spec, inputs, secretPaths } = candidate;
    const requireSecret = new VariableReference("config", "requireSecret");
    const secrets = new Map(
      secretPaths.map((path) => [
        path,
        new CallExpression(requireSecret, [this.configKeyOf(candidate, path)]),
      ]),
    );
    const masked = secretPaths.reduce((all, path) => withMember(all, path.split("."), SECRET_MASK), inputs);
    return this.references.resolve({ type: "object", fields: spec.fields }, masked, secrets);
  }

  private generateStatement(candidate: Candidate, team: Team | undefined): Statement {
    const options = new CompactObject({
      ...(team !== undefined && { parent: new VariableReference(team.variable) }),
      // As pulumi import writes it: nothing else made these objects, so a slip must not delete them.
      protect: true,
    });
    const args = [this.nameOf(candidate), this.generateArguments(candidate), options];
    return {
      candidate,
      call: new CallExpression(new VariableReference(candidate.spec.kind), args, true),
      team,
    };
  }

  private variableOf({ candidate }: Statement): string | undefined {
    return this.references.findVariable(candidate);
  }

  /**
   * The statements that belong into the file of all teams: those of no team, those that another file refers to, and what
   * these refer to. So no two files refer to each other.
   */
  private selectShared(statements: readonly Statement[]): ReadonlySet<Statement> {
    const owners = new Map(
      statements.flatMap((statement) => {
        const variable = this.variableOf(statement);
        return variable === undefined ? [] : [[variable, statement] as const];
      }),
    );
    const shared = new Set(statements.filter(({ team }) => team === undefined));
    const share = (statement: Statement): void => {
      for (const variable of variablesIn(statement.call)) {
        const used = owners.get(variable);
        if (used === undefined || shared.has(used)) continue;
        if (!shared.has(statement) && used.team === statement.team) continue;
        shared.add(used);
        share(used);
      }
    };
    statements.forEach(share);
    return shared;
  }

  private printFiles(statements: readonly Statement[]): Pick<Adoption, "code" | "files"> {
    const { teamFolder } = this.request;
    if (teamFolder === undefined) return { code: this.printShared(statements, new Set()), files: {} };
    const shared = this.selectShared(statements);
    const own = statements.filter((statement) => !shared.has(statement));
    const teams = [...new Set(own.flatMap(({ team }) => team ?? []))];
    const used = new Set(own.flatMap(({ call }) => variablesIn(call)));
    const files = Object.fromEntries([
      [
        SHARED_FILE,
        this.printShared(
          statements.filter((statement) => shared.has(statement)),
          used,
        ),
      ] as const,
      ...teams.map((team) => {
        const ofTeam = own.filter((statement) => statement.team === team);
        return [team.name, this.printTeam(ofTeam)] as const;
      }),
    ]);
    const imports = Object.keys(files).map((name) => printBareImport(`./${teamFolder}/${name}`));
    return {
      code: `${[HEADER, ...imports].join("\n")}\n`,
      files: Object.fromEntries(
        Object.entries(files).map(([name, text]) => [`${teamFolder}/${name}.ts`, text]),
      ),
    };
  }

  private printResource(statement: Statement, exported: ReadonlySet<string>): string {
    const variable = this.variableOf(statement);
    return variable === undefined
      ? printStatement(statement.call)
      : printDeclaration(variable, statement.call, exported.has(variable));
  }

  private printImport(names: readonly string[]): string {
    return printNamedImport(names, this.request.native ? "pulumi-platform/native" : "pulumi-platform");
  }

  /** The file of a team, which imports what the shared file declares. */
  private printTeam(statements: readonly Statement[]): string {
    const kinds = [...new Set(statements.map(({ candidate }) => candidate.spec.kind))].sort();
    const own = new Set<string | undefined>(statements.map((statement) => this.variableOf(statement)));
    const used = new Set(statements.flatMap(({ call }) => variablesIn(call)));
    const imported = [...used].filter((name) => !own.has(name) && !kinds.includes(name));
    const sections = [
      [
        HEADER,
        this.printImport(kinds),
        ...(imported.length === 0 ? [] : [printNamedImport(sortNames(imported), `./${SHARED_FILE}`)]),
      ].join("\n"),
      ...statements.map((statement) => this.printResource(statement, new Set())),
    ];
    return `${sections.join("\n\n")}\n`;
  }

  /** A whole program, or the part of it that other files use. */
  private printShared(statements: readonly Statement[], exported: ReadonlySet<string>): string {
    const usesConfig =
      this.references.usesRootUid || this.candidates.some(({ secretPaths }) => secretPaths.length > 0);
    const components = this.teams?.declarations(exported) ?? [];
    const usesPulumi = usesConfig || components.length > 0;
    const kinds = statements.map(({ candidate }) => candidate.spec.kind);
    const names = sortNames([...new Set([...kinds, ...this.references.lookups])]);
    const constants = this.references.constantCode(exported);
    const config = new CallExpression(new VariableReference("pulumi", "Config"), [], true);
    const sections = [
      [
        HEADER,
        ...(usesPulumi ? [printNamespaceImport("pulumi", "@pulumi/pulumi")] : []),
        ...(names.length === 0 ? [] : [this.printImport(names)]),
      ].join("\n"),
      ...(usesConfig ? [printDeclaration("config", config, exported.has("config"))] : []),
      ...(constants.length === 0 ? [] : [constants.join("\n")]),
      ...(components.length === 0 ? [] : [components.join("\n")]),
      ...statements.map((statement) => this.printResource(statement, exported)),
    ];
    return `${sections.join("\n\n")}\n`;
  }
}

/**
 * Generates the program that declares what an inventory contains: references in place of uids, the platform's own
 * roles as lookups, secrets from the stack's configuration. The same inventory gives the same bytes.
 */
export function generateProgram(request: AdoptionRequest): Adoption {
  const directory = new Directory([request.inventory]);
  const { candidates, skipped } = selectCandidates(request, directory);
  return { ...new ProgramGenerator(request, candidates, directory).generate(), skipped };
}

/** The key of the stack's configuration for the uid of the organisation. */
const ROOT_UID_KEY = "rootUid";

/** Replaces uids by references to what the program declares, looks up or defines as a constant. */
class References {
  /** By the uid by which others refer to it. */
  private readonly byUid: ReadonlyMap<string, Candidate>;
  private readonly resourceVariables = new Map<Candidate, string>();
  /** The constants of the program: the reference to each by uid, and its code. */
  private readonly constants = new Map<
    string,
    { readonly reference: VariableReference; readonly name: string; readonly value: CodeValue }
  >();
  /** The functions of the package that the constants call. */
  readonly lookups = new Set<string>();
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

  /** An argument with references in place of its uids. @param secrets What reads each secret, by its path. */
  resolve(field: FieldSpec, value: Json, secrets: ReadonlyMap<string, CodeValue>, path = ""): CodeValue {
    const secret = secrets.get(path);
    if (secret !== undefined) return secret;
    if (typeof value === "string") {
      return isReference({ field }) ? this.refer(value) : value;
    }
    if (Array.isArray(value) && field.type === "list") {
      return value.map((item) => this.resolve(field.items, item, secrets, `${path}[]`));
    }
    if (!isObject(value)) return value;
    const entries = Object.entries(value).flatMap(([key, member]): [string, CodeValue][] => {
      const inner = innerField(field, key);
      if (member === undefined) return [];
      const resolved = inner && this.resolve(inner, member, secrets, memberPath(path, key));
      return [[key, resolved ?? member]];
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
    // The programs of init read the same key. The root may also be a group of an organisation, which it does not name.
    const isOrganisation = uid === this.root && parentOf(uid) === undefined;
    const wanted = isOrganisation
      ? "organisation"
      : `${camelCase(slug(name ?? "") || "other")}${object.kind}`;
    const variable = this.variables.create(wanted, uid);
    this.usesRootUid ||= isOrganisation;
    const value = isOrganisation
      ? new CallExpression(new VariableReference("config", "require"), [ROOT_UID_KEY])
      : uid;
    const reference = new VariableReference(variable);
    this.constants.set(uid, { reference, name: variable, value });
    return reference;
  }

  private createLookup(uid: string, name: string): VariableReference {
    this.lookups.add("getRoleOutput");
    const variable = this.variables.create(`${camelCase(slug(name) || "builtIn")}Role`, uid);
    const value = new CallExpression(new VariableReference("getRoleOutput"), [
      new CompactObject({ name, builtIn: true }),
    ]);
    const reference = new VariableReference(variable, "uid");
    this.constants.set(uid, { reference, name: variable, value });
    return reference;
  }
}

interface Team {
  readonly variable: string;
  readonly name: string;
}

/** The file of what belongs to no team, and of what several teams use. */
const SHARED_FILE = "shared";

/** The components of a program: one for each group directly below the root that something belongs to. */
class Teams {
  private readonly byGroup = new Map<string, Team>();

  constructor(
    private readonly root: string,
    private readonly directory: Directory,
    private readonly variables: VariableNames,
  ) {}

  /** The team that an object belongs to; undefined for what lies at the root. */
  teamOf(uid: string): Team | undefined {
    const depth = this.root.split("/").length;
    const group = uid
      .split("/")
      .slice(0, depth + 1)
      .join("/");
    if (group === this.root || this.directory.find("Group", group) === undefined) return undefined;
    const team = this.byGroup.get(group) ?? this.create(group);
    this.byGroup.set(group, team);
    return team;
  }

  /** @param exported The names that other files use. */
  declarations(exported: ReadonlySet<string>): string[] {
    return [...this.byGroup.values()].map(({ variable, name }) => {
      const component = new VariableReference("pulumi", "ComponentResource");
      const call = new CallExpression(component, ["platform:adopted:Team", name], true);
      return printDeclaration(variable, call, exported.has(variable));
    });
  }

  private create(group: string): Team {
    const base = slug(this.directory.nameOf(group) ?? "") || "team";
    const isUsed = base === SHARED_FILE || [...this.byGroup.values()].some(({ name }) => name === base);
    const name = isUsed ? `${base}-${uidSuffix(group)}` : base;
    return { variable: this.variables.create(`${camelCase(base)}Team`, group), name };
  }
}

const MAX_LENGTH = 50;

/** An object that a program gives a name. */
type NamedObject = Pick<Candidate, "spec" | "object">;

/** Lower-case words joined by dashes; empty where nothing is left. */
export function slug(text: string): string {
  const words = text
    .normalize("NFKD")
    .toLowerCase()
    .split(/[^a-z0-9]+/);
  return withoutTrailing(words.join("-").slice(0, MAX_LENGTH), "-").replace(/^-/, "");
}

/** `ci-deployer` as an identifier: `ciDeployer`. */
function camelCase(name: string): string {
  const word = name.replace(/-([a-z0-9])/g, (_, letter: string) => letter.toUpperCase());
  return /^[0-9]/.test(word) ? `_${word}` : word;
}

/** The last digits of a uid, by which people distinguish objects. */
const uidSuffix = (uid: string): string => uid.slice(-6);

const readParentUid = ({ spec, object }: NamedObject): string => parentUidOf(spec, object.uid) ?? "";

/** The words that name an object: its own name, or the names of the objects that it joins. */
function nameWords(named: NamedObject, directory: Directory): string[] {
  const { spec, object } = named;
  const { name } = object.inputs;
  if (typeof name === "string" && slug(name) !== "") return [name];
  const joined = Object.entries(spec.fields).flatMap(([key, field]) => {
    const value = object.inputs[key];
    if (field.path || !field.required || field.type !== "string" || typeof value !== "string") return [];
    if (isReference({ field })) return [directory.nameOf(value) ?? uidSuffix(value)];
    return value.length <= MAX_LENGTH ? [value.replace(/^https?:\/\//, "")] : [];
  });
  const parentName = directory.nameOf(readParentUid(named));
  return [...joined, ...(parentName === undefined ? [] : [parentName])];
}

/** A readable name for an object, not unique: `ci-deployer`, `ada-owner-payments`. */
export function resourceName(spec: ResourceSpec, object: InventoryObject, directory: Directory): string {
  const readable = nameWords({ spec, object }, directory)
    .map(slug)
    .filter((word) => word !== "");
  return readable.length === 0 ? `${slug(spec.noun)}-${uidSuffix(object.uid)}` : readable.join("-");
}

/** Ways to make a name longer, tried in this order: the parent's name, the end of the uid, the whole uid. */
function lengtheners(directory: Directory): ((named: NamedObject, name: string) => string)[] {
  return [
    (named, name) => {
      const parentName = slug(directory.nameOf(readParentUid(named)) ?? "");
      return parentName === "" || name.endsWith(`-${parentName}`) ? name : `${name}-${parentName}`;
    },
    ({ object }, name) => `${name}-${uidSuffix(object.uid)}`,
    ({ object }, name) => `${name.slice(0, -uidSuffix(object.uid).length)}${object.uid.replaceAll("/", "-")}`,
  ];
}

/**
 * Names that are unique for each kind, and as short as they can be: all objects that would share a name get a
 * longer one.
 *
 * @param usedNames keys of kind and name that resources of the stack have already.
 * @param wantedNames names by key of kind and uid, in place of those made of the objects.
 */
function uniqueNames(
  objects: readonly Candidate[],
  directory: Directory,
  usedNames: ReadonlySet<string>,
  wantedNames?: ReadonlyMap<string, string>,
): Map<Candidate, string> {
  const firstName = ({ spec, object }: Candidate): string =>
    wantedNames?.get(objectKey(spec.kind, object.uid)) || resourceName(spec, object, directory);
  const names = new Map(objects.map((named) => [named, firstName(named)]));
  for (const lengthen of lengtheners(directory)) {
    const counts = new Map<string, number>();
    for (const [{ spec }, name] of names) {
      const key = objectKey(spec.kind, name);
      counts.set(key, (counts.get(key) ?? (usedNames.has(key) ? 1 : 0)) + 1);
    }
    for (const [named, name] of names) {
      if ((counts.get(objectKey(named.spec.kind, name)) ?? 0) > 1) names.set(named, lengthen(named, name));
    }
  }
  return names;
}

/** The names of a program's variables: each is given once. */
class VariableNames {
  private readonly used: Set<string>;

  constructor(reserved: readonly string[]) {
    this.used = new Set(reserved);
  }

  /** The wanted name, or that with so many digits of the uid that it is unique. */
  create(wanted: string, uid: string): string {
    const digits = uid.replaceAll("/", "");
    let name = wanted;
    for (let count = 6; this.used.has(name); count += 4) name = `${wanted}${digits.slice(-count)}`;
    this.used.add(name);
    return name;
  }
}
