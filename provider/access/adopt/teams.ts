import type { Directory } from "../graph/directory";
import { CallExpression, printDeclaration, VariableReference } from "./code";
import { camelCase, slug, uidSuffix } from "./names";
import type { VariableNames } from "./names";

export interface Team {
  readonly variable: string;
  readonly name: string;
}

/** The file of what belongs to no team, and of what several teams use. */
export const SHARED_FILE = "shared";

/** The components of a program: one for each group directly below the root that something belongs to. */
export class Teams {
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
