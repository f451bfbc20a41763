/** Before anything is drawn: rows are shown as the filter says, so that thousands cost nothing at first. */
export const early = `document.documentElement.classList.add("js");`;

/** What the parts of the script share: the rows, cards and holders of the page, and the controls of its filter. */
const elements = `
const one = (selector) => document.querySelector(selector);
const all = (selector, from = document) => Array.from(from.querySelectorAll(selector));
const number = (value) => value.toLocaleString("en-US");
const words = (text) => new Set((text || "").split(" ").filter(Boolean));
const form = one("#filter");
const names = ["person", "role", "group", "severity", "change"];
const controls = Object.fromEntries(names.map((name) => [name, one("#" + name)]));
const rank = { critical: 4, high: 3, medium: 2, low: 1 };
const items = all("[data-item]").map((element) => ({
  element,
  item: element.dataset.item,
  count: Number(element.dataset.count || 1),
  text: (element.dataset.who || "").toLowerCase(),
  roles: words(element.dataset.role),
  groups: words(element.dataset.groups),
  rank: rank[element.dataset.severity] || 0,
  changes: words(element.dataset.change),
}));
const of = (item) => items.filter((entry) => entry.item === item);
const sum = (entries) => entries.reduce((total, { count }) => total + count, 0);
const totals = { grant: sum(of("grant")), finding: sum(of("finding")) };
`;

/** Shows what matches the filter, the first few hundred at first, and says how much that is. */
const filtering = `
const STEP = 200;
const limits = { grant: STEP, finding: STEP, holder: Infinity };
const mores = { grant: one("#more-grant"), finding: one("#more-finding") };
const empties = { grant: one("#no-grant"), finding: one("#no-finding") };

function matches(entry, { person, role, group, least, change }) {
  return (
    (person === "" || entry.text.includes(person)) &&
    (role === "" || entry.roles.has(role)) &&
    (group === "" || entry.groups.has(group)) &&
    entry.rank >= least &&
    (change === "" || entry.changes.has(change) || entry.item === "finding")
  );
}

function wanted() {
  return {
    person: controls.person.value.trim().toLowerCase(),
    role: controls.role.value,
    group: controls.group.value,
    least: rank[controls.severity.value] || 0,
    change: controls.change.value,
  };
}

function filter() {
  const filters = wanted();
  const shown = { grant: 0, finding: 0, holder: 0 };
  const counts = { grant: 0, finding: 0, holder: 0 };
  for (const entry of items) {
    const isMatch = matches(entry, filters);
    if (isMatch) {
      shown[entry.item] += 1;
      counts[entry.item] += entry.count;
    }
    const isOn = isMatch && shown[entry.item] <= limits[entry.item];
    entry.element.classList.toggle("on", isOn);
    if (isOn && entry.item === "finding") addCopyButtons(entry.element);
  }
  for (const item of ["grant", "finding"]) {
    const left = shown[item] - limits[item];
    if (mores[item]) {
      mores[item].hidden = !(left > 0);
      mores[item].textContent = "Show " + number(Math.min(left, STEP * 5)) + " more of " + number(left);
    }
    if (empties[item]) empties[item].hidden = shown[item] > 0 || totals[item] === 0;
  }
  for (const button of buttons) {
    button.setAttribute("aria-pressed", String(button.dataset.group === filters.group && filters.group !== ""));
  }
  showCounts(shown, counts);
}

function showCounts(shown, counts) {
  const listed = (item) => (shown[item] > limits[item] ? ", the first " + number(limits[item]) + " listed" : "");
  one("#count").textContent =
    number(counts.finding) + " of " + number(totals.finding) + " findings" + listed("finding") + "; " +
    number(counts.grant) + " of " + number(totals.grant) + " changes of access" + listed("grant") + ".";
}

function narrow() {
  limits.grant = limits.finding = STEP;
  filter();
  writeAddress();
}

function showMore(item) {
  const on = () => of(item).filter(({ element }) => element.classList.contains("on"));
  const next = on().length;
  limits[item] += STEP * 5;
  filter();
  const first = on()[next];
  if (first && mores[item].hidden) {
    first.element.tabIndex = -1;
    first.element.focus();
  }
}
`;

/** Keeps the filter in the address, by the names that a reader sees, so that a view can be sent to others. */
const address = `
const sameText = (control, text) => Array.from(control.options).filter((option) => option.text === text);

function valueInAddress(name) {
  const control = controls[name];
  if (control.value === "" || !control.options) return control.value.trim();
  const { text } = control.selectedOptions[0];
  return sameText(control, text).length === 1 ? text : control.value;
}

function writeAddress() {
  const parameters = new URLSearchParams();
  for (const name of names) if (valueInAddress(name) !== "") parameters.set(name, valueInAddress(name));
  const text = parameters.toString();
  if (text === "" && !location.hash.includes("=")) return;
  history.replaceState(null, "", text === "" ? location.pathname + location.search : "#" + text);
}

function readAddress() {
  if (!location.hash.includes("=")) return false;
  const parameters = new URLSearchParams(location.hash.slice(1));
  for (const name of names) {
    const control = controls[name];
    const text = parameters.get(name) || "";
    if (!control.options) {
      control.value = text;
      continue;
    }
    const [option] = sameText(control, text);
    control.value = option ? option.value : text;
    if (control.selectedIndex < 0) control.value = "";
  }
  return true;
}
`;

/** Puts a button beside each snippet that is shown. */
const copying = `
function select(element) {
  const range = document.createRange();
  range.selectNodeContents(element);
  getSelection().removeAllRanges();
  getSelection().addRange(range);
}

async function copy(code) {
  try {
    await navigator.clipboard.writeText(code.textContent);
    return true;
  } catch {
    select(code);
    return document.execCommand("copy");
  }
}

function addCopyButtons(card) {
  for (const snippet of all(".snippet", card)) {
    if (snippet.querySelector(".copy")) continue;
    const button = document.createElement("button");
    button.type = "button";
    button.className = "copy";
    button.textContent = "Copy";
    button.setAttribute("aria-live", "polite");
    button.addEventListener("click", async () => {
      const done = await copy(snippet.querySelector("code"));
      button.textContent = done ? "Copied" : "Press Ctrl+C";
      setTimeout(() => { button.textContent = "Copy"; }, 2000);
    });
    snippet.append(button);
  }
}
`;

const tree = `
const buttons = all(".tree [data-group]").map((label) => {
  const button = document.createElement("button");
  button.type = "button";
  button.dataset.group = label.dataset.group;
  button.title = label.title;
  button.textContent = label.textContent;
  button.setAttribute("aria-pressed", "false");
  button.addEventListener("click", () => {
    controls.group.value = button.getAttribute("aria-pressed") === "true" ? "" : button.dataset.group;
    narrow();
  });
  label.replaceWith(button);
  return button;
});
const quiet = all(".tree .quiet");
const toggle = one("#unchanged");
if (toggle) {
  const apply = () => { for (const node of quiet) node.hidden = !toggle.checked; };
  toggle.addEventListener("change", apply);
  apply();
}
`;

const listeners = `
let pending = 0;
form.addEventListener("input", () => {
  clearTimeout(pending);
  pending = setTimeout(narrow, 80);
});
form.addEventListener("submit", (event) => {
  event.preventDefault();
  narrow();
});
form.addEventListener("reset", () => setTimeout(narrow));
form.addEventListener("keydown", (event) => {
  if (event.key === "Escape" && event.target === controls.person && controls.person.value !== "") {
    controls.person.value = "";
    narrow();
  }
});
for (const item of ["grant", "finding"]) if (mores[item]) mores[item].addEventListener("click", () => showMore(item));
addEventListener("hashchange", () => { if (readAddress()) narrow(); });

let opened = [];
addEventListener("beforeprint", () => {
  for (const item of ["grant", "finding"]) limits[item] = Infinity;
  filter();
  opened = all("details:not([open])");
  for (const element of opened) element.open = true;
});
addEventListener("afterprint", () => {
  for (const element of opened) element.open = false;
  narrow();
});
`;

/**
 * The page's script. In the page itself: it loads nothing. It works on attributes of the rows alone, so that
 * without it everything is there to read; only then there is no filter.
 */
export const script = `
"use strict";
(() => {
${elements}${filtering}${address}${copying}${tree}${listeners}
for (const element of all(".js")) element.hidden = false;
const wide = matchMedia("(min-width: 56.01rem)");
const foldFilter = () => { one(".filters details").open = wide.matches; };
wide.addEventListener("change", foldFilter);
foldFilter();
readAddress();
filter();
})();
`;
