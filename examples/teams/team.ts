import * as pulumi from "@pulumi/pulumi";
import { getRole, Group, GroupAccess, Repo, Role } from "pulumi-platform";

/** A team, as a plain object: it could as well come from a file. */
export interface TeamArgs {
  /** The uid of the group above. */
  parentUid: pulumi.Input<string>;
  description: string;
  /** Roles of the team's own, by name: what each allows. */
  roles?: Record<string, string[]>;
  /** Who holds which role, by the role's name: one of the team's own, or one that is built in. */
  access: Record<string, string[]>;
  /** Repositories, by name: what each is for. */
  repos?: Record<string, string>;
}

/** A team: a group with its roles, all of its access, and its repositories. */
export class Team extends pulumi.ComponentResource {
  readonly group: Group;

  /** `people`: the uid of each identity, by the name that `access` has. */
  constructor(
    name: string,
    { parentUid, description, roles = {}, access, repos = {} }: TeamArgs,
    people: Partial<Record<string, pulumi.Input<string>>>,
    opts?: pulumi.ComponentResourceOptions,
  ) {
    super("acme:index:Team", name, {}, opts);
    const child = { parent: this };
    this.group = new Group(name, { parentUid, name, description }, child);
    const below = this.group.id;

    const own: Partial<Record<string, Role>> = Object.fromEntries(
      Object.entries(roles).map(([role, capabilities]) => [
        role,
        new Role(`${name}-${role}`, { parentUid: below, name: role, capabilities }, child),
      ]),
    );
    // The same lookup is asked once, however many teams there are.
    const roleUid = (role: string): pulumi.Input<string> =>
      own[role]?.id ?? getRole({ name: role, builtIn: true }).then(({ uid }) => uid);

    // Nobody else has access: a binding made by hand shows in the next preview with --refresh, by name.
    const bindings = Object.entries(access).flatMap(([role, holders]) =>
      holders.map((who) => {
        const identityUid = people[who];
        if (identityUid === undefined) throw new Error(`team ${name}: there is no person "${who}"`);
        return [`${who} as ${role}`, { identityUid, roleUid: roleUid(role) }] as const;
      }),
    );
    new GroupAccess(name, { parentUid: below, bindings: Object.fromEntries(bindings) }, child);

    for (const [repo, purpose] of Object.entries(repos)) {
      new Repo(`${name}-${repo}`, { parentUid: below, name: repo, description: purpose }, child);
    }
    this.registerOutputs({ group: this.group.id });
  }
}
