/*
 * The description of a resource kind: data and types, from which checks, diffs, the JSON form and the field mask are
 * made. Imports nothing of the package.
 */
export * from "./fields";
export * from "./operations";
export * from "./resource";
export * from "./values";
