import { pick, randomOf } from "../../../scripts/lib/random.cjs";
import type { Random } from "../../../scripts/lib/random.cjs";
import type { Declaration, Declarations } from "../../support/engine";

const CAPABILITIES = [
  "CAP_REPO_LIST",
  "CAP_REPO_CREATE",
  "CAP_REPO_DELETE",
  "CAP_TAG_LIST",
  "CAP_IAM_GROUPS_LIST",
  "CAP_IAM_ROLE_BINDINGS_CREATE",
];

/** It moves, so nothing may stay behind in it. */
const MOVING = "group-2";

interface Binding {
  readonly identityUid: string;
  readonly roleUid: string;
}
/** By label. */
type Bindings = Map<string, Binding>;

const reference = (name: string): string => `\${${name}}`;

/**
 * A declaration of a program whose resources refer to each other, and random edits of it that a server takes: each edit
 * knows which resources it may touch, so the first program is fixed and small. The names of an organisation begin with
 * its own, so that one program can hold several.
 */
export class RandomOrganisation {
  private readonly random: Random;
  private count = 0;
  private readonly program = new Map<string, Declaration>();
  /** The program as it was run last: what an option of it does shows in the run after that. */
  private ran: ReadonlyMap<string, Declaration> = new Map();
  /** What the last edit did, for messages. */
  lastEdits: string[] = ["first program"];

  constructor(
    readonly name: string,
    readonly seed: number,
    private readonly builtIn: string,
  ) {
    this.random = randomOf(seed);
    this.program.set("org", { kind: "Group", args: { name: "acme" } });
    for (const parent of ["org", "org", "group-1"]) this.addGroup(parent);
    for (let i = 0; i < 3; i += 1) this.addIdentity();
    for (let i = 0; i < 2; i += 1) this.addRole();
    this.addAccess("group-3");
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
    this.invite("one@example.com");
  }

  private pick<T>(items: readonly T[]): T {
    return pick(this.random, items);
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

  private invite(email: string): void {
    // A role keeps its place in the program when it gets another name there.
    const role = reference(this.names("Role")[1] ?? "");
    this.program.set("invite", {
      kind: "GroupInvite",
      args: { parentUid: "${group-1}", roleUid: role, ttl: "24h", email },
    });
  }

  private addGroup(parent = this.pickOf("Group")): string {
    const name = this.next("group");
    this.program.set(name, { kind: "Group", args: { parentUid: reference(parent), name } });
    return name;
  }

  private addIdentity(): string {
    const name = this.next("identity");
    const args = {
      parentUid: reference(this.pickOf("Group")),
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
    return this.random() < 0.3 ? this.builtIn : reference(this.pickOf("Role"));
  }

  private addBinding(): string {
    const name = this.next("binding");
    const open = this.openGroups();
    const args = {
      parentUid: reference(this.pick(open.length === 0 ? [this.addGroup()] : open)),
      identityUid: reference(this.pickOf("Identity")),
      roleUid: this.someRole(),
    };
    this.program.set(name, { kind: "RoleBinding", args });
    return name;
  }

  /** Groups that may have bindings of their own: no resource owns all of them, now or before this edit. */
  private openGroups(): string[] {
    const owned = [this.program, this.ran].flatMap((program) =>
      [...program.values()].filter(({ kind }) => kind === "GroupAccess").map(({ args }) => args["parentUid"]),
    );
    return this.names("Group").filter((name) => !owned.includes(reference(name)));
  }

  private addAccess(group: string, bindings: Bindings = this.someBindings()): string {
    const name = `access-${group}`;
    this.program.set(name, {
      kind: "GroupAccess",
      args: { parentUid: reference(group), bindings: Object.fromEntries(bindings) },
    });
    return name;
  }

  private someBindings(): Bindings {
    const bindings: Bindings = new Map();
    for (let i = 0; i < 3; i += 1) this.addTo(bindings);
    return bindings;
  }

  /** Two labels for one grant are refused. */
  private addTo(
    bindings: Bindings,
    grant = { identityUid: reference(this.pickOf("Identity")), roleUid: this.someRole() },
  ): string {
    const isThere = [...bindings.values()].some((one) => JSON.stringify(one) === JSON.stringify(grant));
    const label = `grant ${(this.count += 1)}`;
    if (!isThere) bindings.set(label, grant);
    return isThere ? "none" : label;
  }

  /** Edits the bindings of one resource that owns all of a group. */
  private inAccess(edit: (bindings: Bindings) => string): string {
    const names = this.names("GroupAccess");
    if (names.length === 0) return "none";
    const name = this.pick(names);
    const bindings = this.bindingsOf(name);
    const what = edit(bindings);
    this.change(name, { bindings: Object.fromEntries(bindings) });
    return `${name} ${what}`;
  }

  private bindingsOf(access: string): Bindings {
    return new Map(Object.entries(this.program.get(access)?.args["bindings"] as Record<string, Binding>));
  }

  private change(name: string, args: Record<string, unknown>): string {
    const declaration = this.program.get(name);
    if (declaration) this.program.set(name, { ...declaration, args: { ...declaration.args, ...args } });
    return name;
  }

  private remove(name: string): string {
    this.program.delete(name);
    return name;
  }

  private retain(name: string, retainOnDelete = true): string {
    const declaration = this.program.get(name);
    if (declaration) this.program.set(name, { ...declaration, options: { retainOnDelete } });
    return name;
  }

  private pickOf(kind: string): string {
    return this.pick(this.names(kind));
  }

  private isRetained(name: string, program: ReadonlyMap<string, Declaration> = this.ran): boolean {
    return program.get(name)?.options?.["retainOnDelete"] === true;
  }

  /** Where something may be put: what stays when it goes must not be in what moves. */
  private groupFor(name: string, groups = this.names("Group")): string {
    const isRetained = this.isRetained(name) || this.isRetained(name, this.program);
    const fitting = groups.filter((group) => !isRetained || group !== MOVING);
    return fitting.length === 0
      ? String(this.program.get(name)?.args["parentUid"])
      : reference(this.pick(fitting));
  }

  private isInMoving(name: string): boolean {
    return [this.program, this.ran].some(
      (program) => program.get(name)?.args["parentUid"] === reference(MOVING),
    );
  }

  private renameInProgram(name: string, now: string): string {
    const renamed = JSON.stringify([...this.program]).replaceAll(reference(name), reference(now));
    this.program.clear();
    for (const [key, declaration] of JSON.parse(renamed) as [string, Declaration][]) {
      this.program.set(key === name ? now : key, declaration);
    }
    return `${name} to ${now}`;
  }

  private removeIdentity(name: string): void {
    const own = reference(name);
    for (const [other, { kind, args }] of [...this.program]) {
      if (kind === "RoleBinding" && args["identityUid"] === own) this.program.delete(other);
      if (kind === "GroupAccess") {
        const kept = [...this.bindingsOf(other)].filter(([, one]) => one.identityUid !== own);
        this.change(other, { bindings: Object.fromEntries(kept) });
      }
    }
    this.program.delete(name);
    if (JSON.stringify(this.program.get("services")?.args).includes(own))
      this.edits["serve as another identity"]?.();
  }

  private bindingsAt(group: string, program: ReadonlyMap<string, Declaration> = this.program): string[] {
    return [...program]
      .filter(([, { kind, args }]) => kind === "RoleBinding" && args["parentUid"] === reference(group))
      .map(([name]) => name);
  }

  /** There may be none any more: then there is one now. */
  private someBinding(): string {
    const names = this.names("RoleBinding");
    return names.length === 0 ? this.addBinding() : this.pick(names);
  }

  private readonly edits: Readonly<Record<string, () => string>> = {
    "rename a group": () => this.change(this.pickOf("Group"), { name: `renamed ${(this.count += 1)}` }),
    "rename an identity": () =>
      this.change(this.pickOf("Identity"), { name: `renamed ${(this.count += 1)}` }),
    "change a role": () => this.change(this.pickOf("Role"), { capabilities: this.someCapabilities() }),
    "change who an identity is": () =>
      this.change(this.pickOf("Identity"), {
        claimMatch: {
          issuer: "https://gitlab.com",
          subjectPattern: `^project_path:acme/${(this.count += 1)}:.*$`,
        },
      }),
    "move an identity": () => {
      const name = this.pickOf("Identity");
      return this.change(name, { parentUid: this.groupFor(name) });
    },
    "move a group": () => this.change(MOVING, { parentUid: this.pick(["${org}", "${group-1}"]) }),
    "bind another role": () => this.change(this.someBinding(), { roleUid: this.someRole() }),
    "bind another identity": () =>
      this.change(this.someBinding(), { identityUid: reference(this.pickOf("Identity")) }),
    "bind elsewhere": () => {
      const name = this.someBinding();
      return this.change(name, { parentUid: this.groupFor(name, this.openGroups()) });
    },
    "add a binding": () => this.addBinding(),
    "add an identity with a binding": () => {
      const name = this.addIdentity();
      return this.change(this.addBinding(), { identityUid: reference(name) });
    },
    "add a role with a binding": () => {
      const name = this.addRole();
      return this.change(this.addBinding(), { roleUid: reference(name) });
    },
    "remove a binding": () => this.remove(this.someBinding()),
    "invite somebody else": () => {
      const email = `${(this.count += 1)}@example.com`;
      if (this.program.has("invite")) this.change("invite", { email });
      else this.invite(email);
      return "invite";
    },
    "withdraw the invite": () => this.remove("invite"),
    "remove an identity": () => {
      const names = this.names("Identity");
      if (names.length < 3) return "none";
      const name = this.pick(names);
      this.removeIdentity(name);
      return name;
    },
    "let something stay when it goes, or not": () => {
      const kinds = ["Identity", "RoleBinding", "GroupInvite", "GroupAccess"];
      const fitting = kinds.flatMap((kind) => this.names(kind)).filter((name) => !this.isInMoving(name));
      if (fitting.length === 0) return "none";
      const name = this.pick(fitting);
      return this.retain(name, !this.isRetained(name, this.program));
    },
    "grant in a group's access": () => this.inAccess((bindings) => this.addTo(bindings)),
    "grant in a group's access what stood there by hand": () =>
      this.inAccess((bindings) =>
        // The first identity is bound by hand, at the root and where a resource owns all bindings.
        this.addTo(bindings, {
          identityUid: reference(this.names("Identity")[0] ?? ""),
          roleUid: this.builtIn,
        }),
      ),
    "take from a group's access": () =>
      this.inAccess((bindings) => {
        const [label = "none"] = bindings.keys();
        bindings.delete(label);
        return label;
      }),
    "change a grant of a group's access": () =>
      this.inAccess((bindings) => {
        const [first] = bindings;
        if (first === undefined) return "none";
        const [label, old] = first;
        bindings.delete(label);
        const grant = { ...old, roleUid: this.someRole() };
        const isThere = [...bindings.values()].some((one) => JSON.stringify(one) === JSON.stringify(grant));
        bindings.set(label, isThere ? old : grant);
        return label;
      }),
    "give a grant of a group's access another label": () =>
      this.inAccess((bindings) => {
        const [first] = bindings;
        if (first === undefined) return "none";
        bindings.delete(first[0]);
        return this.addTo(bindings, first[1]);
      }),
    "let a group's access go": () => {
      const names = this.names("GroupAccess");
      return names.length === 0 ? "none" : this.remove(this.pick(names));
    },
    "make the bindings of a group ready to be taken over": () => {
      const group = this.pick(this.openGroups());
      if (group === MOVING) return "none";
      for (const name of this.bindingsAt(group)) if (!this.isInMoving(name)) this.retain(name);
      return group;
    },
    "take over the bindings of a group": () => {
      // What is deleted in the same run is not taken over: each must stay when it goes, and be nowhere else before.
      const ready = this.openGroups().filter(
        (group) =>
          group !== MOVING &&
          [...new Set([...this.bindingsAt(group), ...this.bindingsAt(group, this.ran)])].every(
            (name) =>
              this.isRetained(name) &&
              JSON.stringify(this.ran.get(name)) === JSON.stringify(this.program.get(name)),
          ),
      );
      if (ready.length === 0) return "none";
      const group = this.pick(ready);
      const bindings: Bindings = new Map();
      for (const name of this.bindingsAt(group)) {
        const { identityUid, roleUid } = this.program.get(name)?.args ?? {};
        this.addTo(bindings, { identityUid: String(identityUid), roleUid: String(roleUid) });
        this.program.delete(name);
      }
      return this.addAccess(group, bindings);
    },
    "give a resource another name in the program": () => {
      const kinds = ["Identity", "Role", "RoleBinding", "GroupAccess"];
      const name = this.pick(kinds.flatMap((kind) => this.names(kind)));
      // What stays when its old name goes would be left in a group that moves.
      if (this.isInMoving(name) && (this.isRetained(name) || this.isRetained(name, this.program)))
        return "none";
      return this.renameInProgram(name, `${name}-named-${(this.count += 1)}`);
    },
    "map to another role": () => this.change("mapping", { roleUid: this.someRole() }),
    "sign in to another role": () => this.change("provider", { defaultRole: this.someRole() }),
    "serve as another identity": () => {
      const serviceBindings = { INGESTER: reference(this.pickOf("Identity")) };
      return this.change("services", { chainguard: { serviceBindings } });
    },
  };

  /** Six edits at once of what has been run. */
  edit(): Declarations {
    this.ran = new Map([...this.program].map(([name, one]) => [name, structuredClone(one)]));
    this.lastEdits = [0, 1, 2, 3, 4, 5].map(() => {
      const [what, act] = this.pick(Object.entries(this.edits));
      return `${what}: ${act()}`;
    });
    return this.declarations();
  }

  /** What is referred to stands before what refers to it. */
  declarations(): Declarations {
    const own = (name: string): string => `${this.name}-${name}`;
    const sorted: Declarations = {};
    const visit = (name: string): void => {
      const declaration = this.program.get(name);
      if (declaration === undefined || own(name) in sorted) return;
      const args = JSON.stringify(declaration.args);
      for (const [, other = ""] of args.matchAll(/\$\{([^}]+)\}/g)) visit(other);
      sorted[own(name)] = {
        ...structuredClone(declaration),
        args: JSON.parse(args.replaceAll("${", `\${${this.name}-`)) as Record<string, unknown>,
      };
    };
    for (const name of this.program.keys()) visit(name);
    return sorted;
  }
}
