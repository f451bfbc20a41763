import { getOrCompute } from "../../fields/values";

/** Remembers what was computed of at most so many keys: a process may review for months. */
export function rememberMost<K, V>(compute: (key: K) => V, most = 1000): (key: K) => V {
  const known = new Map<K, V>();
  return (key) => {
    if (known.size >= most && !known.has(key)) known.clear();
    return getOrCompute(known, key, () => compute(key));
  };
}
