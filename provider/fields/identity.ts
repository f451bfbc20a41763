import type { Failure, ResourceSpec } from "./resourceSpec";
import type { Props } from "./values";

/** The key of an object. Uids alone do not do: kinds share those of their parents. */
export function objectKey(kind: string, uid: string): string {
  return `${kind} ${uid}`;
}

/** What is wrong where another resource is for a group of which one of the two owns all children. */
export function conflictOfOwners(owns: NonNullable<ResourceSpec["owns"]>, other: string): Failure {
  const [all, beside] = owns.all ? ["this", other] : [other, "this"];
  const reason = `names a group of which ${all} owns all ${owns.children}, but ${beside} is for the same group: ${owns.advice}`;
  return { property: "parentUid", reason, code: "PP1104" };
}

/** The inputs that name one object together: a create with the same ones creates no other. None for most kinds. */
export function identifyingInputs({
  identifiedBy,
  sharesParentUid,
}: Pick<ResourceSpec, "identifiedBy" | "sharesParentUid">): readonly string[] {
  return identifiedBy ?? (sharesParentUid ? ["parentUid"] : []);
}

/** The key of the object that a create with these inputs creates or adopts, if the inputs determine it. */
export function identityKey(spec: ResourceSpec, inputs: Props): string | undefined {
  const { parentUid } = inputs;
  if (spec.sharesParentUid && typeof parentUid === "string") return objectKey(spec.kind, parentUid);
  return spec.identifiedBy === undefined
    ? undefined
    : objectKey(spec.kind, JSON.stringify(spec.identifiedBy.map((key) => inputs[key] ?? null)));
}
