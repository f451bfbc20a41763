import { domainToASCII, domainToUnicode } from "node:url";
import { getDomain } from "tldts";
import list from "./data/mailHosts.json";
import { MAIL_DOMAIN, MAIL_DOMAIN_OWNER } from "./data/pins";
import type { TrustedOwner } from "./judgement";

const AT_SIGN = /@|%(?:25)*40/i;
/** The names of mailboxes that no server takes for an address at another host. */
const MAILBOX = "[\\p{L}\\p{N}._+'-]+";
const ADDRESS = new RegExp(`^(${MAILBOX})@([^@]+)$`, "u");
const DOMAIN = new RegExp(`^${MAIL_DOMAIN}$`);

/** Whether a text has an at sign in any of the forms that some server takes for one. */
export const hasAtSign = (text: string): boolean => AT_SIGN.test(text.normalize("NFKC"));

/** A domain as the name system has it; undefined for a spelling that only some servers take for it. */
function readDomain(text: string): string | undefined {
  const bare = text.replace(/\.$/, "").toLowerCase();
  const domain = domainToASCII(bare);
  return DOMAIN.test(domain) && [domain, domainToUnicode(domain)].includes(bare) ? domain : undefined;
}

/**
 * Whose a text is that looks like a mail address: its domain's, or its own at a host where everybody can have one. What is
 * not proven to be at a domain is an owner of its own, so that it never passes for a known one.
 * @param what What the text is: "subject".
 */
export function ownerOfAddress(what: string, text: string): TrustedOwner | undefined {
  if (!hasAtSign(text)) return undefined;
  const [, mailbox = "", host = ""] = ADDRESS.exec(text) ?? [];
  const domain = readDomain(host);
  if (domain === undefined) return { what, name: text };
  return isMailHost(domain)
    ? { what: "mail address", name: `${mailbox}@${domain}`.toLowerCase() }
    : { what: MAIL_DOMAIN_OWNER, name: domain };
}

/** A domain and those above it that the same owner has registered: whoever has `acme.com` gives out `corp.acme.com`. */
export function domainsAbove(domain: string): string[] {
  const registered = getDomain(domain, { allowPrivateDomains: true });
  const found = [domain];
  for (let name = domain; registered !== null && name !== registered && name.includes(".");) {
    name = name.slice(name.indexOf(".") + 1);
    found.push(name);
  }
  return found;
}

/** Hosts that the list does not have, on which everybody can have an address. */
const FURTHER: Readonly<Record<string, string>> = {
  "disroot.org": "https://disroot.org/en/services/email",
  "hey.com": "https://www.hey.com/pricing/",
  "mailbox.org": "https://mailbox.org/en/private/",
  "privaterelay.appleid.com": "https://support.apple.com/en-us/105078",
  "riseup.net": "https://riseup.net/en/email",
  "tutanota.com": "https://tuta.com/free-email",
};

const hosts: ReadonlySet<string> = new Set([...list.domains, ...Object.keys(FURTHER)]);

/** Whether everybody can have a mail address at a host. */
export function isMailHost(host: string): boolean {
  const lower = host.toLowerCase();
  return [lower, getDomain(lower) ?? lower].some((name) => hosts.has(name));
}
