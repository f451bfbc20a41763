import { createPublicKey } from "node:crypto";
import { ownEffect } from "../../fields/fieldSpec";
import type { AccessMeaning } from "../../fields/fieldSpec";
import { listFirst, plural, tryParseJson } from "../../text/plain";
import { DAY_MS, ambiguityOf, durationNanos, findPrivateMember } from "../../fields/formats";
import { groupBy, isObject } from "../../fields/values";
import type { Json, Props } from "../../fields/values";
import { isTakeover } from "./capabilityEffects";
import type { Entity } from "../graph/model";
import type { ChangeWithAfter, ResourceChange } from "../review/compare";
import {
  fieldsWhere,
  lifetimesOf,
  pathsMeant,
  splitPath,
  textAt,
  textAtPath,
  valueAt,
  textMeant,
} from "../graph/describedFields";
import { namesOfKeys } from "../documents/digest";
import { trustsOf } from "../graph/trust";
import { labelEntity } from "./wording";
import { daysUntil, rememberByFacts } from "./facts";
import type { Facts } from "./facts";
import type { FindingInput, Rule } from "./rule";
import { everyKind, isInvite } from "./rule";
import { specs } from "../documents/specs";
import { isReference, leavesIn, topProperty } from "../graph/inputLeaves";
import { isUnread, reasonOf, unresolvedPaths } from "../graph/unread";
import { pathIn } from "../graph/grant";
import type { Severity } from "../review/finding";

/*
 * A secret that one resource has, such as the code of an invite, in an argument of another one that is no secret: everybody
 * who may read that object reads it. The preview tells from which resources an argument comes, and not from which of their
 * properties.
 */

interface SecretText {
  readonly path: string;
  readonly severity: Severity;
  readonly how: string;
  readonly sources: readonly (Entity | undefined)[];
}

/** How bad it is to have a value there. What is no secret of its source may be made of one: nobody can tell. */
function judgeText(value: Json | undefined): Pick<SecretText, "severity" | "how"> | undefined {
  if (typeof value !== "string" || value === "") return undefined;
  if (!isUnread(value)) return { severity: "high", how: "may hold a secret in plain text" };
  return reasonOf(value) === "secret"
    ? { severity: "high", how: "takes over a secret" }
    : { severity: "medium", how: "may take over a secret" };
}

function secretTextsOf(
  facts: Facts,
  { op, before, after, secretsMayHaveChanged }: ResourceChange,
): SecretText[] {
  const { secretSources } = after ?? {};
  if (after === undefined || secretSources === undefined) return [];
  if (op !== "create" && op !== "update" && op !== "replace") return [];
  const old: Props = op === "update" ? (before?.inputs ?? {}) : {};
  const isKept = (property: string): boolean => {
    const isIn = (paths: readonly string[]): boolean => paths.some((path) => topProperty(path) === property);
    const isSecretOnBoth = isIn(before?.secretPaths ?? []) && isIn(after.secretPaths);
    if (op === "update" && isSecretOnBoth) return !isIn(secretsMayHaveChanged);
    return JSON.stringify(old[property]) === JSON.stringify(after.inputs[property]);
  };
  return leavesIn(specs[after.kind], after.inputs).flatMap((leaf): SecretText[] => {
    const { value, path, property, field, decidesAccess } = leaf;
    const keys = secretSources[property] ?? [];
    // X3 reports what decides access and was not read.
    const isOther = field.secret === true || isReference(leaf) || (decidesAccess && isUnread(value));
    if (keys.length === 0 || isOther || isKept(property)) return [];
    const sources = keys.flatMap((key) => [
      facts.comparison.before.entities.get(key),
      facts.comparison.after.entities.get(key),
    ]);
    const judged = judgeText(value);
    return judged === undefined ? [] : [{ ...judged, path, sources }];
  });
}

const labelsOf = (sources: SecretText["sources"]): string[] => [
  ...new Set(sources.flatMap((source) => (source === undefined ? [] : [labelEntity(source)]))),
];

/** Secrets of other resources in arguments that everybody reads who may list the object. */
function* findSecretTexts(facts: Facts): Generator<FindingInput> {
  for (const change of facts.comparison.changes) {
    const { after } = change;
    if (after === undefined) continue;
    for (const { path, severity, how, sources } of secretTextsOf(facts, change)) {
      yield facts.aboutEntity(after, {
        severity,
        field: path,
        message: `${path} of ${labelEntity(after)} ${how} of ${listFirst(labelsOf(sources), 3)}, and whoever may read the object reads it`,
        advice:
          severity === "medium"
            ? "apply what it comes from first, in a separate change, so that the preview shows the value"
            : "take the secret out, and rotate it if it was ever written there",
      });
    }
  }
}

const SOON_DAYS = 30;
const LONG_DAYS = 90;
const INVITE_DAYS = 7;

/** The keys of a key set; none where it cannot be read. */
function readKeySet(jwks: string): Props[] {
  const value = tryParseJson(jwks) as Json | undefined;
  const keys = isObject(value) && Array.isArray(value["keys"]) ? value["keys"] : [value];
  return keys.filter((key) => isObject(key));
}

/** Shorter RSA keys are refused by NIST SP 800-131A and by RFC 7518, section 3.3. */
const LEAST_RSA_BITS = 2048;
/** What divides the modulus of no RSA key: that has two factors, of half its length. */
const SMALL_NUMBERS = Array.from({ length: 1_000 }, (_, i) => BigInt(i + 2));
/** Algorithms that need no private key: nobody signs, or whoever checks a token can sign one. */
const WITHOUT_PRIVATE_KEY = /^(?:none|HS\d+)$/i;

/** Why others than the holder of its private key can sign with a key; undefined where nothing shows that. */
function findWeakness(key: Props): string | undefined {
  const { kty, alg, n } = key;
  if (typeof alg === "string" && WITHOUT_PRIVATE_KEY.test(alg)) return `its alg is ${JSON.stringify(alg)}`;
  const place = ["jku", "x5u"].find((member) => key[member] !== undefined);
  if (place !== undefined) return `by ${place} it names another place for keys`;
  if (kty !== "RSA" || typeof n !== "string") return undefined;
  try {
    const { asymmetricKeyDetails } = createPublicKey({ key, format: "jwk" });
    const { modulusLength = 0, publicExponent = 0n } = asymmetricKeyDetails ?? {};
    if (modulusLength < LEAST_RSA_BITS)
      return `it has ${modulusLength} bits, and RSA needs ${LEAST_RSA_BITS}`;
    if (publicExponent < 3n) return `its exponent is ${publicExponent}`;
    const modulus = BigInt(`0x${Buffer.from(n, "base64url").toString("hex")}`);
    const factor = SMALL_NUMBERS.find((each) => modulus % each === 0n);
    return factor === undefined
      ? undefined
      : `its modulus has the factor ${factor}, so anybody can compute its private key`;
  } catch {
    // No key of anybody: nothing is signed with it.
    return undefined;
  }
}

const keySets = (kind: string): readonly string[] => pathsMeant(kind, "trust.keys");
const ends = fieldsWhere((field) => ownEffect(field) === "expiry");

const hasKeySet = (kind: string): boolean => keySets(kind).length > 0;

/** Why whoever has no private key of a key set may sign in by it; undefined where nothing shows that. */
function findKeySetProblem(
  entity: Entity,
  name: string,
  jwks: string,
): Pick<FindingInput, "message" | "advice"> | undefined {
  const label = labelEntity(entity);
  const keys = readKeySet(jwks);
  const [member] = keys.flatMap((key) => findPrivateMember(key) ?? []);
  if (member !== undefined) {
    return {
      message: `${label} contains a private key: a key in ${name} has the member "${member}"`,
      advice: "register the public key only, and treat this one as stolen: generate a new pair",
    };
  }
  const [weakness] = keys.flatMap((key) => findWeakness(key) ?? []);
  if (weakness !== undefined) {
    return {
      message: `${label} trusts a key that others can sign for: in ${name}, ${weakness}`,
      advice: `register a key of at least ${LEAST_RSA_BITS} bits (RSA) or of an elliptic curve, with nothing but its public members`,
    };
  }
  const ambiguity = ambiguityOf(jwks);
  if (ambiguity === undefined) return undefined;
  return {
    message: `${label} has a key set that parsers read differently: in ${name}, ${ambiguity}`,
    advice: "write each member once, in the letters of RFC 7517, and nothing but keys",
  };
}

/** The identities that have each key on one side of the change, by what tells the key apart. */
const holdersOfKeys = rememberByFacts((facts, side: "before" | "after") =>
  groupBy(facts.comparison[side].entities.values(), (entity) =>
    trustsOf(entity).flatMap(({ keySets: sets }) => sets.flatMap(({ value }) => namesOfKeys(value))),
  ),
);

/** Who else has a key of a key set: whoever has it can be all of them. */
function describeSharing(facts: Facts, entity: Entity, jwks: string): string[] {
  const holders = namesOfKeys(jwks).flatMap((name) => holdersOfKeys(facts, "after").get(name) ?? []);
  const others = new Set(holders.filter(({ key }) => key !== entity.key).map(labelEntity));
  return others.size === 0 ? [] : [`the same key is registered for ${listFirst([...others].sort())}`];
}

/** A key set by which others can sign in, or that a resource did not have before. */
function* judgeKeySet(
  facts: Facts,
  { before, after }: ChangeWithAfter,
  path: string,
): Generator<FindingInput> {
  const [parent, name] = splitPath(path);
  if (!isObject(valueAt(after.inputs, parent))) return;
  const jwks = textAtPath(after.inputs, path) ?? "";
  const problem = findKeySetProblem(after, name, jwks);
  const details = describeSharing(facts, after, jwks);
  if (problem !== undefined) {
    yield facts.aboutEntity(after, { severity: "critical", field: path, details, ...problem });
    return;
  }
  if (isObject(valueAt(before?.inputs, parent))) return;
  yield facts.aboutEntity(after, {
    severity: "medium",
    field: parent,
    message: `${labelEntity(after)} authenticates with static keys, which nobody rotates`,
    advice:
      "trust the issuer of the CI system or cluster instead (claimMatch), or let the keys end soon (expirationTime)",
    details,
  });
}

const staticKeys: Rule = {
  id: "K1",
  name: "static-keys",
  severities: ["critical", "medium"],
  when: "critical if a key set contains a private key or one that others can sign for, or can be read differently. Medium for a new identity with static keys",
  what: "A new identity authenticates with keys that are registered here, or an existing one switches to them. Or the key set of a created or changed identity contains a private key; its value is never printed. Or others can sign for a key. It is RSA with fewer than 2048 bits, a modulus with a small factor or the exponent 1. Or its `alg` is `none` or `HS256`, or it has `jku` or `x5u`. Or the set has a member twice, or one such as `Keys`: some parsers ignore case, and take other keys than the report shows. Or it is nested more than 20 levels deep, which some parsers refuse. The finding names the other identities that have one of the keys.",
  why: "Nobody rotates such keys, and no issuer can revoke them. A private key in a program is also in its repository, state and logs, and whoever can read one of them can sign in.",
  fix: "Trust the issuer of the CI system or cluster instead (`claimMatch`). Treat a private key as stolen: generate a new pair, and register only the public key.",
  except: "For an issuer that the platform cannot reach, until the date on which its keys are replaced.",
  about: hasKeySet,
  *find(facts) {
    for (const change of facts.writes(hasKeySet)) {
      for (const path of keySets(change.kind)) yield* judgeKeySet(facts, change, path);
    }
  },
};

/** The end of the keys beside it. */
function endOfKeys(kind: string, keySet: string): string | undefined {
  const [parent] = splitPath(keySet);
  return ends(kind).find(({ path }) => splitPath(path)[0] === parent)?.path;
}

/** @param written the resources that the change creates or updates, by key. */
function* findKeyExpiry(
  facts: Facts,
  entity: Entity,
  keySet: string,
  written: ReadonlySet<string>,
): Generator<FindingInput> {
  const field = endOfKeys(entity.kind, keySet);
  const [parent] = splitPath(keySet);
  if (field === undefined || !isObject(valueAt(entity.inputs, parent))) return;
  if (unresolvedPaths(entity.unread).includes(field)) return;
  const time = textAtPath(entity.inputs, field);
  const days = daysUntil(facts, time);
  if (time !== undefined && days === undefined) return;
  const keys = `the keys of ${labelEntity(entity)}`;
  if (days !== undefined && days < 0) {
    yield facts.aboutEntity(entity, {
      severity: "high",
      field,
      message: `${keys} expired on ${time ?? ""}: it cannot be assumed any more`,
      advice: "register new keys with a new expirationTime, or remove the identity and its bindings",
    });
  } else if (days !== undefined && days < SOON_DAYS) {
    yield facts.aboutEntity(entity, {
      severity: "medium",
      field,
      message: `${keys} expire in ${plural(days, "day")}, on ${time ?? ""}`,
      advice: "register new keys beside the old ones, then move expirationTime",
    });
  } else if (written.has(entity.key) && (days === undefined || days > LONG_DAYS)) {
    yield facts.aboutEntity(entity, {
      severity: "low",
      field,
      message: `${keys} are valid for ${days === undefined ? "365 days, the server's default" : plural(days, "day")}`,
      advice: `set an expirationTime at most ${LONG_DAYS} days ahead, and rotate the keys before it`,
    });
  }
}

function* findInviteExpiry(facts: Facts, entity: Entity): Generator<FindingInput> {
  for (const { field: lifetime } of lifetimesOf(entity.kind)) {
    const { returnedAs = "" } = lifetime;
    const time = textAt(entity.details, returnedAs);
    const days = daysUntil(facts, time);
    if (days === undefined || days >= 0) continue;
    yield facts.aboutEntity(entity, {
      severity: "low",
      field: returnedAs,
      message: `${labelEntity(entity)} expired on ${time ?? ""}: nobody can accept it any more`,
      advice: "remove it from the program",
    });
  }
}

const expiry: Rule = {
  id: "K2",
  name: "expiry",
  severities: ["high", "medium", "low"],
  when: "high: expired keys; medium: keys that expire in less than 30 days; low: new keys valid for more than 90 days, an expired invite",
  what: "The `expirationTime` of static keys has passed or is near; this checks all known identities, changed or not. Or a created or changed identity has keys that are valid for more than 90 days (365 without a time). An expired invite is reported; K3 checks how long a new one is valid. `--now` sets the current time.",
  why: "An expired key stops a pipeline. A stolen key that is valid for a year can be used for a year.",
  fix: "Register the new key beside the old one, move `expirationTime`, and remove the old key when nothing signs with it any more.",
  except: "Until a planned rotation, with its date.",
  exampleMatch: { name: "build-cluster" },
  judgesUnchanged: true,
  about: (kind) => hasKeySet(kind) || isInvite(kind),
  *find(facts) {
    const written = new Set(Array.from(facts.writes(hasKeySet), ({ after }) => after.key));
    // The end that is known is that of the object before it.
    const madeAnew = new Set(
      Array.from(facts.writes(isInvite), ({ op, after }) => (op === "update" ? "" : after.key)),
    );
    for (const entity of facts.comparison.after.entities.values()) {
      for (const path of keySets(entity.kind)) yield* findKeyExpiry(facts, entity, path, written);
      if (isInvite(entity.kind) && !madeAnew.has(entity.key)) yield* findInviteExpiry(facts, entity);
    }
  },
};

/** What is wrong with an invite: the field, why, and what to write. */
interface InviteProblem {
  readonly path: string;
  readonly text: string;
  readonly advice: string;
}

/** What lets more redeem an invite than one address once within a few days. */
function problemsOfInvite({ kind, inputs, unread }: Entity): InviteProblem[] {
  const unresolved = unresolvedPaths(unread);
  const problems = (
    meaning: AccessMeaning,
    advice: string,
    judge: (value: Json | undefined) => string | undefined,
  ) =>
    pathsMeant(kind, meaning).flatMap((path) => {
      const text = unresolved.includes(path) ? undefined : judge(valueAt(inputs, path));
      return text === undefined ? [] : [{ path, text, advice }];
    });
  return [
    ...problems("invite.address", "email", (address) =>
      typeof address === "string" && address !== "" ? undefined : "anyone with the code can accept it",
    ),
    ...problems("invite.once", "singleUse: true", (isOnce) =>
      isOnce === true ? undefined : "it can be used more than once",
    ),
    ...problems("invite.lifetime", 'a short ttl, as in "48h"', (lifetime) => {
      if (typeof lifetime !== "string") return undefined;
      const isLong = (durationNanos(lifetime) ?? 0n) > BigInt(INVITE_DAYS * DAY_MS) * 1_000_000n;
      return isLong ? `valid for ${lifetime} (limit ${INVITE_DAYS} days)` : undefined;
    }),
  ];
}

const openInvite: Rule = {
  id: "K3",
  name: "open-invite",
  severities: ["critical", "high"],
  when: "critical if its role is `owner` or has a capability of G2; otherwise high",
  what: "A new invite has no e-mail address, can be used more than once, or is valid for more than 7 days. So is one that is made anew, such as with another `ttl`.",
  why: "An invite without an address works like a password: whoever has the code joins the group. The code is also in the state file, and wherever it was sent.",
  fix: "Set what the finding names: `email`, `singleUse: true`, or a `ttl` of a day or two (`48h`).",
  except: "For an event with many guests, with a read-only role, until it is over.",
  exampleMatch: { group: "acme / workshop", role: "viewer" },
  about: isInvite,
  *find(facts) {
    for (const { op, after } of facts.writes(isInvite)) {
      if (op === "update") continue;
      const problems = problemsOfInvite(after);
      const [first] = problems;
      if (first === undefined) continue;
      const [grant] = facts.after.ofResource(after);
      const isStrong =
        grant !== undefined &&
        (facts.roles.isOwner(grant.role) || (grant.role.capabilities ?? []).some(isTakeover));
      const role = grant?.role.name ?? grant?.role.uid;
      const place = facts.groupOf(after)?.path;
      const address = textMeant(after, "invite.address");
      // One that cannot be read is there all the same.
      const isOpen = problems.some(({ path }) => pathsMeant(after.kind, "invite.address").includes(path));
      const invite = isOpen ? "an open invite" : `an invite${address === undefined ? "" : ` of ${address}`}`;
      yield {
        ...facts.aboutEntity(after, {
          severity: isStrong ? "critical" : "high",
          field: first.path,
          message: `${invite}${place === undefined ? "" : ` to ${pathIn(place)}`}${role === undefined ? "" : ` as ${role}`}: ${problems.map(({ text }) => text).join("; ")}`,
          pins: problems.map(({ text }) => text),
          advice: `set ${problems.map(({ advice }) => advice).join(" and ")}`,
        }),
        grant,
      };
    }
  },
};

/** What stands for a secret in a model, and in a text of the engine. */
const MASKED = ["[secret]", "[unknown]"];

const secretFields = fieldsWhere(({ secret }) => secret === true);

function plaintextSecretsOf({ kind, inputs, details, plaintextSecrets, unread }: Entity): string[] {
  const unresolved = unresolvedPaths(unread);
  const isPlain = (props: Props | undefined, path: string): boolean => {
    const value = textAtPath(props, path);
    return value !== undefined && !MASKED.includes(value);
  };
  const found = secretFields(kind)
    .map(({ path }) => path)
    .filter((path) => !unresolved.includes(path) && (isPlain(inputs, path) || isPlain(details, path)));
  return [...new Set([...(plaintextSecrets ?? []), ...found])];
}

const plainSecret: Rule = {
  id: "K4",
  name: "plain-secret",
  severities: ["high", "medium"],
  when: "medium where the value is not known before the update; otherwise high",
  what: "A client secret, an invite code or a SCIM token is in plain text in the preview or the state, not marked as a secret. Or an argument that is no secret takes its value from a resource that has one, such as a description made of an invite's code. It is secret, not known yet, or any text. The finding holds no value; other lines of the report show what an argument says. Not reported: a reference, such as the uid of that resource, and a secret that the program hides from the engine's dependencies.",
  why: "It is then in every state file, log and artifact that the engine writes, for whoever can read one of them. A text of the platform is read by whoever may list its object.",
  fix: "Read it with `config.requireSecret` or wrap it in `pulumi.secret`. Then rotate it, because it has been written already.",
  except: "Almost never: for a secret of a test system.",
  notInPolicyPack: "a policy gets every secret as plain text",
  beforeUpdate: true,
  about: everyKind,
  *find(facts) {
    yield* findSecretTexts(facts);
    for (const entity of facts.comparison.after.entities.values()) {
      for (const property of plaintextSecretsOf(entity)) {
        yield facts.aboutEntity(entity, {
          severity: "high",
          field: property,
          message: `${property} of ${labelEntity(entity)} is in plain text, not a secret`,
          advice: "read it with config.requireSecret or wrap it in pulumi.secret, and rotate it",
        });
      }
    }
  },
};

export const keyRules: readonly Rule[] = [staticKeys, expiry, openInvite, plainSecret];
