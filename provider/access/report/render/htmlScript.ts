/** Before anything is drawn: rows are shown as the filter says, so that thousands cost nothing at first. */
export const early = `document.documentElement.classList.add("js");`;

/**
 * The page's script. In the page itself: it loads nothing. It works on attributes of the rows alone, so that
 * without it everything is there to read; only then there is no filter.
 */
export const script = `
"use strict";
(() => {
  const one = (selector) => document.querySelector(selector);
  const all = (selector, from = document) => Array.from(from.querySelectorAll(selector));
  const form = one("#filter");
  const count = one("#count");
  const controls = { person: one("#person"), role: one("#role"), group: one("#group"), severity: one("#severity"), change: one("#change") };
  const rank = { critical: 4, high: 3, medium: 2, low: 1 };
  const items = all("[data-item]").map((element) => ({
    element,
    item: element.dataset.item,
    text: (element.dataset.who || "").toLowerCase(),
    role: element.dataset.role,
    groups: new Set((element.dataset.groups || "").split(" ").filter(Boolean)),
    rank: rank[element.dataset.severity] || 0,
    change: element.dataset.change,
  }));
  const totals = { grant: items.filter(({ item }) => item === "grant").length, finding: items.filter(({ item }) => item === "finding").length };
  const STEP = 200;
  const limits = { grant: STEP, finding: STEP };
  const number = (value) => value.toLocaleString("en-US");
  const mores = { grant: one("#more-grant"), finding: one("#more-finding") };
  const empties = { grant: one("#no-grant"), finding: one("#no-finding") };

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

  function narrow() {
    limits.grant = limits.finding = STEP;
    filter();
  }

  for (const item of ["grant", "finding"]) {
    if (!mores[item]) continue;
    mores[item].addEventListener("click", () => {
      const next = items.filter((entry) => entry.item === item && entry.element.classList.contains("on")).length;
      limits[item] += STEP * 5;
      filter();
      const first = items.filter((entry) => entry.item === item && entry.element.classList.contains("on"))[next];
      if (first && mores[item].hidden) {
        first.element.tabIndex = -1;
        first.element.focus();
      }
    });
  }

  function filter() {
    const person = controls.person.value.trim().toLowerCase();
    const role = controls.role.value;
    const group = controls.group.value;
    const least = rank[controls.severity.value] || 0;
    const change = controls.change.value;
    const shown = { grant: 0, finding: 0 };
    for (const entry of items) {
      const fits =
        (person === "" || entry.text.includes(person)) &&
        (role === "" || entry.role === role) &&
        (group === "" || entry.groups.has(group)) &&
        entry.rank >= least &&
        (change === "" || entry.change === change || entry.item !== "grant");
      if (fits) shown[entry.item] += 1;
      entry.element.classList.toggle("on", fits && shown[entry.item] <= limits[entry.item]);
    }
    for (const item of ["grant", "finding"]) {
      const left = shown[item] - limits[item];
      if (!mores[item]) continue;
      mores[item].hidden = left <= 0;
      mores[item].textContent = "Show " + number(Math.min(left, STEP * 5)) + " more of " + number(left);
    }
    for (const button of buttons) button.setAttribute("aria-pressed", String(button.dataset.group === group && group !== ""));
    for (const item of ["grant", "finding"]) if (empties[item]) empties[item].hidden = shown[item] > 0 || totals[item] === 0;
    const listed = (item) => (shown[item] > limits[item] ? ", the first " + number(limits[item]) + " listed" : "");
    count.textContent =
      number(shown.finding) + " of " + number(totals.finding) + " findings" + listed("finding") + "; " +
      number(shown.grant) + " of " + number(totals.grant) + " changes of access" + listed("grant") + ".";
  }

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

  const quiet = all(".tree .quiet");
  const toggle = one("#unchanged");
  if (toggle) {
    const apply = () => { for (const node of quiet) node.hidden = !toggle.checked; };
    toggle.addEventListener("change", apply);
    apply();
  }

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

  for (const element of all(".js")) element.hidden = false;
  filter();
})();
`;
