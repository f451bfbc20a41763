import type { Entity } from "./model";

/** Adds what the server returned to an entity. Of an unverified entity, only what the server returned remains. */
export function mergeLive(entity: Entity, live: Entity): Entity {
  const { urn, location, assumed, ...known } = entity;
  if (assumed === true) return { ...live, urn, location };
  const { lastSeenTime, details, builtIn } = live;
  return {
    ...known,
    urn,
    location,
    ...(builtIn ? { builtIn } : {}),
    ...(lastSeenTime === undefined ? {} : { lastSeenTime }),
    ...(details === undefined ? {} : { details: { ...details, ...entity.details } }),
  };
}
