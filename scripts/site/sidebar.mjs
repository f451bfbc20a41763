// @ts-check

/**
 * @typedef {{ text: string, link?: string, items?: Item[] }} Item
 *
 * @typedef {object} Section
 * @property {string} text
 * @property {readonly string[]} pages In this order. A name that ends with a slash stands for all other pages of that folder.
 * @property {string} [only] The folder whose pages alone show this section.
 */

const REFERENCE = "docs/reference/";
const DEVELOPMENT = "docs/development/";

/** @type {readonly Section[]} */
const SECTIONS = [
  { text: "Resources", pages: ["docs/reference/resources/"], only: REFERENCE },
  { text: "Lookups", pages: ["docs/reference/lookups/"], only: REFERENCE },
  { text: "File formats", pages: ["docs/reference/schemas/"], only: REFERENCE },
  { text: "Start", pages: ["README.md", "docs/quick-start.md", "docs/emulator.md"] },
  { text: "Tasks", pages: ["docs/tasks/", "docs/from-terraform.md"] },
  {
    text: "Access review",
    pages: [
      "docs/review.md",
      "docs/rules.md",
      "docs/assertions.md",
      "docs/own-rules.md",
      "docs/threats.md",
      "docs/ci.md",
      "docs/drift.md",
    ],
  },
  {
    text: "Reference",
    pages: [REFERENCE, "docs/resources.md", "docs/languages.md", "docs/commands.md", "docs/settings.md"],
  },
  { text: "Operation", pages: ["docs/"] },
  {
    text: "For developers of the package",
    pages: [
      "CONTRIBUTING.md",
      "docs/architecture.md",
      "docs/api-contract.md",
      "docs/glossary.md",
      "docs/tests.md",
    ],
  },
  { text: "Subjects of development", pages: [DEVELOPMENT], only: DEVELOPMENT },
  { text: "About", pages: ["CHANGELOG.md", "SECURITY.md"] },
];

const named = new Set(SECTIONS.flatMap(({ pages }) => pages));
const folderOf = (/** @type {string} */ page) => page.slice(0, page.lastIndexOf("/") + 1);

/** @param {Section} section @param {ReadonlyMap<string, string>} titles @returns {string[]} */
function pagesIn({ pages }, titles) {
  return pages.flatMap((name) => {
    if (!name.endsWith("/")) return titles.has(name) ? [name] : [];
    return [...titles.keys()].filter((page) => folderOf(page) === name && !named.has(page)).sort();
  });
}

/** @param {Section} section @param {ReadonlyMap<string, string>} titles @returns {Item} */
function renderSection(section, titles) {
  const items = pagesIn(section, titles).map((page) => ({
    text: page === "README.md" ? "Overview" : (titles.get(page) ?? page),
    link: `/${page.replace(/\.md$/, "")}`,
  }));
  return { text: section.text, items };
}

/**
 * The sidebars, by the folder of the pages that show them: each page stands in the section that names it or its
 * folder, or at the end.
 * @param {ReadonlyMap<string, string>} titles The title of each page.
 * @returns {Record<string, Item[]>}
 */
export function buildSidebars(titles) {
  const placed = new Set(SECTIONS.flatMap((section) => pagesIn(section, titles)));
  /** @type {Section} */
  const rest = { text: "More", pages: [...titles.keys()].filter((page) => !placed.has(page)) };
  const renderSidebarOf = (/** @type {string} */ folder) =>
    [...SECTIONS, rest]
      .filter(({ only }) => only === undefined || only === folder)
      .map((section) => renderSection(section, titles))
      .filter(({ items }) => items?.length);
  return Object.fromEntries(
    ["", REFERENCE, DEVELOPMENT].map((folder) => [`/${folder}`, renderSidebarOf(folder)]),
  );
}
