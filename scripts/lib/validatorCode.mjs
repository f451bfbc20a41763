// @ts-check
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import path from "node:path";

const require = createRequire(import.meta.url);
const { Ajv } = /** @type {typeof import("ajv")} */ (require("ajv"));
const { default: standaloneCode } = require("ajv/dist/standalone");

/** Schemas of which all mistakes are reported. Of the others only the first is, so that no file takes long to refuse. */
const ALL_ERRORS = ["access-policy"];

/**
 * A CommonJS module that checks values against a schema and needs no other module. To load it takes a few milliseconds;
 * ajv takes 100 to 250 to load and compile the same schema.
 * @param {string} name as in `schema/<name>.schema.json`.
 * @param {object} schema
 * @returns {string}
 */
export function validatorCode(name, schema) {
  const ajv = new Ajv({
    allErrors: ALL_ERRORS.includes(name),
    discriminator: true,
    // Each error carries its schema, which holds the message.
    verbose: true,
    // Counts the lengths of strings as JavaScript does: the other way needs a module of ajv.
    unicode: false,
    code: { source: true },
    strictTypes: false,
    logger: false,
  });
  ajv.addVocabulary(["errorMessage"]);
  const code = standaloneCode(ajv, ajv.compile(schema));
  if (/\brequire\(/.test(code))
    throw new Error(`the validator of ${name} needs a module: see validatorCode.mjs`);
  return code;
}

/** Replaces a file at once, since test runs may share it. @param {string} file @param {string} text */
function replaceFile(file, text) {
  const temporary = `${file}.${process.pid}`;
  writeFileSync(temporary, text);
  renameSync(temporary, file);
}

/**
 * Copies each schema of a folder to another, and writes its validator beside it where that is not up to date.
 * @param {string} from @param {string} to
 */
export function writeValidators(from, to) {
  const compiler = readFileSync(import.meta.filename);
  mkdirSync(to, { recursive: true });
  for (const file of readdirSync(from).filter((each) => each.endsWith(".schema.json"))) {
    const text = readFileSync(path.join(from, file), "utf8");
    const name = file.replace(/\.schema\.json$/, "");
    const title = `// ${createHash("sha256").update(compiler).update(text).digest("hex")}\n`;
    const validator = path.join(to, `${name}.validate.js`);
    if (existsSync(validator) && readFileSync(validator, "utf8").startsWith(title)) continue;
    replaceFile(path.join(to, file), text);
    replaceFile(validator, title + validatorCode(name, JSON.parse(text)));
  }
}

/** Jest's tests run on the sources, where no validator is: `jest.config.js` has them loaded from this folder. */
export default function () {
  const root = path.join(import.meta.dirname, "..", "..");
  writeValidators(path.join(root, "schema"), path.join(root, ".cache", "validators"));
}
