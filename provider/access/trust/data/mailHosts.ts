import { getDomain } from "tldts";
import list from "./mailHosts.json";

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
