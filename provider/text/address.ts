/** Whether what is sent to this URL never leaves the machine. */
export function isLoopback(url: URL): boolean {
  return /^(localhost|127(\.\d+){3}|\[::1\])$/.test(url.hostname);
}

/** Whether nobody on the way can read what is sent to this URL: https, or plain http within the machine. */
export function isSafe(url: URL): boolean {
  return url.protocol === "https:" || (url.protocol === "http:" && isLoopback(url));
}

/**
 * An address as messages may show it: without the user name, the password, the query and the fragment, whether or not
 * it parses. An unparsable one may hold a password wherever it has an "@", or a port that is no number.
 */
export function printableAddress(address: string): string {
  const [, scheme = "", rest = ""] = /^([a-z][a-z0-9+.-]*:\/\/)?(.*)$/is.exec(address.trim()) ?? [];
  const host = rest.split(/@|%40/).at(-1) ?? "";
  const shown = host
    .replace(/[?#].*$/s, (tail) => `${tail.charAt(0)}…`)
    .replace(/^([^/:[]*):(?!\d*(?:[/?#]|$)).*$/s, "$1:…");
  return `${scheme}${host === rest ? "" : "…@"}${shown}`;
}

/** Whether a URL holds a user name or a password. */
export function hasUserinfo(url: URL): boolean {
  return url.username !== "" || url.password !== "";
}

/** The name of the resources in a collection, as in `roleBindings`. */
export const lastWord = (collection: string): string => collection.slice(collection.lastIndexOf("/") + 1);
