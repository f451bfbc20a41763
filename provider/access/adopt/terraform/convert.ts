import type { FieldSpec } from "../../../fields/fieldSpec";
import { isObject } from "../../../fields/values";
import type { Json, Props } from "../../../fields/values";
import { capabilityNames } from "../../../kinds/capabilities";
import { snakeToCamelCase } from "./mapping";
import type { Conversion } from "./mapping";

/** `role_bindings.list`, `CAP_IAM_ROLE_BINDINGS_LIST` and `events.subscription.list` in one spelling. */
const canonicalCapability = (name: string): string =>
  name
    .toUpperCase()
    .replaceAll(".", "_")
    .replace(/^CAP_/, "")
    .replace(/^(IAM|TENANT)_/, "")
    .replace(/^EVENTS_SUBSCRIPTION_/, "SUBSCRIPTIONS_");

const byCanonical: ReadonlyMap<string, string> = new Map(
  capabilityNames.map((name) => [canonicalCapability(name), `CAP_${name}`]),
);

/** Terraform writes `groups.list` for `CAP_IAM_GROUPS_LIST`. A name that is not known stays as it is. */
function capabilityName(name: Json | undefined): Json {
  return typeof name === "string" ? (byCanonical.get(canonicalCapability(name)) ?? name) : (name ?? null);
}

function withOurNames(item: Json | undefined): Json {
  if (!isObject(item)) return item ?? null;
  return Object.fromEntries(
    Object.entries(item).map(([key, value]) => [snakeToCamelCase(key), value ?? null]),
  );
}

const formatScalar = (value: Json | undefined): string =>
  typeof value === "string" || typeof value === "number" ? String(value) : "";

/** Installations of Terraform, a row each, by the app that they belong to. */
function githubApps(rows: readonly (Json | undefined)[]): Json {
  const byApp = new Map<string, Json[]>();
  for (const row of rows.filter(isObject)) {
    const app = formatScalar(row["app_id"]);
    const name = row["name"];
    const installation: Props = {
      installationId: formatScalar(row["installation_id"]),
      ...(name ? { name } : {}),
    };
    byApp.set(app, [...(byApp.get(app) ?? []), installation]);
  }
  if (byApp.size === 0) return null;
  const apps = [...byApp].map(([app, installations]): [string, Json] => [app, { installations }]);
  return { appInstallations: Object.fromEntries(apps) };
}

/** Older versions of the provider keep a block as a list of one. */
export function unwrapBlock(value: Json | undefined): Json | undefined {
  return Array.isArray(value) && value.length <= 1 ? value[0] : value;
}

/** A value of Terraform in the terms of a field: enums with their prefix, numbers as text where the field is text. */
export function convertValue(value: Json, field: FieldSpec, conversion: Conversion | undefined): Json {
  const items = Array.isArray(value) ? value : [value];
  switch (conversion) {
    case "capabilities":
      return items.map(capabilityName);
    case "listOfObjects":
      return items.map(withOurNames);
    case "githubApp":
    case "githubInstallations":
      return githubApps(items);
    case undefined:
      if (
        field.type === "enum" &&
        typeof value === "string" &&
        value !== "" &&
        !value.startsWith(field.prefix)
      ) {
        return `${field.prefix}${value}`;
      }
      return field.type === "string" && typeof value === "number" ? String(value) : value;
  }
}
