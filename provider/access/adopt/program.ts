import { capitalize, compareTexts } from "../../fields/values";
import type { Props } from "../../fields/values";
import { Directory } from "../graph/directory";
import { selectCandidates } from "./candidates";
import type { Candidate, CandidateRequest, SkippedObject } from "./candidates";
import {
  CallExpression,
  CompactObject,
  printDeclaration,
  printNamedImport,
  printNamespaceImport,
  printStatement,
  VariableReference,
} from "./code";
import type { CodeValue } from "./code";
import { camelCase, uniqueNames, VariableNames } from "./names";
import { References, ROOT_UID_KEY } from "./references";
import { Teams } from "./teams";

/** What to adopt, and how the program declares it. */
interface AdoptionRequest extends CandidateRequest {
  /** One component for each group directly below the root. */
  readonly byTeam?: boolean;
  /** Names that resources of the stack have already: `Role reader`. */
  readonly usedNames?: ReadonlySet<string>;
  /** Names for resources, by kind and uid: `Role <uid>`. */
  readonly names?: ReadonlyMap<string, string>;
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
  /** A TypeScript program. */
  readonly code: string;
  readonly resources: readonly AdoptedResource[];
  readonly skipped: readonly SkippedObject[];
  /** Settings that are no secret, and that the program reads from the stack's configuration. */
  readonly settings: Readonly<Record<string, string>>;
}

type CodeObject = Readonly<Record<string, CodeValue | undefined>>;

const isCodeObject = (value: CodeValue | undefined): value is CodeObject =>
  value !== null &&
  typeof value === "object" &&
  !Array.isArray(value) &&
  ![VariableReference, CallExpression, CompactObject].some((node) => value instanceof node);

function withMember(value: CodeValue | undefined, path: readonly string[], member: CodeValue): CodeValue {
  const [key = "", ...remaining] = path;
  const members = isCodeObject(value) ? value : {};
  return {
    ...members,
    [key]: remaining.length === 0 ? member : withMember(members[key], remaining, member),
  };
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
    const { inventory, byTeam, usedNames, names } = request;
    const variables = new VariableNames(["pulumi", "config"]);
    this.names = uniqueNames(candidates, directory, usedNames ?? new Set(), names);
    this.references = new References(inventory.root, this.names, directory, variables);
    this.teams = byTeam ? new Teams(inventory.root, directory, variables) : undefined;
  }

  generate(): Omit<Adoption, "skipped"> {
    const teams = this.candidates.map(({ object }) => this.teams?.variableOf(object.uid));
    // A resource has a variable only if an argument refers to it, so all arguments are generated first.
    const args = this.candidates.map((candidate) => this.generateArguments(candidate));
    const resources = this.candidates.map((candidate, i) =>
      this.printResource(candidate, args[i] ?? {}, teams[i]),
    );
    return {
      code: this.printProgram(resources),
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
    const args = this.references.resolve({ type: "object", fields: spec.fields }, inputs);
    return secretPaths.reduce((all, path) => {
      const secret = new CallExpression(new VariableReference("config", "requireSecret"), [
        this.configKeyOf(candidate, path),
      ]);
      return withMember(all, path.split("."), secret);
    }, args);
  }

  private printResource(candidate: Candidate, args: CodeValue, team: string | undefined): string {
    const options = new CompactObject({
      ...(team !== undefined && { parent: new VariableReference(team) }),
      // As pulumi import writes it: nothing else made these objects, so a slip must not delete them.
      protect: true,
    });
    const { kind } = candidate.spec;
    const call = new CallExpression(
      new VariableReference(kind),
      [this.nameOf(candidate), args, options],
      true,
    );
    const variable = this.references.findVariable(candidate);
    return variable === undefined ? printStatement(call) : printDeclaration(variable, call);
  }

  private printProgram(resources: readonly string[]): string {
    const usesConfig =
      this.references.usesRootUid || this.candidates.some(({ secretPaths }) => secretPaths.length > 0);
    const components = this.teams?.declarations() ?? [];
    const usesPulumi = usesConfig || components.length > 0;
    const imported = new Set([...this.candidates.map(({ spec }) => spec.kind), ...this.references.lookups]);
    const names = [...imported].sort((a, b) => compareTexts(a.toLowerCase(), b.toLowerCase()));
    const constants = this.references.constantCode();
    const config = new CallExpression(new VariableReference("pulumi", "Config"), [], true);
    const sections = [
      [
        "// Written by pulumi-platform adopt from what the platform held. It is yours to edit.",
        ...(usesPulumi ? [printNamespaceImport("pulumi", "@pulumi/pulumi")] : []),
        ...(names.length === 0 ? [] : [printNamedImport(names, "pulumi-platform")]),
      ].join("\n"),
      ...(usesConfig ? [printDeclaration("config", config)] : []),
      ...(constants.length === 0 ? [] : [constants.join("\n")]),
      ...(components.length === 0 ? [] : [components.join("\n")]),
      ...resources,
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
