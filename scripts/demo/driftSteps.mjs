// @ts-check
import { isDeepStrictEqual } from "node:util";
import { driftIn } from "./drift.mjs";
import { COLLECTIONS, contentOf, isWrite, leafPaths, readParentUid } from "./server.mjs";
import { printChanges, printDifference, countMethods, text, findOnly, valueAt } from "./state.mjs";
import { formatCount, paint, print, say } from "./terminal.mjs";
import { EXIT_CHANGES } from "./tour.mjs";

/**
 * @typedef {import("./tour.mjs").Tour} Tour
 * @typedef {import("./steps.mjs").StepRun} StepRun
 * @typedef {import("./drift.mjs").Difference} Difference
 * @typedef {import("./server.mjs").State} State
 * @typedef {import("./tour.mjs").HandChange} HandChange
 */

/** @param {Tour} tour @param {StepRun} step */
export async function changeByHand(tour, step) {
  const changes = [changeDescription, deleteGrant, widenTrust].map((change) => change(tour.declared));
  /** @type {number[]} */
  const statuses = [];
  for (const [index, { sentence, method, collection, uid, updateMask, body }] of changes.entries()) {
    if (index > 0) print();
    say(sentence);
    const query = updateMask === undefined ? "" : `updateMask=${updateMask}`;
    tour.printRequests([{ method, collection, uid, query, updateMask, body }]);
    const target = `${collection}/${uid}${query === "" ? "" : `?${query}`}`;
    statuses.push((await tour.server.send(method, target, body)).status);
  }
  const state = await tour.server.state();
  await tour.server.newRequests();
  tour.handChanges = changes;
  step.check(
    "the server took each of them",
    statuses.every((status) => status === 200),
    statuses.join(", "),
  );
  checkHandChanges(tour, step, state);
}

/** @param {Tour} tour @param {StepRun} step @param {State} state */
function checkHandChanges(tour, step, state) {
  const changes = tour.handChanges;
  const now = new Map(
    Object.values(state)
      .flat()
      .map((resource) => [resource.uid, resource]),
  );
  step.check(
    "the server now holds something else than the program declares",
    changes.every(({ uid, drift }) =>
      drift.length === 0
        ? !now.has(uid)
        : drift.every(({ path, to }) => isDeepStrictEqual(valueAt(now.get(uid), path), to)),
    ),
    changes
      .map(({ uid, drift }) => {
        const held = drift.map(({ path }) => `${path} ${text(valueAt(now.get(uid), path))}`).join(", ");
        return `${tour.server.withNames(uid)}: ${now.has(uid) ? held : "gone"}`;
      })
      .join("\n"),
  );
}

/** @param {Tour} tour @param {StepRun} step */
export async function preview(tour, step) {
  const args = ["preview", "--refresh", "--expect-no-changes", "--json", "--show-sames"];
  const { code, stdout } = await tour.run(step, args);
  /** @type {import("./drift.mjs").Digest} */
  const digest = JSON.parse(stdout);
  const writes = (await tour.server.newRequests()).filter(isWrite);
  const drift = driftIn(digest);
  for (const [index, { kind, name, gone, differences, plan }] of drift.entries()) {
    if (index > 0) print();
    const note = gone ? "is gone from the server" : "was changed at the server";
    print(`${paint("bold", `${kind} ${name}`)} ${note} ${paint("dim", `→ the next up will ${plan} it`)}`);
    for (const difference of differences) printDifference(difference);
  }

  step.check(
    "with --expect-no-changes its exit code tells that there are changes",
    code === EXIT_CHANGES,
    `exit code ${code}`,
  );
  checkPreview(tour, step, drift);
  step.check(
    "it wrote nothing to the server",
    writes.length === 0,
    `${formatCount(writes.length, "write")} in its log`,
  );
}

/** @param {Tour} tour @param {StepRun} step @param {import("./drift.mjs").Drift[]} drift What the preview shows. */
function checkPreview(tour, step, drift) {
  /** @param {{ id: string, gone: boolean, differences: Difference[] }[]} list */
  const comparable = (list) =>
    list.map(({ id, gone, differences }) => JSON.stringify([id, gone, differences.map(toComparable)])).sort();
  const expected = tour.handChanges.map(({ uid, drift: differences }) => ({
    id: uid,
    gone: differences.length === 0,
    differences,
  }));
  step.check(
    "it shows the three changes made by hand, value by value, and nothing else",
    expected.length > 0 && isDeepStrictEqual(comparable(drift), comparable(expected)),
    drift
      .map(({ kind, name, gone, differences }) => {
        const paths = differences.map(({ path }) => path).join(", ");
        return `${kind} ${name}: ${gone ? "gone" : paths}`;
      })
      .join("\n") || "nothing is shown",
  );
}

/** @param {Tour} tour @param {StepRun} step */
export async function repair(tour, step) {
  const { changes } = await tour.run(step, ["up", "--refresh", "--yes", "--skip-preview"]);
  const state = await tour.server.state();
  const writes = (await tour.server.newRequests()).filter(isWrite);
  printChanges(changes);
  print();
  print("The writes that the server got:");
  tour.printRequests(writes);

  const wanted = tour.handChanges.map(({ repair }) => repair);
  step.check(
    "one PATCH for each changed resource, one POST for the deleted one",
    writes.length === wanted.length &&
      wanted.every(({ method, uid, body }) =>
        writes.some(
          (write) => write.method === method && write.uid === uid && isDeepStrictEqual(write.body, body),
        ),
      ),
    countMethods(writes),
  );
  step.check(
    "each PATCH names what it repairs and no more",
    writes.every(
      ({ method, body, updateMask }) => method !== "PATCH" || leafPaths(body).join() === updateMask,
    ),
    writes.flatMap(({ updateMask }) => updateMask ?? []).join("; "),
  );
  const before = contentOf(tour.declared);
  const after = contentOf(state);
  const wrong = Object.keys(before).filter((key) => !isDeepStrictEqual(before[key], after[key]));
  step.check(
    "the server holds again, field by field, what it held before",
    Object.values(before).flat().length > 0 && isDeepStrictEqual(before, after),
    `${formatCount(Object.values(after).flat().length, "resource")} compared, ` +
      (wrong.length === 0 ? "all equal" : `different: ${wrong.join(", ")}`),
  );
}

/** The repository of the API gets another description. @param {State} state @returns {HandChange} */
function changeDescription(state) {
  const api = findOnly(state.repos, ({ name }) => name === "api");
  const description = "changed in a hurry";
  return {
    sentence: "The repository “api” gets another description.",
    method: "PATCH",
    collection: COLLECTIONS.repos,
    uid: api.uid,
    updateMask: "description",
    body: { description },
    drift: [{ path: "description", from: api.description, to: description }],
    repair: { method: "PATCH", uid: api.uid, body: { description: api.description } },
  };
}

/** A grant goes. @param {State} state @returns {HandChange} */
function deleteGrant(state) {
  const binding = findOnly(state.roleBindings, ({ role }) => role?.name === "viewer");
  const { identityUid, roleUid } = binding;
  return {
    sentence: "A grant is taken away: the CI identity no longer views the team “search”.",
    method: "DELETE",
    collection: COLLECTIONS.roleBindings,
    uid: binding.uid,
    drift: [],
    repair: { method: "POST", uid: readParentUid(binding), body: { identityUid, roleUid } },
  };
}

/** An identity trusts more than it did. @param {State} state @returns {HandChange} */
function widenTrust(state) {
  const deployer = findOnly(state.identities, ({ name }) => name === "ci-deployer");
  const subjectPattern = ".*";
  const { subject } = deployer.claimMatch;
  return {
    sentence:
      "The CI identity opens to every workflow of the owner: any subject instead of one branch of one repository.",
    method: "PATCH",
    collection: COLLECTIONS.identities,
    uid: deployer.uid,
    updateMask: "claimMatch.subjectPattern",
    body: { claimMatch: { subjectPattern } },
    drift: [
      { path: "claimMatch.subject", from: subject, to: undefined },
      { path: "claimMatch.subjectPattern", from: undefined, to: subjectPattern },
    ],
    repair: { method: "PATCH", uid: deployer.uid, body: { claimMatch: { subject } } },
  };
}

/** @param {Difference} difference */
function toComparable({ path, from, to }) {
  return [path, from, to];
}
