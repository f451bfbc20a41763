import { specs } from "../documents/specs";
import { accessKinds } from "../graph/accessKinds";
import { decidesAccess, isJudged, isName } from "../graph/fieldAccess";

/** A condition on the kind of a resource. */
export type KindCondition = (kind: string) => boolean;

export const everyKind: KindCondition = () => true;

/** A resource of the kind grants something, or passes on what others are granted. */
export const givesAccess: KindCondition = (kind) => {
  const { grants, impersonates, services } = accessKinds[kind] ?? {};
  return [grants, impersonates, services].some((member) => member !== undefined);
};

export const isInvite: KindCondition = (kind) => accessKinds[kind]?.invite === true;

/** It decides who signs in. */
export const decidesSignIn: KindCondition = (kind) => accessKinds[kind]?.signIn !== undefined;

/** Principals assume resources of the kind by tokens and keys. */
export const isAssumable: KindCondition = (kind) => accessKinds[kind]?.assumable === true;

/** Images are pulled by its name. */
export const isPulledByName: KindCondition = (kind) => specs[kind]?.usedBy === "imageName";

/** One of its arguments decides access. */
export const hasAccessField: KindCondition = (kind) =>
  Object.values(specs[kind]?.fields ?? {}).some((field) => decidesAccess(field));

/** It has more that matters than its name and its place. */
export const hasJudgedContent: KindCondition = (kind) =>
  Object.entries(specs[kind]?.fields ?? {}).some(
    ([key, field]) => key !== "parentUid" && !isName(key) && isJudged(field),
  );
