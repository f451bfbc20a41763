// @ts-check
import { isDeepStrictEqual } from "node:util";
import { isWrite, leafPaths } from "./server.mjs";
import { printChanges, printTree, countMethods, text, findUidByName, valueAt } from "./state.mjs";
import { paint, print, signed } from "./terminal.mjs";

/**
 * @typedef {import("./tour.mjs").Tour} Tour
 * @typedef {import("./steps.mjs").StepRun} StepRun
 */

/** The edit of step 2: one field of three resources each. */
const EDITS = [
  {
    from: '"Takes the money"',
    to: '"Takes and refunds the money"',
    resource: "payments",
    field: "description",
  },
  {
    from: "ref:refs/heads/main",
    to: "ref:refs/heads/release",
    resource: "ci-deployer",
    field: "claimMatch.subject",
  },
  {
    from: '["latest", "stable"]',
    to: '["latest", "stable", "v2"]',
    resource: "indexer",
    field: "activeTags",
  },
];

/** @param {Tour} tour @param {StepRun} step */
export async function create(tour, step) {
  await tour.run(step, ["stack", "init", "demo"]);
  const { changes, counts } = await tour.run(step, ["up", "--yes", "--skip-preview"]);
  const state = await tour.server.state();
  const writes = (await tour.server.newRequests()).filter(isWrite);
  tour.declared = state;
  printChanges(changes);
  print();
  print("What the server holds now:");
  printTree(state);

  const held = Object.values(state).flat().length;
  // The CLI counts the stack itself as a resource.
  const created = (counts.created ?? 0) - 1;
  step.check(
    "the server holds each resource that the CLI says it created",
    held > 0 && held === created && changes.length === held && changes.every(({ sign }) => sign === "+"),
    `${created} created, ${held} at the server`,
  );
  step.check(
    "one POST created each of them, and nothing else was written",
    writes.length === held && writes.every(({ method, status }) => method === "POST" && status === 200),
    countMethods(writes),
  );
}

/** @param {Tour} tour @param {StepRun} step */
export async function edit(tour, step) {
  print(paint("dim", "examples/getting-started/index.ts (a copy)"));
  for (const { line, before, after } of tour.stack.edit(EDITS)) {
    signed("-", `${String(line).padStart(3)}  ${before}`);
    signed("+", `     ${after}`);
  }
  print();
  const { changes } = await tour.run(step, ["up", "--yes", "--skip-preview"]);
  const state = await tour.server.state();
  const writes = (await tour.server.newRequests()).filter(isWrite);
  tour.declared = state;
  printChanges(changes);
  print();
  print("The writes that the server got:");
  tour.printRequests(writes);
  checkEdit(tour, step, Object.values(state).flat(), writes);
}

/**
 * @param {Tour} tour @param {StepRun} step @param {import("./server.mjs").Resource[]} resources
 * @param {import("./server.mjs").Request[]} writes
 */
function checkEdit(tour, step, resources, writes) {
  step.check(
    "exactly three requests, each a PATCH of an edited resource",
    writes.length === EDITS.length &&
      writes.every(({ method, status }) => method === "PATCH" && status === 200) &&
      EDITS.every(({ resource }) => writes.some(({ uid }) => uid === findUidByName(resources, resource))),
    `${countMethods(writes)}: ${writes.map(({ uid }) => tour.server.withNames(uid)).join(", ")}`,
  );
  step.check(
    "each updateMask names the edited field alone, and the body holds it",
    EDITS.every(({ resource, field }) =>
      writes.some(
        ({ uid, updateMask }) => uid === findUidByName(resources, resource) && updateMask === field,
      ),
    ) && writes.every(({ body, updateMask }) => leafPaths(body).join() === updateMask),
    writes
      .map(({ updateMask, body }) => `${updateMask ?? "no mask"} (body: ${leafPaths(body).join()})`)
      .join("\n"),
  );
  step.check(
    "the server holds the new values",
    writes.every(({ uid, body }) => {
      const live = resources.find((resource) => resource.uid === uid);
      return leafPaths(body).every((path) => isDeepStrictEqual(valueAt(live, path), valueAt(body, path)));
    }),
    writes.flatMap(({ body }) => leafPaths(body).map((path) => text(valueAt(body, path)))).join("\n"),
  );
}
