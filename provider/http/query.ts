export type Query = Readonly<Record<string, string | number | boolean | readonly string[] | undefined>>;

/** The query of an address, with its question mark; a list is the same parameter many times. */
export function encodeQuery(query: Query): string {
  const pairs = Object.entries(query).flatMap(([key, value]) => {
    if (value === undefined) return [];
    const values = typeof value === "object" ? value : [String(value)];
    return values.map((item) => `${encodeURIComponent(key)}=${encodeURIComponent(item)}`);
  });
  return pairs.length === 0 ? "" : `?${pairs.join("&")}`;
}

/** The server's largest page, which is also its default. */
export const LIST_PAGE_SIZE = 200;

/** Proxies commonly take addresses of up to 8 KiB. */
export const LONGEST_QUERY = 7000;

/** Divides the values of a repeated parameter into parts that are short enough for one address with `others` in it. */
export function splitByUrlLength(
  parameter: string,
  values: readonly string[],
  { others = {}, maxValues = Infinity }: { readonly others?: Query; readonly maxValues?: number } = {},
): string[][] {
  const longest = LONGEST_QUERY - encodeQuery(others).length;
  const parts: string[][] = [];
  let size = Infinity;
  for (const value of new Set(values)) {
    const cost = encodeQuery({ [parameter]: value }).length;
    const part = parts.at(-1);
    if (part === undefined || size + cost > longest || part.length >= maxValues) {
      parts.push([value]);
      size = cost;
    } else {
      part.push(value);
      size += cost;
    }
  }
  return parts;
}
