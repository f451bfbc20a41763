/** Bytes that a text has in UTF-8. */
export const byteLength = (text: string): number => Buffer.byteLength(text, "utf8");

/**
 * The output for the largest number of items, 0 to `most`, that has no more than `maxBytes`; undefined where
 * none fits. More items must give more bytes.
 */
export function largestThatFits(
  maxBytes: number,
  maxItems: number,
  build: (items: number) => string,
): string | undefined {
  const whole = build(maxItems);
  if (byteLength(whole) <= maxBytes) return whole;
  let largest: string | undefined;
  let low = 0;
  let high = maxItems - 1;
  while (low <= high) {
    const middle = Math.floor((low + high) / 2);
    const text = build(middle);
    if (byteLength(text) <= maxBytes) {
      largest = text;
      low = middle + 1;
    } else {
      high = middle - 1;
    }
  }
  return largest;
}
