// @ts-check
import { createRequire } from "node:module";
import path from "node:path";
import { root } from "../setup.mjs";

/*
 * The kinds as the package and the emulator describe them, from the last build.
 */

/**
 * @typedef {import("../lib/organisation/plainKinds.cjs").Field} Field
 * @typedef {{ kind: string, fields: Record<string, Field>, outputs?: Record<string, { createOnly?: boolean }> }} Spec
 * @typedef {{ kind: string, prefix: string, collection: string, methods: string[], parent: string }} Table
 */

const require = createRequire(import.meta.url);
const load = (/** @type {string} */ file) => require(path.join(root, "dist", file));

/** @returns {Spec[]} */
export const loadSpecs = () =>
  load("provider/kinds/index.js").kinds.map((/** @type {{ spec: Spec }} */ { spec }) => spec);

/** @returns {import("../lib/organisation/plainKinds.cjs").Formats} */
export const loadFormats = () => load("provider/fields/formats.js").formats;

/** Of the kinds that have a collection of their own, which a POST adds to. @returns {Table[]} */
export const loadTables = () =>
  load("emulator/tables/index.js").kindTables.filter((/** @type {Table} */ { methods }) =>
    methods.includes("create"),
  );
