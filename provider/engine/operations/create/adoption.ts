import type { CreateResult } from "./creator";
import type { KindReader } from "../kindReader";
import { explain, printable, handlerError } from "../messages";
import { createOnlyOutputs, containsSecret } from "../../description";
import type { FieldSpec, Json, Props } from "../../description";
import { equal } from "../../values/values";
import { readOutputs } from "../../wire/decode";
import { mergeLive, outputsFor } from "../../wire/merge";

/** Takes over what exists, if it is what the inputs describe; writes nothing. */
export async function adoptExisting(
  { spec, find, parseInputs }: KindReader,
  what: string,
  id: string,
  inputs: Props,
): Promise<CreateResult> {
  const once = createOnlyOutputs(spec);
  if (once.length > 0) {
    throw handlerError(
      "PP4007",
      `${what}: its ${once.join(", ")} is returned only at creation, so it cannot be adopted`,
    );
  }
  const response = await find(id, inputs).catch((error: unknown) => {
    throw explain(spec, what, error, []);
  });
  if (response === undefined) {
    throw handlerError("PP4005", `${what}: not found; remove adopt() to create a new one`);
  }
  const existing = parseInputs(response, id);
  const { inputs: liveInputs } = mergeLive(spec, inputs, existing);
  const differences = Object.entries(spec.fields)
    .filter(([key, field]) => !equal(field, liveInputs[key], inputs[key]))
    .map(
      ([key, field]) =>
        `  ${key}: declared ${show(field, inputs[key])}, existing ${show(field, liveInputs[key])}`,
    );
  if (differences.length > 0) {
    throw handlerError(
      "PP4006",
      [
        `${what}: it differs from the program; declare its values, or remove adopt() to create a new one`,
        ...differences,
      ].join("\n"),
    );
  }
  const outs = { ...outputsFor(spec, inputs, existing), ...readOutputs(spec, response as Props, id, {}) };
  return { id, outs };
}

function show(field: FieldSpec, value: Json | undefined): string {
  return containsSecret(field) ? "something else" : printable(JSON.stringify(value ?? null), 300);
}
