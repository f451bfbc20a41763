// @ts-check

/*
 * Documents as the Pulumi CLI writes them, of a stack whose objects are known.
 */

/**
 * An object that a stack manages, with the name of its resource; its outputs are the inputs where none are given.
 * @typedef {{ readonly kind: string, readonly name: string, readonly uid: string, readonly inputs: object, readonly outputs?: object, readonly created?: string }} StackObject
 *
 * One resource of a state.
 * @typedef {object} StateRow
 * @property {string} urn
 * @property {string} type
 * @property {true} custom
 * @property {string} [id]
 * @property {string} [created]
 * @property {object} inputs
 * @property {object} [outputs]
 */

/** @param {StackObject} object @param {string} [stack] @returns {StateRow} */
function stateRow({ kind, name, uid, created, inputs, outputs = inputs }, stack = "prod") {
  const type = `pulumi-nodejs:dynamic/platform:${kind}`;
  const urn = `urn:pulumi:${stack}::acme::${type}::${name}`;
  const __provider = `exports.handler=()=>require("pulumi-platform/dynamic").${kind}`;
  const known = { urn, type, custom: /** @type {const} */ (true), id: uid, created };
  return { ...known, inputs: { ...inputs, __provider }, outputs: { ...outputs, __provider } };
}

/** What `pulumi stack export` writes. @param {readonly StackObject[]} objects @param {string} [stack] */
const exportText = (objects, stack) =>
  JSON.stringify({
    version: 3,
    deployment: { resources: objects.map((object) => stateRow(object, stack)) },
  });

/** @param {StackObject | undefined} before @param {StackObject | undefined} after */
function stepOf(before, after) {
  const oldState = before && stateRow(before);
  const newState = after && { ...stateRow(after), propertyDependencies: {} };
  // What is to be created has neither yet.
  if (newState && !oldState) newState.id = newState.outputs = undefined;
  const isSame = JSON.stringify(before?.inputs) === JSON.stringify(after?.inputs);
  const op = before === undefined ? "create" : after === undefined ? "delete" : isSame ? "same" : "update";
  return { op, urn: (oldState ?? newState)?.urn, oldState, newState };
}

/**
 * What `pulumi preview --json --show-sames` writes of a program that turns each object of a pair into the other.
 * @param {readonly (readonly [before: StackObject | undefined, after: StackObject | undefined])[]} pairs
 */
function previewText(pairs) {
  const steps = pairs.map(([before, after]) => stepOf(before, after));
  /** @type {Record<string, number>} */
  const changeSummary = {};
  for (const { op } of steps) changeSummary[op] = (changeSummary[op] ?? 0) + 1;
  return JSON.stringify({ steps, changeSummary, duration: 1 });
}

/**
 * The objects before and after a change in pairs of one object each.
 * @template {StackObject} T
 * @param {readonly T[]} before
 * @param {readonly T[]} after
 * @returns {[T | undefined, T | undefined][]}
 */
function pairsOf(before, after) {
  const keyOf = (/** @type {T} */ { kind, uid }) => `${kind} ${uid}`;
  const [old, now] = [before, after].map((objects) => new Map(objects.map((each) => [keyOf(each), each])));
  const keys = new Set([...before, ...after].map(keyOf));
  return [...keys].map((key) => [old?.get(key), now?.get(key)]);
}

module.exports = { exportText, pairsOf, previewText, stateRow };
