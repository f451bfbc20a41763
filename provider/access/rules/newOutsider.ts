import { isDeepStrictEqual } from "node:util";
import type { TrustedOwner } from "../trust/judgement";
import { once } from "../../fields/values";
import { ownerOfAddress } from "../trust/addresses";
import { wholeOf } from "../graph/entityKeys";
import type { Entity } from "../graph/model";
import type { Grant } from "../graph/grant";
import type { Severity } from "../review/finding";
import { hasPassed } from "./facts";
import type { Facts, KnownBy } from "./facts";
import type { Rule } from "./rule";
import { lifetimesOf, pathsMeant, textAt, textMeant } from "../graph/describedFields";
import { pathOf, trustsOf } from "../graph/trust";
import { mayWiden } from "../effects";
import { isAssumable, isInvite } from "./rule";
import { KnownBefore, makeOwnersKnown, ownersOf, strangersOf } from "./trustedOwners";
import type { OwnerParts } from "./trustedOwners";
import { boundBefore, identitiesToJudge, isStrongGrant, listGrantsHeld } from "./trustedIdentities";
import { labelEntity } from "./wording";
import { listFirst } from "../../text/plain";

const ADVICE =
  "compare the name, or the thumbprint of the key, letter by letter with the one that you mean; bind outsiders to a role that only reads, below the root";

const MAIL_ADDRESS = "mail address";

const listOwners = (owners: readonly TrustedOwner[]): string =>
  listFirst(owners.map(({ what, name }) => `${what} ${JSON.stringify(name)}`));

/** The field that says who the principal is. */
function fieldOf(entity: Entity): string | undefined {
  const trusts = trustsOf(entity);
  const [keys] = trusts.flatMap(({ keySets }) => keySets);
  const [part] = trusts.flatMap(({ account, subject }) => account ?? subject ?? []);
  return keys?.path ?? (part && pathOf(part));
}

/** Identities whose keys are others than before: T5 reports each new key, and no rule can tell a rotation. */
function listRekeyed(facts: Facts): ReadonlySet<string> {
  const changed = [...facts.writes(isAssumable)].filter(({ op, fields, kind }) => {
    const keys = pathsMeant(kind, "trust.keys");
    return (
      op !== "create" && fields.some(({ path, direction }) => keys.includes(path) && mayWiden(direction))
    );
  });
  return new Set(changed.map(({ after }) => after.key));
}

/** Where nobody had a grant yet, everybody is the `first`. */
function severityOfStranger(isStrongOne: boolean, newness: "first" | "new" | "byHand"): Severity {
  if (newness === "byHand") return isStrongOne ? "medium" : "low";
  return isStrongOne && newness === "new" ? "high" : "medium";
}

/** What is said of an outsider whom identities with a grant, and for invites also other invites, did not name before. */
const WORDS = {
  new: "which had no access before",
  reading: "which could only read so far",
  elsewhere: "which had access on other groups only",
  // Whoever is known by what was made by hand alone may have been put there to look known.
  byHand: "which had access only by what no given stack records: made by hand, or in another stack",
} as const;

/** By what owners are known: by any grant, or by one that allows more than to read. */
type KnownOn = "groups" | "writeGroups";

/** The owners that identities with a grant trusted before. */
function knownOwners(facts: Facts, by: KnownBy, which: KnownOn = "groups"): KnownBefore {
  const known = new KnownBefore(facts);
  for (const identity of boundBefore(facts, by)) {
    if (identity[which].length > 0) makeOwnersKnown(known, ownersOf(facts, identity.entity), identity[which]);
  }
  return known;
}

/** The invites that are written, and those whose role begins to allow more than to read. */
function invitesToJudge(facts: Facts): ReadonlySet<Entity> {
  const written = Array.from(facts.writes(isInvite), ({ after }) => after);
  const begun = Array.from(facts.grantsThatBeginToWrite(), ({ grant }) =>
    facts.comparison.after.entities.get(wholeOf(grant.subject.key) ?? grant.subject.key),
  );
  return new Set([...written, ...begun.flatMap((each) => (each && isInvite(each.kind) ? [each] : []))]);
}

/** Whom an address of an invite means. */
const invitedOwner = (address: string): TrustedOwner =>
  ownerOfAddress(MAIL_ADDRESS, address) ?? { what: MAIL_ADDRESS, name: address };

/** Whether nobody can accept an invite any more. */
const hasEnded = (facts: Facts, { kind, details }: Entity): boolean =>
  lifetimesOf(kind).some(({ field: { returnedAs = "" } }) => hasPassed(facts, textAt(details, returnedAs)));

/**
 * Who was known before, also by an invite of the address on the group of the invite. An invite makes nobody known who assumes an
 * identity.
 */
function knownToInvite(facts: Facts, by: KnownBy, which: KnownOn = "groups"): KnownBefore {
  const known = knownOwners(facts, by, which);
  for (const live of facts.comparison.before.entities.values()) {
    const entity = by === "anybody" ? live : facts.recorded.recordOf(live);
    if (entity === undefined || !isInvite(entity.kind) || hasEnded(facts, live)) continue;
    const address = textMeant(entity, "invite.address");
    if (address === undefined || address === "") continue;
    const isCounted =
      which === "groups" || facts.before.ofResource(live).some(({ role }) => facts.roles.mayWrite(role));
    if (!isCounted) continue;
    makeOwnersKnown(known, [[[invitedOwner(address)]]], [textAt(entity.inputs, "parentUid") ?? ""]);
  }
  return known;
}

/** Who was known before: to anybody, to what a given stack records, and as who may do more than read. */
interface Known extends Readonly<Record<KnownBy, KnownBefore>> {
  readonly writers: KnownBefore;
}

const findKnown = (facts: Facts, find: typeof knownOwners): Known => ({
  anybody: find(facts, "anybody"),
  stacks: find(facts, "stacks"),
  writers: find(facts, "anybody", "writeGroups"),
});

/** An owner that gets access where nobody has trusted it yet. */
interface Outsider {
  readonly owners: readonly TrustedOwner[];
  readonly grants: readonly Grant[];
  readonly severity: Severity;
  readonly words: (typeof WORDS)[keyof typeof WORDS];
}

function findOutsider(
  facts: Facts,
  { anybody: known, writers }: Known,
  conditions: readonly OwnerParts[],
  grants: readonly Grant[],
): Outsider | undefined {
  const strangers = strangersOf(known, conditions);
  if (strangers.length > 0) {
    const isStrongOne = grants.some((grant) => isStrongGrant(facts, grant));
    const isFirst = boundBefore(facts, "anybody").length === 0;
    const severity = severityOfStranger(isStrongOne, isFirst ? "first" : "new");
    return { owners: strangers, grants, severity, words: WORDS.new };
  }
  const found = grants.map((grant) => ({
    grant,
    owners: strangersOf(known, conditions, grant.group.key),
  }));
  const elsewhere = found.filter(({ owners }) => owners.length > 0);
  const writing = grants.filter(({ role }) => facts.roles.mayWrite(role));
  const readers = writing.length === 0 ? [] : strangersOf(writers, conditions);
  if (readers.length > 0) return { owners: readers, grants: writing, severity: "high", words: WORDS.reading };
  if (elsewhere.length === 0) return undefined;
  return {
    owners: [
      ...new Map(
        elsewhere.flatMap(({ owners }) => owners).map((owner) => [JSON.stringify(owner), owner]),
      ).values(),
    ],
    grants: elsewhere.map(({ grant }) => grant),
    severity: elsewhere.some(({ grant }) => grant.group.isRoot) ? "high" : "medium",
    words: WORDS.elsewhere,
  };
}

/** @param recorded The identity as a given stack records it. */
function judgeOutsider(
  facts: Facts,
  known: Known,
  conditions: readonly OwnerParts[],
  grants: readonly Grant[],
  recorded?: Entity,
): Outsider | undefined {
  const outsider = findOutsider(facts, known, conditions, grants);
  if (outsider !== undefined && outsider.words !== WORDS.elsewhere) return outsider;
  // Whom a stack knows anywhere was reviewed once: where they are trusted now, the server says.
  const owners = strangersOf(known.stacks, conditions);
  if (owners.length === 0) return outsider;
  const isStrongOne = grants.some((grant) => isStrongGrant(facts, grant));
  // Who is known elsewhere, and there by hand only, is not known; nor who took the place of whom a stack records.
  const isContradicted = recorded !== undefined && !isDeepStrictEqual(ownersOf(facts, recorded), conditions);
  const isByHand = outsider === undefined && !isContradicted;
  const severity = severityOfStranger(isStrongOne, isByHand ? "byHand" : "new");
  return { owners, grants, severity, words: WORDS.byHand };
}

export const newOutsider: Rule = {
  id: "T7",
  name: "new-outsider",
  severities: ["high", "medium", "low"],
  when: "high with a write capability, an unknown role, or a grant on a root group. Otherwise medium, and medium where no identity with a grant was there before. Below the root, medium too for an outsider that was trusted before, on other groups only. For one that no given stack makes known: medium instead of high, and otherwise low. But as loud as for a new one where a stack records somebody else for the identity. One that is then known on other groups only counts as new",
  what: "An identity with a grant trusts an organisation, tenant, account or mail domain that is new there. No identity with a grant on that group, or above it, trusted it before. Or only identities that read did, and this one does more: also by its role alone. It is an organisation of GitHub Actions, a group of GitLab, a tenant of Azure, an account of AWS, a registered key, and others. At an issuer of your own it is a trust domain of SPIFFE, a mail domain, or an organisation or group there. An issuer that no table knows may be a service with many customers: there it is what the subject names first, as in `deployment:acme/shop`. What looks like a mail address there, and is not proven to be at a domain, is an owner of its own. A domain makes those below it known. An identity without a grant makes nobody known. A grant or a trust that no given stack records makes an outsider known in part only. It was made by hand, or in a stack that `--state` does not name. An invite to a new mail domain is judged alike. An invite makes its mail domain known on its group, to later invites only. If its role only reads, then only to invites whose role reads too. One that has ended makes nobody known. The rule needs `--inventory`. At an issuer that signs for many customers, one known owner is enough: of the subject, or of a claim that holds together with it. Owners that were named together, as an organisation beside a number, are known together only. At an issuer of your own, the subject and each claim must name known owners. Not reported: who is trusted already, an issuer that is new as a whole (T2), and what pins nobody (T1, T3). Nor is another key of the same identity (T5).",
  why: "The subject pins one owner, but nobody has said that the owner is one of yours. `acme` and `acme-inc` are two organisations. Who administers one group can create an identity there, and make an outsider look known.",
  fix: "Compare the name letter by letter with the one that you mean. Bind outsiders to a role that only reads, on a group below the root. Let identities of your own organisation write.",
  except: "For a partner, by the fingerprint of the finding, until the change is merged.",
  needsBefore: true,
  // Drift reports each identity that no program declares, and each change of trust.
  beforeUpdate: true,
  about: (kind) => isAssumable(kind) || isInvite(kind),
  *find(facts) {
    // Without an inventory everybody is new.
    if (facts.comparison.inventories.length === 0) return;
    const known = once(() => findKnown(facts, knownOwners));
    const invited = once(() => findKnown(facts, knownToInvite));
    const rekeyed = listRekeyed(facts);
    for (const entity of identitiesToJudge(facts)) {
      const grants = facts.heldThrough(entity.key);
      const isJudged = grants.length > 0 && !rekeyed.has(entity.key);
      const conditions = isJudged ? ownersOf(facts, entity) : [];
      if (conditions.length === 0) continue;
      const recorded = facts.recorded.anyRecordOf(entity);
      const outsider = judgeOutsider(facts, known(), conditions, grants, recorded);
      if (outsider === undefined) continue;
      const field = fieldOf(entity);
      const found = facts.aboutEntity(entity, {
        severity: outsider.severity,
        field,
        message: `${labelEntity(entity)} trusts ${listOwners(outsider.owners)}, ${outsider.words}`,
        details: listGrantsHeld("whoever assumes it gets", outsider.grants),
        advice: ADVICE,
      });
      // Where the identity stays as it is, the line that gives it more says where to look.
      const isWritten = facts.comparison.changes.some(
        ({ op, after }) => op !== "same" && after?.key === entity.key,
      );
      const [gained] = isWritten ? [] : facts.gainedThrough(entity.key);
      yield gained?.location === undefined ? found : { ...found, location: gained.location };
    }
    for (const after of invitesToJudge(facts)) {
      const [field] = pathsMeant(after.kind, "invite.address");
      const address = textMeant(after, "invite.address");
      if (field === undefined || address === undefined) continue;
      const conditions = [[[invitedOwner(address)]]];
      const grants = facts.meanwhile.ofResource(after);
      const outsider = judgeOutsider(facts, invited(), conditions, grants);
      if (outsider === undefined) continue;
      yield facts.aboutEntity(after, {
        severity: outsider.severity,
        field,
        message: `${labelEntity(after)} invites somebody of ${listOwners(outsider.owners)}, ${outsider.words}`,
        advice: ADVICE,
      });
    }
  },
};
