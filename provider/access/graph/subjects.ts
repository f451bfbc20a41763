import { compareTexts, isObject } from "../../fields/values";
import { knownIssuerOf } from "../trust/issuers";
import type { Entity } from "./model";
import { plainOrQuoted as plain, quote } from "../trust/quote";
import { topProperty } from "./references";
import { isUnread } from "./unread";

/** A subject as messages show it. */
export interface SubjectDescription {
  readonly displayName: string;
  /** More than one outsider can be it. */
  readonly matchesMany: boolean;
}

/** Longer patterns are not judged either; nothing of a shorter one is hidden. */
const LONGEST_SHOWN = 1000;

const text = (value: unknown): string => (typeof value === "string" && !isUnread(value) ? value : "");
const quotedPattern = (value: string): string => quote(value, LONGEST_SHOWN);

/** An issuer by its host and path, as the address is read by who fetches it: `https://a@b.example` is b.example. */
function describeIssuer(issuer: string): string {
  const url = URL.canParse(issuer) ? new URL(issuer) : undefined;
  if (url === undefined || url.host === "") return quote(issuer, LONGEST_SHOWN);
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
function conditions(match: Record<string, unknown>): string {
  const parts = (["claims", "claimPatterns"] as const).flatMap((key) => {
    const claims = match[key];
    if (!isObject(claims)) return [];
    // A server may return them in another order than a program has.
    const sorted = Object.entries(claims).sort(([a], [b]) => compareTexts(a, b));
    return sorted.map(([claim, value]) =>
      key === "claims"
        ? `${plain(claim, 40)} is ${plain(text(value), 60)}`
        : `${plain(claim, 40)} matches ${quotedPattern(text(value))}`,
    );
  });
  return parts.length === 0 ? "" : `, if ${parts.join(" and ")}`;
}

/** A subject of an exact issuer, after the issuer. */
function describeSubject(issuer: string, subject: string): string {
  const known = knownIssuerOf(issuer);
  const description = known?.describe(subject, issuer);
  if (known !== undefined && description !== undefined) return `${known.name} ${description}`;
  const [, namespace = "", account = ""] =
    /^system:serviceaccount:([a-z0-9-]+):([a-z0-9.-]+)$/.exec(subject) ?? [];
  const who =
    account === "" ? `subject ${quote(subject, 200)}` : `Kubernetes service account ${namespace}/${account}`;
  return `${known?.name ?? describeIssuer(issuer)}, ${who}`;
}

function describeClaims(match: Record<string, unknown>): SubjectDescription {
  const [issuer, subject] = [text(match["issuer"]), text(match["subject"])];
  const [issuerPattern, subjectPattern] = [text(match["issuerPattern"]), text(match["subjectPattern"])];
  const open = (issuer === "" && !isLiteral(issuerPattern)) || (subject === "" && !isLiteral(subjectPattern));
  const suffix = conditions(match);
  const any = `any subject that matches ${quotedPattern(subjectPattern)}`;
  if (issuer === "") {
    const who = subject === "" ? any : `subject ${quote(subject, 200)}`;
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

function describeAws(aws: Record<string, unknown>): SubjectDescription {
  const account = plain(text(aws["awsAccount"]), 40);
  const [arn, pattern] = [text(aws["arn"]), text(aws["arnPattern"])];
  const [userId, userIdPattern] = [text(aws["userId"]), text(aws["userIdPattern"])];
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

/** Whether a reader cannot know one of these properties: it is not shown, or the update may have changed it. */
function isDoubtful({ unresolved, concealed = [] }: Entity, properties: readonly string[]): boolean {
  const hidden = concealed.filter(({ isUnchanged }) => !isUnchanged).map(({ path }) => path);
  return [...unresolved, ...hidden].some((path) => properties.includes(topProperty(path)));
}

/**
 * Who can be an identity.
 *
 * @param label its name, and what tells it apart from another one of that name.
 */
export function describeIdentity(entity: Entity, label?: string): SubjectDescription {
  const { inputs, name } = entity;
  const { claimMatch, staticKeys, awsIdentity, servicePrincipal } = inputs;
  if (isDoubtful(entity, ["claimMatch", "staticKeys", "awsIdentity", "servicePrincipal"])) {
    return {
      displayName: `identity ${quote(label ?? text(name), LONGEST_SHOWN)}, whose trust is not known yet`,
      matchesMany: true,
    };
  }
  if (isObject(claimMatch)) return describeClaims(claimMatch);
  if (isObject(staticKeys)) {
    const [issuer, subject] = [text(staticKeys["issuer"]), text(staticKeys["subject"])];
    return {
      displayName: `holder of the static keys of ${describeIssuer(issuer)}, subject ${plain(subject)}`,
      matchesMany: false,
    };
  }
  if (isObject(awsIdentity)) return describeAws(awsIdentity);
  if (typeof servicePrincipal === "string" && servicePrincipal !== "") {
    return {
      displayName: `the platform's service ${plain(servicePrincipal.replace(/^SERVICE_PRINCIPAL_/, ""), 60)}`,
      matchesMany: false,
    };
  }
  return {
    displayName:
      name === undefined ? "an identity" : `signed-in user ${quote(label ?? text(name), LONGEST_SHOWN)}`,
    matchesMany: false,
  };
}

/** Who can redeem an invite. */
export function describeInvite(entity: Entity): SubjectDescription {
  const { inputs } = entity;
  const email = text(inputs["email"]);
  if (isDoubtful(entity, ["email"]))
    return { displayName: "whoever an invite not known yet is for", matchesMany: true };
  if (email !== "") return { displayName: `${plain(email)}, by invite`, matchesMany: false };
  const times = inputs["singleUse"] === true ? "the first" : "anyone";
  return { displayName: `${times} with the invite's code`, matchesMany: true };
}

/** Who signs in by an identity provider. */
export function describeProvider({ inputs, name }: Entity): SubjectDescription {
  const issuer = isObject(inputs["oidc"]) ? text(inputs["oidc"]["issuer"]) : "";
  const at = issuer === "" ? "" : ` at ${describeIssuer(issuer)}`;
  return { displayName: `anyone who signs in${at} by ${quote(text(name))}`, matchesMany: false };
}
