import { describeEffects, mayWiden, createEffectSide } from "../effects";
import type { FieldEffect } from "../effects";
import { specs } from "../documents/specs";
import { isPrincipalField } from "../graph/accessKinds";
import { tupleOf } from "../graph/grant";
import type { Grant } from "../graph/grant";
import type { Entity } from "../graph/model";
import { fieldsWhere } from "./describedFields";
import type { Facts } from "./facts";
import type { FindingInput } from "./findingInput";
import { hasPrincipal } from "./kindConditions";
import { languagesOf } from "./openPatterns";
import { listGrants } from "./trustedIdentities";
import { labelEntity, limitLines, plural } from "./wording";

const keySets = fieldsWhere(({ access }) => access === "keys");

/** What the change of the trust of an identity means, and what to do: new keys may be a rotation, which no rule can tell. */
function describeTrustChange(
  after: Entity,
  changed: readonly FieldEffect[],
  grants: number,
): Pick<FindingInput, "message" | "advice"> {
  const areKeys = changed.every(({ path }) => keySets(after.kind).some((field) => field.path === path));
  if (areKeys) {
    return {
      message: `the keys of ${labelEntity(after)} change: whoever has a new one gets ${plural(grants, "grant")}: ${changed.map(({ path, reason }) => `${path} (${reason})`).join(", ")}`,
      advice:
        "if you rotate the keys of the same principal, suppress this for the identity until the pull request is merged; otherwise remove the new keys",
    };
  }
  return {
    message: `the trust of ${labelEntity(after)} changes: a different principal inherits ${plural(grants, "grant")}: ${changed.map(({ path }) => path).join(", ")}`,
    advice:
      "create a new identity for the new principal and bind what it needs, instead of changing this one",
  };
}

function trustDetails(changed: readonly FieldEffect[], grants: readonly Grant[]): string[] {
  const fields = changed.map(
    ({ path, before, after, direction, reason }) =>
      `${path}: ${before ?? "not set"} → ${after ?? "not set"}${direction === "unknown" ? ` (${reason})` : ""}`,
  );
  return [...limitLines(fields), "inherits:", ...listGrants(grants)];
}

const widensTrust = ({ kind }: Entity, { path, direction }: FieldEffect): boolean =>
  isPrincipalField(kind, path) && mayWiden(direction);

/** Identities with grants that trust somebody else than before. */
export function findChangedTrust(facts: Facts): FindingInput[] {
  return [...facts.writes(hasPrincipal)].flatMap(({ op, before, after, fields }) => {
    if (op === "create" || before === undefined) return [];
    const changed = fields.filter((field) => widensTrust(after, field));
    const grants = facts.grantsThrough(after.key);
    if (changed.length === 0 || grants.length === 0) return [];
    return [
      facts.aboutEntity(after, {
        severity: "high",
        field: changed[0]?.path ?? "",
        ...describeTrustChange(after, changed, grants.length),
        details: trustDetails(changed, grants),
      }),
    ];
  });
}

/** What of the trust of a new identity a deleted one did not accept. */
function compareTrust(facts: Facts, deleted: Entity, created: Entity): FieldEffect[] {
  const spec = specs[created.kind];
  if (spec === undefined) return [];
  const { before, after } = facts.comparison;
  const effects = describeEffects(spec, deleted.inputs, created.inputs, {
    before: createEffectSide(before.entities),
    after: createEffectSide(after.entities),
    languages: languagesOf(facts),
    secretPaths: [...deleted.secretPaths, ...created.secretPaths],
  });
  return effects.filter((field) => widensTrust(created, field));
}

/** The grants of a new identity that a deleted one had: the same role on the same group. */
function inheritedGrants(facts: Facts, deleted: Entity, created: Entity): Grant[] {
  const lost = [deleted.key, ...facts.before.subjectsOf(deleted.key)].flatMap((key) =>
    facts.grantsBefore(key),
  );
  const hadGrant = ({ role, group }: Grant): boolean =>
    lost.some((grant) => grant.role.key === role.key && grant.group.key === group.key);
  return facts.grantsThrough(created.key).filter(hadGrant);
}

/**
 * New identities that get the grants of a deleted one. That is how a change of trust looks in a preview after the resource
 * was renamed in the program. An identity that trusts no more than one that it takes the place of is the same one renamed.
 */
export function findInheritedGrants(facts: Facts): FindingInput[] {
  const deleted = facts.comparison.changes.flatMap(({ op, kind, before }) =>
    op === "delete" && before !== undefined && hasPrincipal(kind) ? [before] : [],
  );
  return [...facts.writes(hasPrincipal)].flatMap(({ op, after }) => {
    if (op !== "create") return [];
    const predecessors = deleted
      .filter(({ kind }) => kind === after.kind)
      .map((old) => ({
        old,
        grants: inheritedGrants(facts, old, after),
        changed: compareTrust(facts, old, after),
      }));
    const own = new Set(
      predecessors.flatMap(({ changed, grants }) => (changed.length === 0 ? grants.map(tupleOf) : [])),
    );
    const inherited = predecessors
      .map(({ grants, ...rest }) => ({ ...rest, grants: grants.filter((grant) => !own.has(tupleOf(grant))) }))
      .sort((a, b) => b.grants.length - a.grants.length);
    const [first] = inherited;
    if (first === undefined || first.grants.length === 0) return [];
    const { old, grants, changed } = first;
    return [
      facts.aboutEntity(after, {
        severity: "high",
        field: changed[0]?.path ?? "",
        message: `${labelEntity(after)} takes the place of ${labelEntity(old)}, which is deleted: a different principal inherits ${plural(grants.length, "grant")}: ${changed.map(({ path }) => path).join(", ")}`,
        details: trustDetails(changed, grants),
        advice:
          "create the new identity and its grants in one change, and delete the old one in a second change",
      }),
    ];
  });
}
