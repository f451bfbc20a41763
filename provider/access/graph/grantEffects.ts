import { GrantIndex } from "./grantIndex";
import type { Grant } from "./grant";
import type { AccessGraph, Entity } from "./model";

/** Finds what an object gives, before a change and after it: the grants of which it is a part, or that it makes. */
export class GrantEffects {
  private readonly sides: readonly GrantIndex[];

  constructor({ before, after }: { readonly before: AccessGraph; readonly after: AccessGraph }) {
    this.sides = [before, after].map(({ grants }) => new GrantIndex(grants));
  }

  of(entity: Pick<Entity, "key" | "kind" | "urn" | "uid">): Grant[] {
    return this.sides.flatMap((side) => [...side.about(entity), ...side.ofResource(entity)]);
  }
}
