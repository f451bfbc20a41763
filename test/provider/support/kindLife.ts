import type { Emulator } from "../../../emulator";
import type { NeededCapabilities, ResourceSpec } from "../../../provider/fields/resourceSpec";
import type { Props } from "../../../provider/fields/values";
import type { Declaration, Declarations } from "../../support/engine";
import { call } from "../../support/wire";
import { RestrictedCaller } from "../../support/leastPrivilege";
import { declared, samples, surroundings, withMember } from "../../support/samples";
import type { Sample } from "../../support/samples";
import { HandlerStack } from "./handlerStack";
import { specs } from "./samples";

/* The life of a resource of each kind as a caller that holds one role: create, update, delete, read. */

const rootOf = (uid: unknown): string => (typeof uid === "string" ? (uid.split("/")[0] ?? "") : "");

const sampleOf = (kind: string): Sample => {
  const found = samples.find((sample) => sample.kind === kind);
  if (!found) throw new Error(`no sample of ${kind}`);
  return found;
};

/** A change of a field that stays in place. */
function changed(sample: Sample): Record<string, unknown> | undefined {
  const [field] = sample.fields.filter(({ without }) => without === undefined);
  if (field) return withMember(sample.args, field.property ?? field.path, field.to);
  if (sample.kind === "ScimToken") return { ...sample.args, rotate: "two" };
  return undefined;
}

/** A sample of each kind, with what it refers to. */
export function sampleDeclarations(): Declarations {
  const copies = specs.map(({ kind }) => sampleOf(kind)).map((each) => declared(each.label, each, each.args));
  return { ...surroundings, ...Object.fromEntries(copies.flatMap(Object.entries<Declaration>)) };
}

/** Runs one operation of a life. */
export type RunOperation = <T>(operation: keyof NeededCapabilities, run: () => Promise<T>) => Promise<T>;

/** An organisation with what samples refer to, created by the emulator's own token, and a caller with one role there. */
export class RestrictedOrganisation {
  private constructor(
    private readonly emulator: Emulator,
    readonly stack: HandlerStack,
    readonly caller: RestrictedCaller,
    readonly org: string,
  ) {}

  static async create(emulator: Emulator): Promise<RestrictedOrganisation> {
    emulator.reset();
    const stack = new HandlerStack(emulator, sampleDeclarations());
    const org = (await stack.make("org")).id;
    const caller = await RestrictedCaller.below(emulator, org);
    return new RestrictedOrganisation(emulator, stack, caller, org);
  }

  /** Creates what a sample refers to; the life itself is all the caller's. */
  async prepare(spec: ResourceSpec): Promise<(around: RunOperation) => Promise<void>> {
    const sample = sampleOf(spec.kind);
    const inputs = await this.resolve(sample, sample.args);
    await this.caller.bind(rootOf(inputs["parentUid"]));
    const change = changed(sample);
    const changedInputs = change && (await this.resolve(sample, change));
    return spec.kind === "GroupAccess"
      ? this.life(spec, ...this.ownBindings(inputs))
      : this.life(spec, inputs, changedInputs);
  }

  /** An update of an existing sample by the caller, which sets these members. */
  async prepareUpdate(spec: ResourceSpec, members: Props) {
    const { id, inputs, outs } = await this.stack.make(sampleOf(spec.kind).label);
    await this.caller.bind(rootOf(id));
    await this.bindOwners(rootOf(id));
    const handlers = this.handlersOf(spec);
    return () => handlers.update(id, outs, { ...inputs, ...members });
  }

  /** Gives two identities the role `owner`, which the server wants before people are provisioned. */
  private async bindOwners(group: string): Promise<void> {
    const { roles } = await call(this.emulator, "GET", "/iam/v2/roles?name=owner");
    const [{ uid: roleUid } = {}] = roles as readonly { readonly uid?: string }[];
    for (const label of ["someone", "other"]) {
      const { id: identityUid } = await this.stack.make(label);
      await call(this.emulator, "POST", `/iam/v2/roleBindings/${group}`, { identityUid, roleUid });
    }
  }

  private resolve(sample: Sample, args: Record<string, unknown>): Promise<Props> {
    return this.stack.resolved(declared(sample.label, sample, args)[sample.label]?.args ?? {});
  }

  private handlersOf({ kind }: ResourceSpec) {
    return new HandlerStack({ url: this.emulator.url, token: this.caller.token }, {}).handlersOf(kind);
  }

  private life(spec: ResourceSpec, inputs: Props, changedInputs: Props | undefined) {
    const handlers = this.handlersOf(spec);
    return async (around: RunOperation): Promise<void> => {
      const { id, outs } = await around("create", () => handlers.create(inputs));
      let recorded = outs;
      if (changedInputs) {
        recorded = await around("update", () => handlers.update(id, outs, changedInputs));
      }
      await around("delete", () => handlers.delete(id, recorded));
      // A group without bindings is read too, to tell it from a missing one.
      await around("read", () => handlers.read(id, recorded));
    };
  }

  /** A GroupAccess that removes bindings of the caller, who must not lose its last role, and creates another one. */
  private ownBindings(inputs: Props): [Props, Props] {
    const bindings = inputs["bindings"] as Record<string, { identityUid: string; roleUid: string }>;
    const [read, write] = Object.values(bindings).map(({ roleUid }) => ({
      identityUid: this.caller.identity,
      roleUid,
    }));
    return [
      { ...inputs, bindings: { read } },
      { ...inputs, bindings: { write } },
    ];
  }
}

const errorText = (error: unknown): string => (error instanceof Error ? error.message : String(error));

/** How an operation ended for a caller that may lack a capability. */
export async function outcomeOf(running: Promise<unknown>): Promise<string> {
  return running.then(
    () => "is allowed",
    (error: unknown) =>
      /PERMISSION_DENIED|CAP_[A-Z_]+ is needed/.test(errorText(error)) ? "is refused" : errorText(error),
  );
}
