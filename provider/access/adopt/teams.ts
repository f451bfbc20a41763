import type { Directory } from "../graph/directory";
import { CallExpression, printDeclaration, VariableReference } from "./code";
import { camelCase, slug, uidSuffix } from "./names";
import type { VariableNames } from "./names";

interface Team {
  readonly variable: string;
  readonly name: string;
}

/** The components of a program: one for each group directly below the root that something belongs to. */
export class Teams {
  private readonly byGroup = new Map<string, Team>();

  constructor(
    private readonly root: string,
    private readonly directory: Directory,
    private readonly variables: VariableNames,
  ) {}

  /** The variable of the component that an object belongs to; undefined for what lies at the root. */
  variableOf(uid: string): string | undefined {
    const depth = this.root.split("/").length;
    const group = uid
      .split("/")
      .slice(0, depth + 1)
      .join("/");
    if (group === this.root || this.directory.find("Group", group) === undefined) return undefined;
    const team = this.byGroup.get(group) ?? this.create(group);
    this.byGroup.set(group, team);
    return team.variable;
  }

  declarations(): string[] {
    return [...this.byGroup.values()].map(({ variable, name }) => {
      const component = new VariableReference("pulumi", "ComponentResource");
      return printDeclaration(variable, new CallExpression(component, ["platform:adopted:Team", name], true));
    });
  }

  private create(group: string): Team {
    const base = slug(this.directory.nameOf(group) ?? "") || "team";
    const isUsed = [...this.byGroup.values()].some(({ name }) => name === base);
    const name = isUsed ? `${base}-${uidSuffix(group)}` : base;
    return { variable: this.variables.create(`${camelCase(base)}Team`, group), name };
  }
}
