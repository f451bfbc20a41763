// @ts-check
import ts from "typescript";
import { upperFirst } from "./letterCase.cjs";
import { describe, describeFields } from "./reference/resourcePage.mjs";
import { Sources } from "./reference/sources.mjs";

/*
 * The schema of the native plugin: what Pulumi generates packages for other languages from, and checks YAML programs
 * against. It has no version, so a release changes it only where a description changed; the build adds the version.
 */

/**
 * @typedef {import("../../provider/fields/resourceSpec.js").ResourceSpec} Spec
 * @typedef {import("../../provider/fields/fieldSpec.js").FieldSpec} Field
 * @typedef {Record<string, any>} Schema
 */

const token = (/** @type {string} */ name) => `platform:index:${name}`;
const reference = (/** @type {string} */ name) => ({ $ref: `#/types/${token(name)}` });

const memberName = (/** @type {string} */ name) => name.toLowerCase().split("_").map(upperFirst).join("");

class SchemaWriter {
  /** @type {Record<string, Schema>} */
  types = {};

  /** @param {Sources} sources @param {import("./reference/resourcePage.mjs").FormatWords} formats */
  constructor(sources, formats) {
    this.sources = sources;
    this.formats = formats;
  }

  /** @param {string} name @param {Schema} schema */
  addType(name, schema) {
    const known = this.types[token(name)];
    if (known !== undefined && JSON.stringify(known) !== JSON.stringify(schema)) {
      throw new Error(`two types of the schema have the name ${name}`);
    }
    this.types[token(name)] = schema;
    return reference(name);
  }

  /** The type of a field. @param {Field} field @param {string} name what an object of it is called. @param {ts.Type} type @returns {Schema} */
  typeOfField(field, name, type) {
    switch (field.type) {
      case "list":
        return { type: "array", items: this.typeOfField(field.items, name, type) };
      case "map":
        return { type: "object", additionalProperties: this.typeOfField(field.values, name, type) };
      case "object": {
        const shape = this.sources.findShape(type, Object.keys(field.fields));
        if (!shape) throw new Error(`the type of ${name} has no object with its members`);
        return this.addType(name, { type: "object", ...this.members(shape, field.fields, name) });
      }
      case "enum": {
        if (field.known.length === 0) return { type: "string" };
        // As Pulumi's generators expect names: of one in capitals, that for Python would make another.
        const values = field.known.map((known) => ({
          name: memberName(known),
          value: field.prefix + known,
        }));
        const ref = this.addType(name, { type: "string", enum: values });
        // The list of names grows at the server.
        return { type: "string", oneOf: [{ type: "string" }, { type: "string", ...ref }] };
      }
      default:
        return { type: field.type };
    }
  }

  /** The properties of a resource or of an object. @param {ts.Type} type @param {Readonly<Record<string, Field>>} fields @param {string} name */
  members(type, fields, name) {
    const properties = Object.fromEntries(
      describeFields(this.sources, type, fields, "").map(({ path, field, text }) => {
        const member = this.sources.checker.getTypeOfSymbol(this.sources.memberOf(type, path));
        return [
          path,
          {
            ...this.typeOfField(field, `${name}${upperFirst(path)}`, member),
            description: describe({ field, text, path }, this.formats),
            ...(field.secret ? { secret: true } : {}),
            ...(field.immutable ? { replaceOnChanges: true } : {}),
          },
        ];
      }),
    );
    const required = Object.entries(fields).flatMap(([key, field]) => (field.required ? [key] : []));
    return { properties, ...(required.length > 0 ? { required: required.sort() } : {}) };
  }

  /** @param {Spec} spec */
  resource(spec) {
    const { kind, fields, outputs = {} } = spec;
    const args = this.members(this.sources.typeOf(`${kind}Args`), fields, kind);
    const added = this.members(this.sources.typeOf(kind), outputs, kind);
    const required = [...(args.required ?? []), ...Object.keys(outputs)].sort();
    return {
      description: this.sources.describe(this.sources.symbolOf(kind)),
      properties: { ...args.properties, ...added.properties },
      ...(required.length > 0 ? { required } : {}),
      inputProperties: args.properties,
      ...(args.required ? { requiredInputs: args.required } : {}),
    };
  }

  /** The schema of a type of TypeScript: of what a lookup takes and returns. @param {ts.Type} given @returns {Schema} */
  typeOf(given) {
    const { checker } = this.sources;
    const type = checker.getNonNullableType(given);
    if (type.flags & ts.TypeFlags.StringLike) return { type: "string" };
    if (type.flags & ts.TypeFlags.BooleanLike) return { type: "boolean" };
    if (type.flags & ts.TypeFlags.NumberLike) return { type: "integer" };
    if (type.isUnion()) {
      const [first = type] = type.types;
      return this.typeOf(first);
    }
    if (checker.isArrayType(type)) {
      const [item = type] = this.sources.typeArguments(type);
      return { type: "array", items: this.typeOf(item) };
    }
    const index = checker.getIndexTypeOfType(type, ts.IndexKind.String);
    if (index) return { type: "object", additionalProperties: this.typeOf(index) };
    if (type.isClassOrInterface()) {
      return this.addType(`${type.symbol.name.replace(/Result$/, "")}Result`, {
        type: "object",
        ...this.object(type),
      });
    }
    // An enumeration that grows: its names, or any other string.
    if (type.isIntersection()) return { type: "string" };
    // What is only marked as being there has no members.
    if (checker.getPropertiesOfType(type).length === 0) return { $ref: "pulumi.json#/Any" };
    throw new Error(`the schema has no type for ${this.sources.textOf(type)}`);
  }

  /** @param {ts.Type} type */
  object(type) {
    const members = this.sources.checker.getPropertiesOfType(type);
    const properties = Object.fromEntries(
      members.map((member) => [
        member.name,
        {
          ...this.typeOf(this.sources.checker.getTypeOfSymbol(member)),
          description: this.sources.describe(member),
        },
      ]),
    );
    const required = members
      .filter(({ flags }) => (flags & ts.SymbolFlags.Optional) === 0)
      .map(({ name }) => name);
    return { properties, ...(required.length > 0 ? { required: required.sort() } : {}) };
  }

  /** @param {import("./reference/sources.mjs").LookupSource} lookup */
  lookup({ text, args, result }) {
    const isList = this.sources.checker.isArrayType(result);
    const found = this.typeOf(result);
    const outputs = isList
      ? { properties: { items: { ...found, description: "What was found." } }, required: ["items"] }
      : this.object(this.sources.checker.getNonNullableType(result));
    return {
      description: isList ? `${text} They are in \`items\`.` : text,
      ...(args ? { inputs: { type: "object", ...this.object(args) } } : {}),
      outputs: { type: "object", ...outputs },
    };
  }
}

/** @param {import("../../provider/settings/definitions.js").SettingDefinition} definition */
function typeOfSetting({ type }) {
  return type === "whole number" ? "integer" : type === "`true` or `false`" ? "boolean" : "string";
}

/** @template T @param {Record<string, T>} record */
const sorted = (record) => Object.fromEntries(Object.entries(record).sort(([a], [b]) => (a < b ? -1 : 1)));

/**
 * @param {string} root the folder of the repository.
 * @param {(file: string) => any} load loads a module of the package by its path below provider/, without its extension.
 */
export function pluginSchema(root, load) {
  const sources = new Sources(root);
  const writer = new SchemaWriter(sources, load("fields/formats").formatWords);
  /** @type {{ spec: Spec }[]} */
  const kinds = load("kinds/index").kinds;
  const resources = Object.fromEntries(kinds.map(({ spec }) => [token(spec.kind), writer.resource(spec)]));
  const functions = Object.fromEntries(
    sources.lookups().map((lookup) => [token(lookup.name), writer.lookup(lookup)]),
  );
  /** @type {import("../../provider/settings/definitions.js").SettingDefinition[]} */
  const settings = Object.values(load("settings/definitions").settingDefinitions);
  const variables = Object.fromEntries(
    settings.flatMap((definition) => {
      const { key, variable, text, isSecret } = definition;
      if (key === undefined) return [];
      const described = variable === undefined ? text : `${text} Environment: \`${variable}\`.`;
      return [
        [
          key,
          { type: typeOfSetting(definition), description: described, ...(isSecret ? { secret: true } : {}) },
        ],
      ];
    }),
  );
  return {
    name: "platform",
    displayName: "Platform",
    description:
      "Groups, identities, roles, role bindings, registry repositories and event subscriptions of the Platform API v2.",
    keywords: ["pulumi", "iam", "access", "registry"],
    license: "Apache-2.0",
    language: {
      nodejs: { packageName: "pulumi-platform/native" },
      python: {
        packageName: "pulumi_platform",
        pyproject: { enabled: true },
        respectSchemaVersion: true,
      },
    },
    config: { variables },
    provider: {
      description: "A connection: to an address of the API, with a credential.",
      inputProperties: variables,
    },
    types: sorted(writer.types),
    resources: sorted(resources),
    functions: sorted(functions),
  };
}

/**
 * The module of the enumerations of a schema: what the code that `pulumi import` prints calls their names.
 * @param {{ types: Record<string, Schema> }} schema @param {readonly string[]} capabilities the names that a module has already
 */
export function enumerationsModule({ types }, capabilities) {
  const listed = Object.entries(types).flatMap(([name, { enum: members }]) => {
    if (!members) return [];
    const [{ name: member, value }] = members;
    const words = value.split("_");
    const from = words.findIndex(
      (/** @type {string} */ _, /** @type {number} */ at) => memberName(words.slice(at).join("_")) === member,
    );
    const prefix = words.slice(0, from).join("_") + "_";
    const names = members.map((/** @type {Schema} */ each) => each.value.slice(prefix.length)).join(" ");
    const constant = name.replace(token(""), "");
    const isOfCapabilities = names === capabilities.join(" ");
    const call = isOfCapabilities
      ? `nameMembers<"${prefix}", CapabilityName>("${prefix}", capabilityNames)`
      : `nameMembers(\n  "${prefix}",\n  "${names}",\n)`;
    return [`/** The names of ${constant} that the API has. */\nexport const ${constant} = ${call};\n`];
  });
  const head = `/* The enumerations, as the code that \`pulumi import\` prints names them. \`npm run docs\` writes this file. */
import { nameMembers } from "../fields/enumNames";
import { capabilityNames } from "../kinds/capabilities";
import type { CapabilityName } from "../kinds/capabilities";

`;
  return head + listed.join("\n");
}
