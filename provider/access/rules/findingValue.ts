import { canonical } from "../../fields/equal";
import { isSecurityRelevant } from "../../fields/fieldSpec";
import { compareTexts, getOrCompute } from "../../fields/values";
import type { Json, Props } from "../../fields/values";
import { fingerprintOf } from "../documents/digest";
import { specs } from "../documents/specs";
import { isAccessField } from "../graph/accessKinds";
import { isJudged, isName } from "../../fields/fieldAccess";
import type { Entity } from "../graph/model";
import { grantsBySide, tokenTrustsDuring } from "../graph/tokenTrusts";
import type { Grant, Named, Subject } from "../graph/grant";
import { isHiddenProperty } from "../graph/graphBuilder";
import { replaceKeys, wholeOf } from "../graph/entityKeys";
import { mapReferences, topProperty } from "../graph/inputLeaves";
import type { Comparison } from "../review/compare";
import type { FindingInput } from "./rule";

/**
 * The arguments of an object that decide access, and those at some paths: what an exception accepts. Values that mean the same
 * to the API have one form, since the server may return another one than it was sent.
 *
 * @param nameOf what a reference is called: the same before and after what it names has a uid.
 */
export function inputsToPin(
  kind: string,
  inputs: Props,
  paths: readonly string[],
  nameOf: (uid: string) => string = (uid) => uid,
): Json {
  const spec = specs[kind];
  if (spec === undefined) return null;
  // A finding may name several, as in `oidc.issuer, scopes`.
  const properties = new Set(paths.flatMap((path) => path.split(", ")).map(topProperty));
  const kept = Object.entries(inputs).filter(
    ([key]) => properties.has(key) || isAccessField(kind, key) || isSecurityRelevant({ ...spec.fields[key] }),
  );
  const named = mapReferences(spec, Object.fromEntries(kept), (value) =>
    typeof value === "string" ? nameOf(value) : value,
  );
  return Object.entries(named)
    .sort(([a], [b]) => compareTexts(a, b))
    .flatMap(([key, value]): Json[] => {
      const field = spec.fields[key];
      const form = field === undefined ? value : canonical(field, value);
      return form === undefined ? [] : [[key, form]];
    });
}

/**
 * A urn is there from the first preview on, a uid only after the update: the same finding keeps its fingerprint. A program moves
 * a urn to another object by an alias, so the name counts too; a uid for one that nobody can read. What is only read is its uid.
 */
export function chooseStableName(named: Partial<Named> | Entity | undefined): string {
  const { urn, uid, key, name } = named ?? {};
  const entity = named !== undefined && "inputs" in named ? named : undefined;
  if (urn === undefined || (entity?.external && uid !== undefined)) return uid ?? key ?? name ?? "";
  const isHidden = entity !== undefined && isHiddenProperty(entity, "name");
  return JSON.stringify([urn, (isHidden ? uid : name) ?? null]);
}

export const stableNames = (named: readonly (Named | Entity)[]): string[] =>
  named.map(chooseStableName).sort();

/** The arguments of a kind that matter, but for names: how long an invite is valid, too. */
const judgedFields = (kind = ""): string[] =>
  Object.entries(specs[kind]?.fields ?? {})
    .filter(([key, field]) => isJudged(field) && !isName(key))
    .map(([key]) => key);

/** A longer value is named by its digest, in characters of JSON. */
const LONGEST_VALUE = 10_000;

/** More grants are named by their digest. */
const MOST_TEXTS = 20;

/** Tells what a finding accepts of the objects that it is about, so that its fingerprint changes with it. */
export class FindingValues {
  /** By its kind and its urn or uid: a part of a group has the uid of that. */
  private readonly reported = new Map<string, Entity>();
  /** What the stack records as the names of objects that somebody renamed by hand, by key. */
  private readonly recordedNames = new Map<string, string>();
  private readonly names = new Map<string, string>();
  private readonly told = new Map<readonly Grant[], Json>();
  private readonly texts = new Map<Grant, string>();
  /** Thousands of findings can be about one object. */
  private readonly pinned = new Map<Entity, Map<string, Json>>();

  constructor(private readonly comparison: Comparison) {
    const { before, after, changes } = comparison;
    // What the change removes is as it was before.
    for (const entity of [...before.entities.values(), ...after.entities.values()]) {
      for (const name of [entity.urn, entity.uid]) {
        if (name !== undefined) this.reported.set(`${entity.kind} ${name}`, entity);
      }
    }
    for (const { recorded, before: live } of changes) {
      if (recorded?.name !== undefined && live !== undefined && recorded.name !== live.name)
        this.recordedNames.set(live.key, recorded.name);
    }
  }

  /** The object that a finding is about. */
  private objectOf({ kind = "", urn, uid }: Pick<FindingInput, "kind" | "urn" | "uid">): Entity | undefined {
    const found = this.reported.get(`${kind} ${urn ?? uid ?? ""}`);
    // What an interrupted replacement left has the urn of what stands now, and a uid of its own.
    const isAnother = uid !== undefined && found?.uid !== undefined && found.uid !== uid;
    return (isAnother ? this.reported.get(`${kind} ${uid}`) : undefined) ?? found;
  }

  private entityAt(key: string): Entity | undefined {
    const { before, after } = this.comparison;
    return after.entities.get(key) ?? before.entities.get(key);
  }

  /** What a finding is about, and what that lies in, from below. */
  subjectOf({ grant, ...about }: FindingInput): readonly string[] {
    const key = grant?.subject.key ?? this.objectOf(about)?.key;
    return key === undefined ? [chooseStableName(about)] : this.placeOf(key);
  }

  /** An object and what it lies in, from below. */
  placeOf(key: string | undefined): readonly string[] {
    if (key === undefined) return [];
    const whole = this.entityAt(key) === undefined ? wholeOf(key) : undefined;
    if (whole !== undefined) return [replaceKeys(key, new Map([[whole, ""]])), ...this.placeOf(whole)];
    const { before, after } = this.comparison;
    const chain = after.hierarchy.chain(key);
    return (chain.length > 1 ? chain : before.hierarchy.chain(key)).map((each) => {
      const entity = this.entityAt(each);
      const recorded = this.recordedNames.get(each);
      const name = entity === undefined ? each : chooseStableName(entity);
      return recorded === undefined ? name : JSON.stringify([name, recorded]);
    });
  }

  private readonly nameOf = (key: string): string =>
    getOrCompute(this.names, key, () => JSON.stringify(this.placeOf(key)));

  private inputsOf(entity: Entity | undefined, paths: readonly string[]): Json | undefined {
    if (entity === undefined) return undefined;
    return this.remember(entity, paths.join("\n"), () => {
      const pinned = inputsToPin(entity.kind, entity.inputs, paths, this.nameOf);
      // Whoever accepted a value accepted it as it could be read.
      return entity.concealed === undefined ? pinned : [pinned, entity.concealed.map(({ path }) => path)];
    });
  }

  private remember(entity: Entity, what: string, read: () => Json): Json {
    const known = getOrCompute(this.pinned, entity, () => new Map());
    return getOrCompute(known, what, () => {
      const value = read();
      return JSON.stringify(value).length > LONGEST_VALUE ? fingerprintOf([value]) : value;
    });
  }

  /**
   * References to what exists that a preview takes to be so, since the update may name another object, and what a reference
   * that was not read can name.
   */
  private assumedOf({ assumptions = [], candidates = [] }: Entity): Json {
    return [
      ...assumptions.flatMap(({ path, key }) => (this.entityAt(key)?.uid === undefined ? [] : [path])),
      ...candidates.map(({ paths, keys }): Json => [
        [...paths],
        ...keys.map((key): Json => [this.nameOf(key), this.inputsOf(this.entityAt(key), []) ?? null]),
      ]),
    ];
  }

  private valueOf({ role }: Grant): Json {
    return [...(role.capabilities ?? ["unknown"])];
  }

  /**
   * Who can be a subject: a group of a directory is whom its provider says, a service acts as its identity, and whoever can be
   * an identity whose tokens the subject takes can be the subject.
   * @param entityAt finds an object by its key: on one side of the change, or on both.
   * @param about What says who it is where no object does.
   */
  private trustOf(
    { key, displayName }: Subject,
    entityAt: (key: string) => Entity | undefined = (each) => this.entityAt(each),
    about?: Entity,
  ): Json {
    const holder = entityAt(key) ?? entityAt(wholeOf(key) ?? "") ?? about;
    if (holder === undefined) return displayName;
    const taken = [...tokenTrustsDuring(this.comparison).withTaken(holder.key)];
    const trusted = new Set([holder, ...taken.flatMap((each) => entityAt(each) ?? [])]);
    const [own = displayName, ...others] = Array.from(trusted, (each) =>
      this.inputsOf(each, judgedFields(each.kind)),
    );
    return others.length === 0 ? own : [own, ...others.map((each) => each ?? null)];
  }

  /** A grant, as one text: who holds what and where, who can be the holder, and what the role allows. */
  private textOf(grant: Grant, entityAt?: (key: string) => Entity | undefined): string {
    const { subject, role, group } = grant;
    const names = [subject, role, group].map(({ key }) => this.nameOf(key));
    return JSON.stringify([...names, this.trustOf(subject, entityAt), this.valueOf(grant)]);
  }

  /** Grants as texts, in an order of their own: many findings can be about the same ones. */
  private textsOf(grants: readonly Grant[]): Json {
    return getOrCompute(this.told, grants, () => {
      const texts = grants.map((grant) => getOrCompute(this.texts, grant, () => this.textOf(grant))).sort();
      return texts.length > MOST_TEXTS ? fingerprintOf(texts) : texts;
    });
  }

  /**
   * What an object gives, to whom and where, also through identities that take its tokens, before and after the change: whoever
   * accepts a finding about it accepts no more than that. Who holds a grant before may have what the object gives after it, until
   * the update ends.
   */
  private effectsOf(entity: Entity): Json {
    const lines = grantsBySide(this.comparison, entity).flatMap(({ side: { entities }, grants }) =>
      grants.map((grant) => this.textOf(grant, (key) => entities.get(key) ?? this.entityAt(key))),
    );
    return [...new Set(lines)].sort();
  }

  /**
   * Of a grant who can be its subject and what its role allows. Of an object its arguments and what it gives. Else what
   * the rule says that it accepts, or its words.
   */
  of(finding: FindingInput): Json {
    const { grant, kind = "", urn, uid, field, message, details = [], grants } = finding;
    const texts = grants?.map((all) => this.textsOf(all));
    const pins = texts === undefined ? finding.pins : [finding.pins ?? null, texts];
    const about = this.objectOf({ kind, urn, uid });
    const own = this.inputsOf(about, field === undefined ? [] : [field]) ?? null;
    const assumed = about === undefined ? [] : this.remember(about, "assumed", () => this.assumedOf(about));
    if (grant !== undefined) {
      const trust = this.trustOf(grant.subject, undefined, about);
      return [trust, this.valueOf(grant), field === undefined ? null : own, assumed, pins ?? null];
    }
    if (about !== undefined) {
      const effects = this.remember(about, "effects", () => this.effectsOf(about));
      return [own, effects, assumed, pins ?? null];
    }
    return pins ?? [message, ...details];
  }
}
