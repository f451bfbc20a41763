// @ts-check
/*
 * Stands for modules that Pulumi's SDK loads to pack functions into archives and to serialize them, which nothing here
 * does: npm's dependency solver and the TypeScript compiler are two thirds of what it loads.
 */
module.exports = {};
