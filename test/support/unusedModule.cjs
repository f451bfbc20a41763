// @ts-check
/*
 * Stands for modules that Pulumi's SDK loads and no test uses: npm's dependency solver and the TypeScript compiler, which
 * serialize functions, and the Automation API. They are most of what the SDK loads.
 */
module.exports = {};
