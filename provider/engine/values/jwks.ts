import { isObject } from "./values";

/** The members of a JWK that make it private (RFC 7518, sections 6.2.2, 6.3.2 and 6.4.1). */
const PRIVATE_MEMBERS = ["d", "p", "q", "dp", "dq", "qi", "oth", "k"];

/** The members of a key set and of its keys that RFC 7517, RFC 7518 and RFC 8037 define. */
const KNOWN_MEMBERS = [
  ...PRIVATE_MEMBERS,
  ...[
    "keys",
    "kty",
    "use",
    "key_ops",
    "alg",
    "kid",
    "x5u",
    "x5c",
    "x5t",
    "x5t#S256",
    "crv",
    "x",
    "y",
    "n",
    "e",
  ],
];

/** The name of a member that makes a JWK private; undefined for a public key. */
export function findPrivateMember(jwk: object): string | undefined {
  return PRIVATE_MEMBERS.find((member) => member in jwk);
}

/** A name as parsers that ignore case compare it: they also take `ſ` for `s`, and the sign of Kelvin for `k`. */
const foldCase = (name: string): string => name.toUpperCase().toLowerCase();

const knownByFolded = new Map(KNOWN_MEMBERS.map((name) => [foldCase(name), name]));

/** Each object inside a value, and the value itself. */
function objectsIn(value: unknown): object[] {
  const objects: object[] = [];
  const open = [value];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    if (next === null || typeof next !== "object") continue;
    if (!Array.isArray(next)) objects.push(next);
    for (const member of Object.values(next)) if (member !== undefined) open.push(member);
  }
  return objects;
}

/** How many members the objects of a valid JSON text name: only a name has a colon behind it. */
const countNames = (text: string): number =>
  [...text.matchAll(/"[^"\\]*(?:\\.[^"\\]*)*"(\s*:)?/g)].filter(([, colon]) => colon !== undefined).length;

/**
 * Why two parsers can read different keys from one key set; undefined where they cannot. Some ignore the case of names,
 * and of a repeated name some take the first value.
 */
export function findAmbiguity(text: string, value: unknown): string | undefined {
  const names = objectsIn(value).map((object) => Object.keys(object));
  for (const name of names.flat()) {
    const known = knownByFolded.get(foldCase(name));
    if (known !== undefined && known !== name) {
      return `the member ${JSON.stringify(name.slice(0, 40))} equals "${known}" but for case, and some parsers take it for that one`;
    }
  }
  const counts = names.reduce((sum, { length }) => sum + length, 0);
  return countNames(text) === counts ? undefined : "a member is repeated, and parsers take different ones";
}

/** Why a key set is not read alike by all parsers; undefined where it is, or is no key set. */
export function ambiguityOf(text: string): string | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return isObject(value) ? findAmbiguity(text, value) : undefined;
  } catch {
    return undefined;
  }
}
