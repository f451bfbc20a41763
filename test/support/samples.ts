import type { Declaration, Declarations } from "./engine";
import { access } from "./samples/access";
import { accounts } from "./samples/accounts";
import { registry } from "./samples/registry";
import type { FieldCase, Sample } from "./samples/sample";

export type { FieldCase, Replacement, Sample, WireRequest } from "./samples/sample";
export { CERTIFICATE, inDays, jwks, PUBLIC_KEY } from "./samples/values";

/** A sample of each kind or more: an object, and every change that it can undergo. */
export const samples: readonly Sample[] = [...access, ...registry, ...accounts];

/** What samples refer to. */
export const surroundings: Record<string, Declaration> = {
  org: { kind: "Group", args: { name: "org" } },
  reader: {
    kind: "Role",
    args: { parentUid: "${org}", name: "reader", capabilities: ["CAP_REPO_LIST"] },
  },
  abroad: { kind: "Group", args: { name: "abroad" } },
  abroadLogin: {
    kind: "IdentityProvider",
    args: {
      parentUid: "${abroad}",
      name: "login",
      defaultRole: "${reader}",
      oidc: { issuer: "https://login.example.com", clientId: "platform", pkceEnabled: true },
    },
  },
  writer: {
    kind: "Role",
    args: { parentUid: "${org}", name: "writer", capabilities: ["CAP_REPO_UPDATE"] },
  },
  someone: {
    kind: "Identity",
    args: {
      parentUid: "${org}",
      name: "someone",
      claimMatch: { issuer: "https://issuer.example.com", subject: "someone" },
    },
  },
  other: {
    kind: "Identity",
    args: {
      parentUid: "${org}",
      name: "other",
      claimMatch: { issuer: "https://issuer.example.com", subject: "other" },
    },
  },
};

/** The name of what a copy of a sample has for itself alone. */
export const ownOf = (name: string): string => `${name}-own`;

/** A copy of a sample, with what it has for itself alone. */
export function declared(
  name: string,
  { kind, own }: Sample,
  args: Record<string, unknown>,
  ownName = ownOf(name),
): Declarations {
  const text = JSON.stringify(args).replaceAll("${own}", `\${${ownName}}`);
  return {
    ...(own ? { [ownName]: own } : {}),
    [name]: { kind, args: JSON.parse(text) as Record<string, unknown> },
  };
}

/** A path as in `claimMatch.issuer`, or its steps where a label may hold a point. */
type Path = string | readonly string[];

const stepsOf = (path: Path): string[] => (typeof path === "string" ? path.split(".") : [...path]);

/** A copy of `args` with the member at a path set, or taken out. */
export function withMember(
  args: Record<string, unknown>,
  path: Path,
  value: unknown,
): Record<string, unknown> {
  const copy = structuredClone(args);
  const steps = stepsOf(path);
  const last = steps.pop() ?? "";
  let target = copy;
  for (const step of steps) target = (target[step] ??= {}) as Record<string, unknown>;
  if (value === undefined) Reflect.deleteProperty(target, last);
  else target[last] = value;
  return copy;
}

/** The property that a case changes. */
export const propertyPathOf = ({ path, property = path }: FieldCase): string => property;

/** A copy of `args` with a field changed as a sample says. */
export function changeField(args: Record<string, unknown>, field: FieldCase): Record<string, unknown> {
  const changed = withMember(args, propertyPathOf(field), field.to);
  return field.without === undefined ? changed : withMember(changed, field.without, undefined);
}

/** The member at a path. */
export function memberAt(value: unknown, path: Path): unknown {
  return stepsOf(path).reduce<unknown>(
    (inner, step) =>
      inner !== null && typeof inner === "object" ? (inner as Record<string, unknown>)[step] : undefined,
    value,
  );
}

/** `{a: {b: value}}` for `a.b`. */
export function nested(path: string, value: unknown): unknown {
  return path
    .split(".")
    .reverse()
    .reduce<unknown>((inner, step) => ({ [step]: inner }), value);
}
