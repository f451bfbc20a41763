import { RE2JS } from "re2js";
import { UNSEEN } from "../../text/printable";
import { rememberMost } from "./remember";

/** Text with two wildcards. `scripts/lib/policySchema.cjs` has the other conditions on it. */
export type Glob = string;

/** Characters that a glob may have. */
export const LONGEST_GLOB = 512;

const invisible = new RegExp(`[${UNSEEN}]`, "u");

interface Token {
  readonly kind: "any" | "one" | "char";
  readonly char: string;
}

/** The characters and wildcards of a glob, in their order. */
export function parseGlob(glob: string): Token[] {
  const list: Token[] = [];
  const chars = Array.from(glob);
  for (let i = 0; i < chars.length; i += 1) {
    const char = chars[i] ?? "";
    if (char === "*") list.push({ kind: "any", char });
    else if (char === "?") list.push({ kind: "one", char });
    else if (char === "\\") {
      i += 1;
      list.push({ kind: "char", char: chars[i] ?? "\\" });
    } else list.push({ kind: "char", char });
  }
  return list;
}

/** An entry of a policy file is compared with thousands of texts. */
export const hasWildcard = rememberMost((glob: string): boolean =>
  parseGlob(glob).some(({ kind }) => kind !== "char"),
);

/** The pattern of RE2 for a glob, of which each wildcard stands for such a character. */
const patternOfGlob = (glob: string, character: string): string =>
  parseGlob(glob)
    .map(({ kind, char }) =>
      kind === "char" ? RE2JS.quote(char) : kind === "any" ? `${character}*` : character,
    )
    .join("");

const compileGlob = rememberMost((glob: string): RE2JS =>
  RE2JS.compile(`\\A(?s:${patternOfGlob(glob, ".")})\\z`),
);

/**
 * Whether a glob matches a whole string: `*` is any run of characters, `?` is one, `\` quotes the next. A string with
 * invisible characters matches no glob, because a reader sees another string.
 */
export const globMatches = (glob: string, text: string): boolean =>
  !invisible.test(text) && compileGlob(glob).test(text);

const allInvisible = new RegExp(invisible, "gu");

/** A text as a reader sees it, who cannot see some of its characters. */
export const withoutInvisible = (text: string): string => text.replace(allInvisible, "");

const HOST_CHARACTER = "[a-z0-9_-]";

/** Without percent-encoding, which can hide a slash. */
const PATH_CHARACTER = '[!"$&-.0->@-\\[\\]-~]';

/** The same without a dot, so that a complete part of a path is never `..`. */
const PATH_START = '[!"$&--0->@-\\[\\]-~]';

/**
 * The form of a glob over hosts, with a port where it is not the default one. The last part has no wildcard, because
 * a registry gives names below it to others.
 */
const HOST_FORM = `(?:\\[[0-9a-f:.]+\\]|(?:[a-z0-9_*?-]+\\.)*${HOST_CHARACTER}+)(?::(?!(?:443|0\\d*)(?:/|$))\\d{1,5})?`;

/**
 * The form of a glob over URLs, in the spelling that parsing a URL gives: small letters, no user name, no default port,
 * no final dot, no `..`, no query and no fragment.
 */
export const ADDRESS_GLOB = `^[a-z][a-z0-9+.-]*://${HOST_FORM}(?:/(?!(?:.*/)?\\.{1,2}(?:/|$))[!"$-~]*)?$`;

const hostForm = new RegExp(`^${HOST_FORM}$`);
const addressForm = new RegExp(ADDRESS_GLOB);

export const isHostGlob = (glob: string): boolean => hostForm.test(glob);

export const isAddressGlob = (glob: string): boolean => addressForm.test(glob);

/** The pattern of one part of a host or of a path. A wildcard stays within its part; `*` alone is not empty. */
function partPattern(part: string, character: string, start = character): string {
  return part === "*" ? `${start}${character}*` : patternOfGlob(part, character);
}

function hostPattern(host: string): string {
  const parts = host.split(".").map((part) => partPattern(part, HOST_CHARACTER));
  // As the complete first part of several, an asterisk stands for all hosts below the others.
  if (host.startsWith("*.")) parts[0] = `${HOST_CHARACTER}+(?:\\.${HOST_CHARACTER}+)*`;
  return parts.join("\\.");
}

/** The pattern of RE2 that matches the URLs of a glob; undefined of what is no glob over URLs. */
export function addressPattern(glob: string): string | undefined {
  const [, scheme, host, path = "/"] =
    /^([a-z][a-z0-9+.-]*:\/\/)([^/]+)(\/.*)?$/.exec(isAddressGlob(glob) ? glob : "") ?? [];
  if (scheme === undefined || host === undefined) return undefined;
  const parts = path
    .split("/")
    .slice(1)
    .map((part) => `/${partPattern(part, PATH_CHARACTER, PATH_START)}`);
  // Without a path a URL means the same with and without its slash.
  const pathPattern = path === "/" ? "/?" : parts.join("");
  return `\\A${RE2JS.quote(scheme)}${hostPattern(host)}${pathPattern}\\z`;
}

/** Compiles a glob over URLs; undefined of what is none. */
const compile = rememberMost((glob: string): RE2JS | undefined => {
  const pattern = addressPattern(glob);
  return pattern === undefined ? undefined : RE2JS.compile(pattern);
});

/** Whether a URL is spelled as parsing it gives it, so that every reader finds the same host and path in it. */
function isCanonical(text: string): boolean {
  if (!URL.canParse(text)) return false;
  const { href, pathname } = new URL(text);
  return href === text || (pathname === "/" && href === `${text}/`);
}

/**
 * Whether a glob over URLs matches one. Scheme and port must be equal. In the host a wildcard does not cross a dot, but
 * for a complete first part: `*.acme.example` is every host below `acme.example`. In the path it does not cross a slash.
 * A URL in another spelling than parsing gives matches no glob.
 */
export function addressMatches(glob: string, address: string): boolean {
  return isCanonical(address) && compile(glob)?.test(address) === true;
}

/** The host of a URL with its port, where every reader finds the same one. */
export function hostOf(address: string): string | undefined {
  if (!URL.canParse(address) || /[\s\\\p{Cc}]/u.test(address)) return undefined;
  const { host, username, password } = new URL(address);
  return host === "" || username !== "" || password !== "" ? undefined : host;
}

/** Whether a glob over hosts matches one, as `hostOf` gives it: see `addressMatches`. */
export const hostMatches = (glob: string, host: string): boolean =>
  isHostGlob(glob) && addressMatches(`https://${glob}`, `https://${host}`);

const isAddress = (text: string): boolean => /^[a-z][a-z0-9+.-]*:\/\//i.test(text);

/** Whether a glob matches an issuer or a subject: one that is a URL is matched as `addressMatches` says. */
export function trustMatches(glob: string, text: string): boolean {
  const isOfAddresses = hasWildcard(glob) && (isAddress(text) || isAddress(glob));
  return isOfAddresses ? addressMatches(glob, text) : globMatches(glob, text);
}
