import { compareTexts } from "../../fields/values";
import { printable } from "../../text/printable";
import { suggest } from "../../text/suggestions";
import { accessKinds } from "./accessKinds";
import { labelByKey } from "./groupHierarchy";
import { grantKey, graphOf } from "./resolveGrants";
import { DocumentError } from "../documents/jsonText";
import type { AccessGraph, Entity } from "./model";
import type { Grant, Scope, Subject } from "./grant";
import type { Inventory } from "../documents/inventory";
import type { StateExport } from "../documents/stateExport";
import { entityOfObject } from "./entities";
import { joinSteps, buildGraphs } from "./graphBuilder";
import { tokenTrustsOf } from "./tokenTrusts";
import { trustsOf } from "./trust";
import { PatternComparer } from "../trust/patternComparer";
import { hasKeyCalled } from "../documents/digest";

export function graphOfInventory(inventory: Inventory): AccessGraph {
  return graphOf(new Map(inventory.objects.map(entityOfObject).map((entity) => [entity.key, entity])));
}

export function graphOfState(recorded: StateExport): AccessGraph {
  return acceptUnverified(buildGraphs(joinSteps([], recorded), undefined).after);
}
/** Treats resources read with `.get` as verified, for graphs that answer queries and judge nothing. */
export function acceptUnverified({ entities }: AccessGraph): AccessGraph {
  return graphOf(
    new Map([...entities].map(([key, { claimed: _claimed, ...entity }]) => [key, entity as Entity])),
  );
}

type Described = Pick<Subject, "key" | "uid" | "urn" | "name" | "displayName">;

/** Selects the access to show; all of it without a condition. */
export interface AccessQuery {
  /**
   * A uid or a name; where nobody is called so, a part of a name or display name, or the subject of a token that is accepted; or the
   * thumbprint or the kid of a key.
   */
  readonly who?: string;
  /** A capability: `CAP_REPO_DELETE`. */
  readonly can?: string;
  /** A uid, a name or a path of a group. Grants on groups above it are included. */
  readonly on?: string;
}

/** One way in which a subject has access. */
export interface Access {
  readonly grant: Grant;
  /** The requested group, if the grant is one of a group above it. */
  readonly inheritedBy?: Scope;
  /** The name of the requested subject, if the grant is one of an identity that takes its tokens. */
  readonly byTokensOf?: string;
}

export interface EffectiveAccess {
  readonly access: readonly Access[];
  /** Grants of roles whose capabilities are unknown: they may match. */
  readonly undecided: readonly Access[];
}

/** Says of which kind the objects of a name are that are no groups, and what to ask for instead; empty where there is none. */
function describeOthers(
  { entities, hierarchy }: AccessGraph,
  text: string,
  groups: readonly string[],
): string {
  const others = [...entities.values()].filter(
    ({ kind, key, uid, urn, name }) => kind !== "Group" && [key, uid, urn, name].includes(text),
  );
  return others
    .slice(0, 3)
    .map(({ key, kind }) => {
      const group = hierarchy.chain(key).find((each) => groups.includes(each));
      const place = group === undefined ? "" : printable(hierarchy.scope(group).path, 120);
      const isHolder = accessKinds[kind]?.describeHolder !== undefined;
      const question = isHolder
        ? `--who ${JSON.stringify(printable(text, 120))}`
        : `--on ${JSON.stringify(place)}`;
      return `; it is of the kind ${kind}${place === "" ? "" : ` in ${place}`}${isHolder || place !== "" ? `: give ${question}` : ""}`;
    })
    .join("");
}

/** @throws DocumentError where there is none, and where there are several. */
function findGroup(graph: AccessGraph, text: string): Scope {
  const { entities, grants, hierarchy } = graph;
  const groups = [...entities.values()].filter(({ kind }) => kind === "Group");
  const granted = grants.map(({ group }) => group.key);
  const keys = [
    ...new Set([...groups.map(({ key }) => key), ...granted.flatMap((key) => hierarchy.chain(key))]),
  ];
  const matches = (key: string): boolean =>
    key === text || labelByKey(entities, key) === text || hierarchy.scope(key).path === text;
  const matching = keys.filter(matches);
  const [only] = matching;
  const shown = JSON.stringify(printable(text, 120));
  if (only === undefined)
    throw new DocumentError(
      "PP5008",
      `--on ${shown} names no group that is known here${
        describeOthers(graph, text, keys) ||
        suggest(
          text,
          keys.flatMap((key) => [labelByKey(entities, key), hierarchy.scope(key).path]),
        )
      }`,
    );
  if (matching.length > 1) {
    const paths = matching.map((key) => `${printable(hierarchy.scope(key).path, 120)} (${key})`);
    throw new DocumentError(
      "PP5014",
      `--on ${shown} names several groups: give the uid of one: ${paths.join("; ")}`,
    );
  }
  return hierarchy.scope(only);
}

/** Whoever may hold something, also where they hold nothing. */
function listSubjects({ entities, grants }: AccessGraph): readonly Described[] {
  const objects = [...entities.values()].flatMap((entity) => {
    const described = accessKinds[entity.kind]?.describeHolder?.(entity);
    return described === undefined ? [] : [{ ...entity, displayName: described.displayName }];
  });
  return [...objects, ...grants.map(({ subject }) => subject)];
}

/** Whether a token with this subject, or for this principal of AWS, may be accepted. */
function mayAccept(entity: Entity, subject: string, comparer: PatternComparer): boolean {
  return trustsOf(entity).some((trust) =>
    [trust.subject, trust.arn].some(
      (part) =>
        part !== undefined &&
        (part.exact === subject || (part.pattern !== undefined && comparer.mayMatch(part.pattern, subject))),
    ),
  );
}

/**
 * Whom a text means: those that are called so; where there are none, those in whose name it is, and who accepts it as the subject of a
 * token; and who has a key of that name.
 */
function findSubjects(graph: AccessGraph, text: string): ReadonlySet<string> {
  const all = listSubjects(graph);
  const called = all.filter(({ key, uid, urn, name, displayName }) =>
    [key, uid, urn, name, displayName].includes(text),
  );
  const meant = called.length > 0 ? called : [...findByPart(all, text), ...findAccepting(graph, text)];
  return new Set([...meant, ...holdersOfKey(graph, text)].map(({ key }) => key));
}

/** The names that have a text in them, where others are called so: whoever asks may mean these too. */
export function othersNamed(graph: AccessGraph, text: string): string[] {
  const meant = findSubjects(graph, text);
  const others = findByPart(listSubjects(graph), text).filter(({ key }) => !meant.has(key));
  return [...new Set(others.map(({ name, displayName }) => name ?? displayName))].sort(compareTexts);
}

function findByPart(subjects: readonly Described[], text: string): readonly Described[] {
  const word = text.toLowerCase();
  return subjects.filter(({ name = "", displayName }) =>
    [name, displayName].some((each) => each.toLowerCase().includes(word)),
  );
}

function findAccepting({ entities }: AccessGraph, subject: string): readonly Entity[] {
  const comparer = new PatternComparer();
  return [...entities.values()].filter((entity) => mayAccept(entity, subject, comparer));
}

/** The identities that have a key of this thumbprint or kid. */
export const holdersOfKey = ({ entities }: AccessGraph, text: string): Entity[] =>
  [...entities.values()].filter((entity) =>
    trustsOf(entity).some(({ keySets }) => keySets.some(({ value }) => hasKeyCalled(value, text))),
  );

/** @throws DocumentError where a text matches no subject that is known here. */
export function checkSubject(graph: AccessGraph, who: string): void {
  if (findSubjects(graph, who).size > 0) return;
  const names = listSubjects(graph).flatMap(({ name, displayName }) => [name ?? "", displayName]);
  throw new DocumentError(
    "PP5008",
    `--who ${JSON.stringify(printable(who, 80))} names nobody who is known here${suggest(who, [...new Set(names.map((name) => printable(name, 100)))])}`,
  );
}

/** The identities that take the tokens of others, each with the name of one whose tokens it takes. */
function findTakers({ entities }: AccessGraph, keys: ReadonlySet<string>): ReadonlyMap<string, string> {
  const trusts = tokenTrustsOf(new PatternComparer(), entities);
  const takers = new Map<string, string>();
  for (const key of keys)
    for (const taker of trusts.withTakers(key))
      if (!keys.has(taker) && !takers.has(taker)) takers.set(taker, entities.get(key)?.name ?? key);
  return takers;
}

/**
 * Who has access, and by which grant.
 *
 * @throws DocumentError where `on` names no group, or several.
 */
export function effectiveAccess(graph: AccessGraph, { who, can, on }: AccessQuery): EffectiveAccess {
  const { hierarchy } = graph;
  const group = on === undefined ? undefined : findGroup(graph, on);
  const chain = group === undefined ? undefined : hierarchy.chain(group.key);
  const asked = who === undefined ? undefined : findSubjects(graph, who);
  const takers = asked && findTakers(graph, asked);
  const seen = new Set<string>();
  const access: Access[] = [];
  const undecided: Access[] = [];
  for (const grant of graph.grants) {
    if (chain && !chain.includes(grant.group.key)) continue;
    const byTokensOf = takers?.get(grant.subject.key);
    if (asked?.has(grant.subject.key) === false && byTokensOf === undefined) continue;
    const key = JSON.stringify([grantKey(grant, hierarchy), grant.sourceKind, grant.uid ?? grant.urn]);
    if (seen.has(key)) continue;
    seen.add(key);
    const one: Access = {
      grant,
      ...(group === undefined || group.key === grant.group.key ? {} : { inheritedBy: group }),
      ...(byTokensOf === undefined ? {} : { byTokensOf }),
    };
    if (can === undefined || grant.role.capabilities?.includes(can)) access.push(one);
    else if (grant.role.capabilities === undefined) undecided.push(one);
  }
  return { access, undecided };
}
