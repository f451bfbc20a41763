import { printable } from "../../api/errors";
import { grantKey, GroupHierarchy, label } from "./groupHierarchy";
import { DocumentError } from "../documents/jsonText";
import type { AccessGraph } from "./model";
import type { Grant, Scope } from "./grant";

/** Which access is asked for; all of it where nothing is given. */
export interface AccessQuery {
  /** A uid, a name, or a part of how a subject is told. */
  readonly who?: string;
  /** A capability: `CAP_REPO_DELETE`. */
  readonly can?: string;
  /** A group: its uid, its name or its path. What is granted above it counts too. */
  readonly on?: string;
}

/** One way in which a subject has access. */
export interface Access {
  readonly grant: Grant;
  /** The group that was asked for, where the grant is one of an ancestor. */
  readonly inheritedBy?: Scope;
}

export interface EffectiveAccess {
  readonly access: readonly Access[];
  /** Grants of roles of which nobody told what they allow: whether they match cannot be said. */
  readonly undecided: readonly Access[];
}

/** @throws DocumentError where there is none, and where there are several. */
function findGroup(graph: AccessGraph, hierarchy: GroupHierarchy, text: string): Scope {
  const groups = [...graph.entities.values()].filter(({ kind }) => kind === "Group");
  const granted = graph.grants.map(({ group }) => group.key);
  const keys = [
    ...new Set([...groups.map(({ key }) => key), ...granted.flatMap((key) => hierarchy.chain(key))]),
  ];
  const fits = (key: string): boolean =>
    key === text || label(graph.entities, key) === text || hierarchy.scope(key).path === text;
  const found = keys.filter(fits);
  const [only] = found;
  const shown = JSON.stringify(printable(text, 120));
  if (only === undefined) throw new DocumentError(`--on ${shown} names no group that is known here`);
  if (found.length > 1) {
    const paths = found.map((key) => `${printable(hierarchy.scope(key).path, 120)} (${key})`);
    throw new DocumentError(`--on ${shown} names several groups: give the uid of one: ${paths.join("; ")}`);
  }
  return hierarchy.scope(only);
}

function isSubject({ subject }: Grant, text: string): boolean {
  if ([subject.key, subject.uid, subject.urn, subject.name].includes(text)) return true;
  return subject.displayName.toLowerCase().includes(text.toLowerCase());
}

/**
 * Who has access, and by which grant.
 *
 * @throws DocumentError where `on` names no group, or several.
 */
export function effectiveAccess(graph: AccessGraph, { who, can, on }: AccessQuery): EffectiveAccess {
  const hierarchy = new GroupHierarchy(graph.entities);
  const group = on === undefined ? undefined : findGroup(graph, hierarchy, on);
  const chain = group === undefined ? undefined : hierarchy.chain(group.key);
  const seen = new Set<string>();
  const access: Access[] = [];
  const undecided: Access[] = [];
  for (const grant of graph.grants) {
    if (chain && !chain.includes(grant.group.key)) continue;
    if (who !== undefined && !isSubject(grant, who)) continue;
    const key = `${grantKey(grant, hierarchy)} ${grant.sourceKind}`;
    if (seen.has(key)) continue;
    seen.add(key);
    const one: Access = {
      grant,
      ...(group === undefined || group.key === grant.group.key ? {} : { inheritedBy: group }),
    };
    if (can === undefined || grant.role.capabilities?.includes(can)) access.push(one);
    else if (grant.role.capabilities === undefined) undecided.push(one);
  }
  return { access, undecided };
}
