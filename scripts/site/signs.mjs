// @ts-check

const circle = (/** @type {string} */ fill) => `<circle cx="8" cy="8" r="7" fill="${fill}"/>`;
const line = (/** @type {string} */ d, stroke = "currentColor") =>
  `<path d="${d}" fill="none" stroke="${stroke}" stroke-width="2.5"/>`;
const box = (/** @type {string} */ fill, /** @type {string} */ d) =>
  `<rect x="1" y="1" width="14" height="14" rx="2" fill="${fill}"/>${line(d, "#fff")}`;

/** What stands for each emoji of the Markdown report, in a square of 16. @type {Readonly<Record<string, string>>} */
const DRAWINGS = {
  "🔴": circle("#d1242f"),
  "🟠": circle("#e8762b"),
  "🟡": circle("#eac54f"),
  "⚪": '<circle cx="8" cy="8" r="6.5" fill="#fff" stroke="#818b98"/>',
  "✅": box("#1a7f37", "m4 8 3 3 5-6"),
  "⚠️": `<path d="M8 1l7.5 14H.5z" fill="#eac54f"/>${line("M8 5.5v4.5m0 1v2", "#1f2328")}`,
  "➕": line("M8 2v12M2 8h12"),
  "➖": line("M2 8h12"),
  "⬆️": box("#0969da", "M8 13V4M4 8l4-4 4 4"),
  "⬇️": box("#0969da", "M8 3v9M4 8l4 4 4-4"),
};

/**
 * Draws the emoji of a page: without a font of emoji, they would be empty boxes.
 * @param {string} html
 */
export function drawSigns(html) {
  return html.replace(/\p{Emoji_Presentation}\uFE0F?|\p{Extended_Pictographic}\uFE0F/gu, (sign) => {
    const drawing = DRAWINGS[sign];
    if (drawing === undefined) throw new Error(`scripts/site/signs.mjs has no drawing of ${sign}`);
    return `<svg role="img" aria-label="${sign}" viewBox="0 0 16 16">${drawing}</svg>`;
  });
}
