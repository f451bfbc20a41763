import { domainToUnicode } from "node:url";
import { RE2JS } from "re2js";
import { getPublicSuffix, parse } from "tldts";
import { OWN_DOMAIN, reservedTopLevels, sharedDomains, tenantAddresses } from "./data/issuerHosts";
import type { TenantAddress } from "./data/issuerHosts";
import { INTRUDER } from "./data/pins";
import { sharedIssuers } from "./data/sharedIssuers";
import { answerOf } from "./budget";
import {
  firstExample,
  judgeEach,
  judgeForms,
  judgeWithin,
  MOST_WRITTEN,
  segmentText,
  unprovenReason,
} from "./judgement";
import type { PatternJudgement, PinningForm } from "./judgement";
import { anchored } from "./patternComparer";
import type { PatternComparer, SegmentSpec } from "./patternComparer";
import { isOfOneWritingSystem } from "./writingSystems";

const ANY = "(?s:.*)";
const VISIBLE = "[^\\x00-\\x20\\x7f]";
const LABEL = "[A-Za-z0-9_-]+";
const TOP_LEVEL = "(?:[A-Za-z]{2,}|xn--[A-Za-z0-9-]+)";
const USER = "(?:[^/?#@\\x00-\\x20\\x7f]*@)?";
const REST = `(?::[0-9]+)?(?:[/?#]${VISIBLE}*)?`;
const STRANGER = `${INTRUDER}\\.example`;
const SCHEME = "(?i:https)://";

/** Addresses that a stranger can serve, the easiest to read first. */
const STRANGERS = [
  `https://${STRANGER}`,
  `https://(?:[a-z0-9-]+\\.)*${STRANGER}`,
  `https://(?:[a-z0-9-]+\\.)*${STRANGER}/${VISIBLE}*`,
  `https://(?:[a-z0-9-]+\\.)*${LABEL}${INTRUDER}\\.${TOP_LEVEL}(?:/${VISIBLE}*)?`,
  `https://${USER}(?:[a-z0-9-]+\\.)*${STRANGER}${REST}`,
  `(?i:https?)://(?i:(?:[a-z0-9-]+\\.)*${STRANGER})${REST}`,
  "https?://203\\.0\\.113\\.1",
  "https?://[0-9]{2}(?:\\.[0-9]{2}){3}",
];

/** The host of an address, with its port. */
const host: SegmentSpec = {
  before: SCHEME,
  name: "[A-Za-z0-9.-]+(?::[0-9]{1,5})?",
  after: `(?:[/?#]${ANY})?`,
  ignoresCase: true,
};

/** Whose a host is: the domain that somebody has registered, or why that is not proven. */
type HostOwner = { readonly domain: string } | { readonly problem: string };

const isBelow = (name: string, domain: string): boolean => name === domain || name.endsWith(`.${domain}`);

function findHostOwner(name: string): HostOwner {
  const bare = name.replace(/:[0-9]+$/, "");
  const labels = bare.split(".");
  const last = labels.at(-1) ?? "";
  if (labels.some((label) => label === "")) return { problem: `${bare} has an empty part` };
  if (/^(?:[0-9]+|0x[0-9a-f]*)$/i.test(last))
    return { problem: `${bare} is an IP address, which changes its owner` };
  if (labels.length < 2) return { problem: `${bare} is no domain` };
  if (!isOfOneWritingSystem(domainToUnicode(bare)))
    return { problem: `${bare} has letters of several alphabets, which look alike` };
  const { domain, isIcann, isPrivate } = parse(bare, { allowPrivateDomains: true });
  if (isIcann !== true && isPrivate !== true)
    return Object.hasOwn(reservedTopLevels, last)
      ? { domain: labels.slice(-2).join(".") }
      : { problem: `the public suffix list does not have .${last}` };
  if (domain === null) return { problem: `everybody can register names below ${bare}` };
  // A page, a bucket or an application: who gives its name up does not take it along.
  if (isPrivate === true)
    return {
      problem: `everybody can have a name below ${getPublicSuffix(bare, { allowPrivateDomains: true }) ?? bare}`,
    };
  return !sharedDomains.some((shared) => isBelow(bare, shared))
    ? { domain }
    : { problem: `${bare} serves many customers, and the address names none of them` };
}

/** The form of the addresses of a customer on a host; undefined where the host is none of this service. */
function tenantForm(
  comparer: PatternComparer,
  name: string,
  { what, host: service, path, name: tenant }: TenantAddress,
): PinningForm | undefined {
  const quoted = `${SCHEME}(?i:${RE2JS.quote(name)})`;
  if (path === undefined) {
    if (
      !comparer.matches(
        anchored(`(?i:${segmentText({ before: "", name: tenant, after: `\\.${service}` })})`),
        name,
      )
    )
      return undefined;
    return { what, whole: `${quoted}(?:[/?#]${ANY})?`, owners: [], owner: name };
  }
  if (!comparer.matches(anchored(`(?i:${service})`), name)) return undefined;
  const segment = { before: `${quoted}/${path}`, name: tenant, after: `(?:[/?#]${ANY})?` };
  return {
    what,
    whole: segmentText(segment),
    owners: [segment],
  };
}

/** What the owner of an issuer is that signs for many customers. */
export const SERVICE = "service";

/** The forms of addresses on one host that are proven to pin. */
function formsOfHost(comparer: PatternComparer, name: string): PinningForm[] {
  const quoted = `${SCHEME}(?i:${RE2JS.quote(name)})`;
  const shared = sharedIssuers
    .filter(({ issuer }) => new URL(issuer).host === name)
    .map(({ name: owner, issuer }): PinningForm => ({
      what: SERVICE,
      whole: `${RE2JS.quote(issuer)}/?`,
      owners: [],
      owner,
    }));
  const tenants = tenantAddresses.flatMap((row) => tenantForm(comparer, name, row) ?? []);
  if (shared.length + tenants.length > 0) return [...shared, ...tenants];
  const found = findHostOwner(name);
  if ("problem" in found) return [];
  return [
    {
      what: OWN_DOMAIN,
      whole: `${quoted}(?:[/?#]${ANY})?`,
      owners: [],
      owner: found.domain,
    },
  ];
}

/** Why an address is not proven to be one owner's. */
function describeAddress(text: string): string {
  const [, authority] = /^https:\/\/([A-Za-z0-9.-]+(?::[0-9]{1,5})?)(?:[/?#]|$)/i.exec(text) ?? [];
  if (authority === undefined) return `${JSON.stringify(text)} is no https address with a plain host`;
  const found = findHostOwner(authority.toLowerCase());
  return "problem" in found
    ? found.problem
    : `${authority} serves many customers, and the address names none of them`;
}

/** Judges a pattern that leaves the host open: only hosts below one domain are not surely those of others. */
function judgeVariousHosts(comparer: PatternComparer, pattern: string, name: string): PatternJudgement {
  const ofHost = segmentText({ ...host, name: RE2JS.quote(name) });
  const example = firstExample(comparer, pattern, [...STRANGERS, `(?i:${ofHost})`]);
  const found = findHostOwner(name);
  const below = "domain" in found ? `(?:${LABEL}\\.)*${RE2JS.quote(found.domain)}(?::[0-9]+)?` : "";
  const isOfOne = comparer.isSubset(pattern, anchored(`(?i:${segmentText({ ...host, name: below })})`));
  return example === undefined || isOfOne === "yes"
    ? { kind: "unproven", example, reason: unprovenReason("the host is not written out") }
    : { kind: "open", example, reason: comparer.reasonFor(pattern, example) };
}

function judgeAddresses(comparer: PatternComparer, pattern: string): PatternJudgement {
  const hosts = answerOf(comparer.names(pattern, host, MOST_WRITTEN));
  if (hosts.unwritten !== undefined) return judgeVariousHosts(comparer, pattern, hosts.unwritten);
  const pinning = hosts.written.flatMap((name) => formsOfHost(comparer, name));
  const judged = judgeForms(
    comparer,
    pattern,
    { what: "issuer", pinning, strangers: STRANGERS },
    describeAddress,
  );
  return judged.kind === "pinned" ? rejectEverybody(judged) : judged;
}

/** A customer that stands for everybody pins nobody. */
function rejectEverybody(judged: PatternJudgement & { kind: "pinned" }): PatternJudgement {
  const shared = judged.owners.find(({ what, name }) =>
    tenantAddresses.some((row) => row.what === what && row.everybody?.includes(name.toLowerCase()) === true),
  );
  if (shared === undefined) return judged;
  const reason = unprovenReason(`everybody can be in ${shared.what} ${shared.name}`);
  return { kind: "unproven", example: undefined, reason };
}

/** Judges whether outsiders can run issuers that a pattern matches. */
export function judgeIssuer(comparer: PatternComparer, pattern: string): PatternJudgement {
  return judgeWithin(comparer, pattern, () => judgeAddresses(comparer, pattern));
}

const anyWord: SegmentSpec = { before: "", name: "[^\\x00-\\x20\\x7f]+", after: "" };
const AUDIENCES = [INTRUDER, ...STRANGERS];

/** Judges whether a pattern matches audiences of other services than those that it writes out. */
export function judgeAudience(comparer: PatternComparer, pattern: string): PatternJudgement {
  return judgeWithin(comparer, pattern, () => {
    const forms = [anyWord, host].map((segment): PinningForm => ({
      what: "audience",
      whole: segmentText(segment),
      owners: [segment],
    }));
    return judgeEach(comparer, pattern, { what: "audience", pinning: forms, strangers: AUDIENCES });
  });
}
