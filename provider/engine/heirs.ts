import type { Props, ResourceSpec } from "./spec";

/*
 * Children of a parent are owned one by one or all together. Where a program goes from one form to the other, the engine
 * makes the new owner, which takes over what is there, before it deletes the old one, which must leave that alone. What
 * the program declares is known to each run, also to the one after a run that stopped in between.
 */

/** The owners of children that the program of this run declares. */
export class Heirs {
  /** By the form of ownership and the parent: what tells one child from another. */
  private readonly declared = new Map<string, Set<string>>();
  /** Of children that are resources of their own. */
  private readonly held = new Set<string>();

  /** Takes note of a resource of the program. */
  declare(spec: ResourceSpec, inputs: Props): void {
    const { owns } = spec;
    const key = keyOf(spec, inputs);
    if (owns === undefined || key === undefined) return;
    const children = this.declared.get(key) ?? new Set();
    this.declared.set(key, children);
    for (const child of owns.children(inputs)) children.add(child);
  }

  /** Takes note that a resource of the program is this child. */
  hold({ owns }: ResourceSpec, uid: string): void {
    if (owns?.all === false) this.held.add(uid);
  }

  /** Whether a resource of the program that owns all children of the parent has taken over this one. */
  haveTaken(spec: ResourceSpec, inputs: Props): boolean {
    const { owns } = spec;
    const key = owns?.all === false ? keyOf(spec, inputs, true) : undefined;
    const children = key === undefined ? undefined : this.declared.get(key);
    return (
      children !== undefined && owns !== undefined && owns.children(inputs).some((one) => children.has(one))
    );
  }

  /** Whether a resource of the program is this child. */
  isHeld(uid: string): boolean {
    return this.held.has(uid);
  }
}

/** Undefined where the parent is not known yet. */
function keyOf({ owns }: ResourceSpec, inputs: Props, all = owns?.all): string | undefined {
  const parent = inputs["parentUid"];
  return owns === undefined || typeof parent !== "string"
    ? undefined
    : JSON.stringify([owns.of, all, parent]);
}
