import { compareTexts } from "../../fields/values";
import { knownIssuerOf } from "../trust/issuers";
import { meaningsOf, pathsMeant, textMeant, valueAt } from "./describedFields";
import type { Entity } from "./model";
import { trustsOf } from "./trust";
import type { Trust, TrustPart } from "./trust";
import { plainOrQuoted as plain, quoteValue } from "../trust/quote";
import { topProperty } from "./references";
import { isUnread, unresolvedPaths } from "./unread";

/** A subject as messages show it. */
export interface SubjectDescription {
  readonly displayName: string;
  /** More than one outsider can be it. */
  readonly matchesMany: boolean;
}

/** Longer patterns are not judged either; nothing of a shorter one is hidden. */
const LONGEST_SHOWN = 1000;

const text = (value: unknown): string => (typeof value === "string" && !isUnread(value) ? value : "");
const quotedPattern = (value: string): string => quoteValue(value, LONGEST_SHOWN);

/** An issuer by its host and path, as the address is read by who fetches it: `https://a@b.example` is b.example. */
function describeIssuer(issuer: string): string {
  const url = URL.canParse(issuer) ? new URL(issuer) : undefined;
  if (url === undefined || url.host === "") return quoteValue(issuer, LONGEST_SHOWN);
  const rest = `${url.pathname}${url.search}${url.hash}`.replace(/^\/$/, "");
  const scheme = url.protocol === "https:" ? "" : `${url.protocol}//`;
  const end = rest.length > LONGEST_SHOWN ? `${rest.slice(0, LONGEST_SHOWN)}…` : rest;
  return `${scheme}${url.host}${end}`;
}

/** A pattern that one text alone matches is no pattern: `^repo:acme/pay$`. */
function isLiteral(pattern: string): boolean {
  return /^\^(?:[^\\^$.|?*+()[\]{}]|\\[^a-zA-Z0-9])*\$$/.test(pattern);
}

/** Further conditions restrict the subject; without them a reader would think that it includes more principals. */
function conditions({ claims }: Trust): string {
  const parts = [
    claims.filter(({ isPattern }) => !isPattern),
    claims.filter(({ isPattern }) => isPattern),
  ].flatMap(
    // A server may return them in another order than a program has.
    (sort) => sort.sort((a, b) => compareTexts(a.name, b.name)),
  );
  const words = parts.map(({ name, value, isPattern }) =>
    isPattern
      ? `${plain(name, 40)} matches ${quotedPattern(text(value))}`
      : `${plain(name, 40)} is ${plain(text(value), 60)}`,
  );
  return words.length === 0 ? "" : `, if ${words.join(" and ")}`;
}

/** A subject of an exact issuer, after the issuer. */
function describeSubject(issuer: string, subject: string): string {
  const known = knownIssuerOf(issuer);
  const description = known?.describe(subject, issuer);
  if (known !== undefined && description !== undefined) return `${known.name} ${description}`;
  const [, namespace = "", account = ""] =
    /^system:serviceaccount:([a-z0-9-]+):([a-z0-9.-]+)$/.exec(subject) ?? [];
  const who =
    account === ""
      ? `subject ${quoteValue(subject, 200)}`
      : `Kubernetes service account ${namespace}/${account}`;
  return `${known?.name ?? describeIssuer(issuer)}, ${who}`;
}

function describeClaims(trust: Trust): SubjectDescription {
  const { exact: issuer = "", pattern: issuerPattern = "" }: Partial<TrustPart> = trust.issuer ?? {};
  const { exact: subject = "", pattern: subjectPattern = "" }: Partial<TrustPart> = trust.subject ?? {};
  const open = (issuer === "" && !isLiteral(issuerPattern)) || (subject === "" && !isLiteral(subjectPattern));
  const suffix = conditions(trust);
  const any = `any subject that matches ${quotedPattern(subjectPattern)}`;
  if (issuer === "") {
    const who = subject === "" ? any : `subject ${quoteValue(subject, 200)}`;
    return {
      displayName: `any issuer that matches ${quotedPattern(issuerPattern)}, ${who}${suffix}`,
      matchesMany: open,
    };
  }
  if (subject !== "")
    return { displayName: `${describeSubject(issuer, subject)}${suffix}`, matchesMany: open };
  return {
    displayName: `${knownIssuerOf(issuer)?.name ?? describeIssuer(issuer)}, ${any}${suffix}`,
    matchesMany: open,
  };
}

function describeAws(trust: Trust): SubjectDescription {
  const account = plain(trust.account?.exact ?? "", 40);
  const { exact: arn = "", pattern = "" }: Partial<TrustPart> = trust.arn ?? {};
  const { exact: userId = "", pattern: userIdPattern = "" }: Partial<TrustPart> = trust.userId ?? {};
  const open =
    arn === "" &&
    (!isLiteral(pattern) || (userId === "" && userIdPattern !== "" && !isLiteral(userIdPattern)));
  if (arn === "") {
    return {
      displayName: `AWS account ${account}, any principal that matches ${quotedPattern(pattern)}`,
      matchesMany: open,
    };
  }
  const [, type = "", name = ""] = /^arn:[a-z-]*:(?:iam|sts):[^:]*:[^:]*:([a-z-]+)\/(.+)$/s.exec(arn) ?? [];
  const what = { role: "role", user: "user", "assumed-role": "session" }[type];
  const words = what === undefined ? `principal ${plain(arn, 160)}` : `${what} ${plain(name, 160)}`;
  return { displayName: `AWS account ${account}, ${words}`, matchesMany: open };
}

/** Whether a reader cannot know a field of these meanings: it is not shown, or the update may have changed it. */
function isDoubtful({ kind, unread, concealed = [] }: Entity, meanings: string): boolean {
  const hidden = concealed.filter(({ isUnchanged }) => !isUnchanged).map(({ path }) => path);
  const fields = meaningsOf(kind).filter(({ meaning }) => meaning.startsWith(meanings));
  return [...unresolvedPaths(unread), ...hidden].some((path) =>
    fields.some((field) => topProperty(field.path) === topProperty(path)),
  );
}

function describePrincipal(trust: Trust): SubjectDescription {
  const { issuer, subject, account, service, hasKeys } = trust;
  if (account !== undefined) return describeAws(trust);
  if (hasKeys) {
    return {
      displayName: `holder of the static keys of ${describeIssuer(issuer?.exact ?? "")}, subject ${plain(subject?.exact ?? "")}`,
      matchesMany: false,
    };
  }
  if (service?.exact === undefined) return describeClaims(trust);
  return {
    displayName: `the platform's service ${plain(service.exact.replace(/^SERVICE_PRINCIPAL_/, ""), 60)}`,
    matchesMany: false,
  };
}

/** Whether nobody can say which principals an object trusts. */
export const isTrustDoubtful = (entity: Entity): boolean => isDoubtful(entity, "trust.");

/**
 * Who can be an identity.
 *
 * @param label its name, and what tells it apart from another one of that name.
 */
export function describeIdentity(entity: Entity, label?: string): SubjectDescription {
  const { name } = entity;
  if (isTrustDoubtful(entity)) {
    return {
      displayName: `identity ${quoteValue(label ?? text(name), LONGEST_SHOWN)}, whose trust is not known yet`,
      matchesMany: true,
    };
  }
  const principals = trustsOf(entity).map(describePrincipal);
  if (principals.length > 0) {
    return {
      displayName: principals.map(({ displayName }) => displayName).join(", or "),
      matchesMany: principals.length > 1 || principals.some(({ matchesMany }) => matchesMany),
    };
  }
  return {
    displayName:
      name === undefined ? "an identity" : `signed-in user ${quoteValue(label ?? text(name), LONGEST_SHOWN)}`,
    matchesMany: false,
  };
}

/** Who can redeem an invite. */
export function describeInvite(entity: Entity): SubjectDescription {
  if (isDoubtful(entity, "invite.address"))
    return { displayName: "whoever an invite not known yet is for", matchesMany: true };
  const address = textMeant(entity, "invite.address");
  if (address !== undefined) return { displayName: `${plain(address)}, by invite`, matchesMany: false };
  const isOnce = pathsMeant(entity.kind, "invite.once").some((path) => valueAt(entity.inputs, path) === true);
  return { displayName: `${isOnce ? "the first" : "anyone"} with the invite's code`, matchesMany: true };
}

/** Who signs in by an identity provider. */
export function describeProvider(entity: Entity): SubjectDescription {
  const issuer = textMeant(entity, "signIn.issuer");
  const at = issuer === undefined ? "" : ` at ${describeIssuer(issuer)}`;
  return { displayName: `anyone who signs in${at} by ${quoteValue(text(entity.name))}`, matchesMany: false };
}
