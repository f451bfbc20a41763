// @ts-check
const vm = require("node:vm");
const { TestEnvironment } = require("jest-environment-node");

/*
 * Jest loads the modules of each file of tests anew, and compiling them took most of the time of loading. A worker keeps
 * the compiled code of each module for its further files, which get modules of their own all the same.
 */

/** The code that makes the function of a module, by the file and the text of the module. @type {Map<string, vm.Script>} */
const scripts = new Map();

const { compileFunction } = vm;

/** Jest calls this to compile a module for one file of tests. @type {typeof compileFunction} */
vm.compileFunction = (code, parameters, options = {}) => {
  const { filename, parsingContext } = options;
  if (filename === undefined || parsingContext === undefined) {
    return compileFunction(code, parameters, options);
  }
  const key = `${filename}\n${code}`;
  let script = scripts.get(key);
  if (script === undefined) {
    const head = `(function (${(parameters ?? []).join(", ")}) {`;
    // The lines and columns of errors stay those of the module.
    script = new vm.Script(`${head}${code}\n})`, { filename, columnOffset: -head.length });
    scripts.set(key, script);
  }
  return script.runInContext(parsingContext);
};

module.exports = TestEnvironment;
