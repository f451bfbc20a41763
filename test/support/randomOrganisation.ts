import type { Declaration, Declarations } from "./engine";

const CAPABILITIES = [
  "CAP_REPO_LIST",
  "CAP_REPO_CREATE",
  "CAP_REPO_DELETE",
  "CAP_TAG_LIST",
  "CAP_IAM_GROUPS_LIST",
  "CAP_IAM_ROLE_BINDINGS_CREATE",
];

/** A declaration of a program whose resources refer to each other, and random edits of it that a server takes. */
export class RandomOrganisation {
  private state: number;
  private count = 0;
  private readonly program = new Map<string, Declaration>();
  /** What the last edit did, for messages. */
  lastEdits: string[] = ["first program"];

  constructor(
    seed: number,
    private readonly builtIn: string,
  ) {
    this.state = seed;
    this.program.set("org", { kind: "Group", args: { name: "acme" } });
    for (const parent of ["org", "org", "group-1"]) this.addGroup(parent);
    for (let i = 0; i < 3; i += 1) this.addIdentity();
    for (let i = 0; i < 2; i += 1) this.addRole();
    for (let i = 0; i < 4; i += 1) this.addBinding();
    this.program.set("provider", {
      kind: "IdentityProvider",
      args: {
        parentUid: "${org}",
        name: "staff",
        defaultRole: this.builtIn,
        oidc: { issuer: "https://login.example.com", clientId: "platform", pkceEnabled: true },
      },
    });
    this.program.set("mapping", {
      kind: "ExternalGroupRoleMapping",
      args: { parentUid: "${provider}", externalGroupId: "admins", roleUid: "${role-0}", scope: "${org}" },
    });
    this.program.set("services", {
      kind: "AccountAssociation",
      args: {
        parentUid: "${org}",
        name: "services",
        chainguard: { serviceBindings: { INGESTER: "${identity-0}" } },
      },
    });
    this.program.set("invite", {
      kind: "GroupInvite",
      args: { parentUid: "${group-1}", roleUid: "${role-1}", ttl: "24h", email: "one@example.com" },
    });
  }

  /** Mulberry32: the same seed gives the same programs. */
  private random(): number {
    this.state = (this.state + 0x6d2b79f5) | 0;
    let t = Math.imul(this.state ^ (this.state >>> 15), 1 | this.state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
  }

  private pick<T>(items: readonly T[]): T {
    const item = items[Math.floor(this.random() * items.length)];
    if (item === undefined) throw new Error("there is nothing to pick from");
    return item;
  }

  private names(kind: string): string[] {
    return [...this.program].filter(([, declaration]) => declaration.kind === kind).map(([name]) => name);
  }

  private next(prefix: string): string {
    const used = this.names({ group: "Group", identity: "Identity", role: "Role" }[prefix] ?? "RoleBinding");
    const first = prefix === "group" ? 1 : 0;
    const wanted = `${prefix}-${used.length - (prefix === "group" ? 1 : 0) + first}`;
    this.count += 1;
    return this.program.has(wanted) ? `${prefix}-new-${this.count}` : wanted;
  }

  private addGroup(parent = this.pick(this.names("Group"))): string {
    const name = this.next("group");
    this.program.set(name, { kind: "Group", args: { parentUid: `\${${parent}}`, name } });
    return name;
  }

  private addIdentity(): string {
    const name = this.next("identity");
    const args = {
      parentUid: `\${${this.pick(this.names("Group"))}}`,
      name,
      claimMatch: {
        issuer: "https://token.actions.githubusercontent.com",
        subject: `repo:acme/${name}:ref:refs/heads/main`,
      },
    };
    this.program.set(name, { kind: "Identity", args });
    return name;
  }

  private someCapabilities(): string[] {
    const some = CAPABILITIES.filter(() => this.random() < 0.5);
    return some.length === 0 ? ["CAP_REPO_LIST"] : some;
  }

  private addRole(): string {
    const name = this.next("role");
    const args = { parentUid: "${org}", name, capabilities: this.someCapabilities() };
    this.program.set(name, { kind: "Role", args });
    return name;
  }

  private someRole(): string {
    return this.random() < 0.3 ? this.builtIn : `\${${this.pick(this.names("Role"))}}`;
  }

  private addBinding(): string {
    const name = this.next("binding");
    const args = {
      parentUid: `\${${this.pick(this.names("Group"))}}`,
      identityUid: `\${${this.pick(this.names("Identity"))}}`,
      roleUid: this.someRole(),
    };
    this.program.set(name, { kind: "RoleBinding", args });
    return name;
  }

  private change(name: string, args: Record<string, unknown>): void {
    const declaration = this.program.get(name);
    if (declaration) this.program.set(name, { ...declaration, args: { ...declaration.args, ...args } });
  }

  private readonly edits: Readonly<Record<string, () => string>> = {
    "rename a group": () => {
      const name = this.pick(this.names("Group"));
      this.change(name, { name: `renamed ${(this.count += 1)}` });
      return name;
    },
    "rename an identity": () => {
      const name = this.pick(this.names("Identity"));
      this.change(name, { name: `renamed ${(this.count += 1)}` });
      return name;
    },
    "change a role": () => {
      const name = this.pick(this.names("Role"));
      this.change(name, { capabilities: this.someCapabilities() });
      return name;
    },
    "change who an identity is": () => {
      const name = this.pick(this.names("Identity"));
      const match = {
        issuer: "https://gitlab.com",
        subjectPattern: `^project_path:acme/${(this.count += 1)}:.*$`,
      };
      this.change(name, { claimMatch: match });
      return name;
    },
    "move an identity": () => {
      const name = this.pick(this.names("Identity"));
      this.change(name, { parentUid: `\${${this.pick(this.names("Group"))}}` });
      return name;
    },
    "move a group": () => {
      this.change("group-2", { parentUid: this.pick(["${org}", "${group-1}"]) });
      return "group-2";
    },
    "bind another role": () => {
      const name = this.pick(this.names("RoleBinding"));
      this.change(name, { roleUid: this.someRole() });
      return name;
    },
    "bind another identity": () => {
      const name = this.pick(this.names("RoleBinding"));
      this.change(name, { identityUid: `\${${this.pick(this.names("Identity"))}}` });
      return name;
    },
    "bind elsewhere": () => {
      const name = this.pick(this.names("RoleBinding"));
      this.change(name, { parentUid: `\${${this.pick(this.names("Group"))}}` });
      return name;
    },
    "add a binding": () => this.addBinding(),
    "add an identity with a binding": () => {
      const name = this.addIdentity();
      this.change(this.addBinding(), { identityUid: `\${${name}}` });
      return name;
    },
    "add a role with a binding": () => {
      const name = this.addRole();
      this.change(this.addBinding(), { roleUid: `\${${name}}` });
      return name;
    },
    "remove a binding": () => {
      const names = this.names("RoleBinding");
      if (names.length < 2) return "none";
      const name = this.pick(names);
      this.program.delete(name);
      return name;
    },
    "invite somebody else": () => {
      this.change("invite", { email: `${(this.count += 1)}@example.com` });
      return "invite";
    },
    "map to another role": () => {
      this.change("mapping", { roleUid: this.someRole() });
      return "mapping";
    },
    "sign in to another role": () => {
      this.change("provider", { defaultRole: this.someRole() });
      return "provider";
    },
    "serve as another identity": () => {
      const identity = `\${${this.pick(this.names("Identity"))}}`;
      this.change("services", { chainguard: { serviceBindings: { INGESTER: identity } } });
      return "services";
    },
  };

  /** Six edits at once. */
  edit(): Declarations {
    this.lastEdits = [0, 1, 2, 3, 4, 5].map(() => {
      const [what, act] = this.pick(Object.entries(this.edits));
      return `${what}: ${act()}`;
    });
    return this.declarations();
  }

  /** What is referred to stands before what refers to it. */
  declarations(): Declarations {
    const sorted: Declarations = {};
    const visit = (name: string): void => {
      const declaration = this.program.get(name);
      if (declaration === undefined || name in sorted) return;
      for (const [, other = ""] of JSON.stringify(declaration.args).matchAll(/\$\{([^}]+)\}/g)) visit(other);
      sorted[name] = structuredClone(declaration);
    };
    for (const name of this.program.keys()) visit(name);
    return sorted;
  }
}
