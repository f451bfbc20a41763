import type * as ajvModule from "ajv";
import type { ErrorObject, ValidateFunction } from "ajv";
import { printable } from "../api/errors";

const LONGEST_PATH = 200;
const LONGEST_VALUE = 300;

/** `/findings/0/severity` as a program would write it: `findings[0].severity`. */
function propertyPath(pointer: string): string {
  const steps = pointer.split("/").slice(1);
  const path = steps.map((step) => {
    const key = step.replaceAll("~1", "/").replaceAll("~0", "~");
    return /^\d+$/.test(key) ? `[${key}]` : `.${key}`;
  });
  return path.join("").replace(/^\./, "");
}

/** What a value must be, by the keyword of the schema that it breaks. */
function requirement({ keyword, params, message }: ErrorObject): string {
  const param = (name: string): unknown => Reflect.get(params, name);
  switch (keyword) {
    case "required":
      return `lacks ${String(param("missingProperty"))}`;
    case "additionalProperties":
      return `has an unknown property ${printable(JSON.stringify(param("additionalProperty")), 100)}`;
    case "type":
      return `must be of type ${String(param("type"))}`;
    case "const":
      return `must be ${JSON.stringify(param("allowedValue"))}`;
    case "enum":
      return `must be one of ${[param("allowedValues")].flat().map(String).join(", ")}`;
    case "minimum":
      return `must be ${String(param("limit"))} or more`;
    case "pattern":
      return `must match ${String(param("pattern"))}`;
    default:
      return message ?? "is wrong";
  }
}

function describeError(error: ErrorObject, whole: string): string {
  const path = propertyPath(error.instancePath);
  const where = path === "" ? whole : printable(path, LONGEST_PATH);
  return printable(`${where} ${requirement(error)}`, LONGEST_PATH + LONGEST_VALUE);
}

/** What the members of the definitions allow: the names of the branches of a union. */
interface Definitions {
  readonly definitions?: Readonly<Record<string, { properties?: Record<string, { const?: string }> }>>;
}

function branchNames({ definitions = {} }: Definitions, member: string): string[] {
  return Object.values(definitions).flatMap(({ properties }) => {
    const name = properties?.[member]?.const;
    return name === undefined ? [] : [name];
  });
}

/**
 * A function that says in one line, safe to print, why a value does not fit a JSON schema; undefined where it fits.
 * The schema is compiled at the first use, and ajv is loaded then: no other command waits for it.
 *
 * @param whole what messages call the value itself.
 */
export function validatorOf(schema: object, whole: string): (value: unknown) => string | undefined {
  let validate: ValidateFunction | undefined;
  return (value) => {
    if (validate === undefined) {
      // eslint-disable-next-line @typescript-eslint/no-require-imports
      const { Ajv } = require("ajv") as typeof ajvModule;
      validate = new Ajv({ discriminator: true }).compile(schema);
    }
    if (validate(value)) return undefined;
    const [error] = validate.errors ?? [];
    if (error === undefined) return `${whole} is wrong`;
    if (error.keyword !== "discriminator") return describeError(error, whole);
    const member = String(Reflect.get(error.params, "tag"));
    return `${member} must be one of ${branchNames(schema, member).join(", ")}`;
  };
}
