// Declares what resources.json beside it says; the text `${name}` stands for the id of resource `name`.
const fs = require("node:fs");
const platform = require("pulumi-platform");

const wanted = JSON.parse(fs.readFileSync(`${__dirname}/resources.json`, "utf8"));
const made = {};

function resolve(value) {
  const reference = typeof value === "string" ? /^\$\{(.+)\}$/.exec(value) : null;
  if (reference) return made[reference[1]].id;
  if (Array.isArray(value)) return value.map(resolve);
  if (value === null || typeof value !== "object") return value;
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, resolve(inner)]));
}

for (const [name, { kind, args }] of Object.entries(wanted)) {
  made[name] = new platform[kind](name, resolve(args));
}
