import fc, { casesOf } from "../../../support/properties";
import { combineDirections, describeEffects } from "../../../../provider/access/effects";
import type { Direction, EffectContext, FieldEffect } from "../../../../provider/access/effects";
import { effectOf } from "../../../../provider/fields/fieldAccess";
import { anchored, PatternComparer } from "../../../../provider/access/trust/patternComparer";
import { unreadAt } from "../../../../provider/access/graph/unread";
import type { AccessEffect, FieldSpec } from "../../../../provider/fields/fieldSpec";
import type { ResourceSpec } from "../../../../provider/fields/resourceSpec";
import { SECRET_MASK } from "../../../../provider/fields/values";
import type { Json, Props } from "../../../../provider/fields/values";
import { kinds } from "../../../../provider/kinds";
import { enumOf, kind, list, string } from "../../../../provider/fields/builders";
import { valueOf } from "../../../support/fieldValues";
import { specOf } from "../../support/samples";

const [reader, owner] = ["a".repeat(40), "b".repeat(40)];
const roles: Readonly<Record<string, readonly string[]>> = {
  [reader]: ["CAP_REPO_LIST"],
  [owner]: ["CAP_REPO_LIST", "CAP_TAG_DELETE"],
};

const contextOf = (secretPaths: readonly string[] = []): EffectContext => {
  const side = { findName: (key: string) => `<${key}>`, findCapabilities: (role: string) => roles[role] };
  return { before: side, after: side, comparer: new PatternComparer(), secretPaths };
};

const effects = (kind: string, before: Props, after: Props): FieldEffect[] =>
  describeEffects(specOf(kind), before, after, contextOf());

const direction = (kind: string, before: Props, after: Props): Direction =>
  combineDirections(effects(kind, before, after).map((effect) => effect.direction));

/** A field that holds a value, with the path to it. */
interface Found {
  readonly spec: ResourceSpec;
  readonly path: readonly string[];
  readonly field: FieldSpec;
  /** Its own effect, or that of the field around it. */
  readonly effect: AccessEffect | "none";
}

function fieldsIn(
  spec: ResourceSpec,
  fields: ResourceSpec["fields"],
  path: readonly string[] = [],
  inherited?: AccessEffect | "none",
): Found[] {
  return Object.entries(fields).flatMap(([key, field]): Found[] => {
    const at = [...path, key];
    const effect = effectOf(field, inherited);
    if (field.type === "object") return fieldsIn(spec, field.fields, at, effect);
    return [{ spec, path: at, field, effect }];
  });
}

const all = kinds.flatMap(({ spec }) => fieldsIn(spec, spec.fields));
const titled = (found: readonly Found[]) =>
  found.map((one) => [`${one.spec.kind} ${one.path.join(".")}`, one] as const);
const deciding = all.filter(({ effect }) => effect !== "other" && effect !== "none");
const others = all.filter(({ effect }) => effect === "other");

/** Two values of a field, the second of which is more than the first, or another one. */
function valuesOf(field: FieldSpec, effect: AccessEffect | "none"): [Json | undefined, Json | undefined] {
  const inner = (of: FieldSpec): [Json, Json] => {
    const [one, other] = valuesOf(of, "subject");
    return [one ?? "x", other ?? "y"];
  };
  switch (field.type) {
    case "list":
      return [[inner(field.items)[0]], inner(field.items)];
    case "map":
      return [{ 1: inner(field.values)[0] }, { 1: inner(field.values)[0], 2: inner(field.values)[1] }];
    case "object": {
      const members = Object.entries(field.fields).map(([key, of]) => [key, inner(of)] as const);
      return [0, 1].map((i) => Object.fromEntries(members.map(([key, values]) => [key, values[i]]))) as [
        Props,
        Props,
      ];
    }
    case "boolean":
      return [false, true];
    case "integer":
      return [1, 2];
    case "enum":
      return field.ordered
        ? ([0, -1].map((i) => `${field.prefix}${field.known.at(i)}`) as [Json, Json])
        : [`${field.prefix}A`, `${field.prefix}B`];
    case "string":
      break;
  }
  if (effect === "role") return [reader, owner];
  if (effect === "permission" || effect === "restriction") return [undefined, "x"];
  return [valueOf(field, 0), valueOf(field, 1)];
}

/** Arguments with a value at a path, and with what its object needs to be set on both sides. */
function nested(fields: ResourceSpec["fields"], [key = "", ...rest]: readonly string[], value?: Json): Props {
  const field = fields[key];
  if (field?.type !== "object" || rest.length === 0) return { [key]: value };
  const [sibling] = Object.entries(field.fields).filter(
    ([name, of]) => of.type === "string" && of.required === true && name !== rest[0],
  );
  const also = sibling === undefined ? {} : { [sibling[0]]: "same" };
  return { [key]: { ...also, ...nested(field.fields, rest, value) } };
}

const told = ({ spec, path }: Found, from?: Json, to?: Json, context = contextOf()): FieldEffect[] =>
  describeEffects(spec, nested(spec.fields, path, from), nested(spec.fields, path, to), context);
const directionOf = (found: Found, from?: Json, to?: Json): Direction =>
  combineDirections(told(found, from, to).map((one) => one.direction));

describe("the effect of every field", () => {
  test.each(titled(others))("%s: what another value does is unknown", (_title, found) => {
    const [less, more] = valuesOf(found.field, "subject");
    expect(directionOf(found, less, more)).toBe("unknown");
    expect(directionOf(found, undefined, more)).toBe("unknown");
    expect(directionOf(found, more, undefined)).toBe("unknown");
  });

  test.each(titled(deciding))(
    "%s: more of it is widened, or narrowed where it is a limit",
    (_title, found) => {
      const { field, effect } = found;
      const [less, more] = valuesOf(field, effect);
      const isLimit = effect === "restriction";
      expect(directionOf(found, less, more)).toBe(isLimit ? "narrowed" : "widened");
      const isOther =
        effect === "subject" && field.type !== "list" && !(typeof less === "string" && less.startsWith("^"));
      const isUnknown = field.unsetMeans !== undefined && (less === undefined || less === false);
      const isLess = isUnknown ? "unknown" : "narrowed";
      expect(directionOf(found, more, less)).toBe(isLimit || isOther ? "widened" : isLess);
      for (const { reason } of told(found, less, more)) expect(reason).not.toBe("");
    },
  );

  test.each(titled(deciding))("%s cannot be judged where it was not read", (_title, found) => {
    const unread = unreadAt("unknown", { urn: "u", side: "after", path: found.path.join(".") });
    for (const value of valuesOf(found.field, found.effect).filter((one) => one !== undefined)) {
      expect(told(found, value, unread)[0]).toMatchObject({
        direction: "unknown",
        after: "(not known yet)",
      });
      expect(directionOf(found, unread, value)).toBe("unknown");
    }
  });

  test.each(titled(deciding))("%s is not shown where a state holds it as a secret", (_title, found) => {
    const [less, more] = valuesOf(found.field, found.effect);
    const effects = told(found, less, more, contextOf([found.path.join(".")]));
    for (const { before, after, reason } of effects) {
      expect([undefined, SECRET_MASK]).toContain(before);
      expect([undefined, SECRET_MASK]).toContain(after);
      expect(reason).toBe("its value is a secret");
    }
    expect(effects).not.toEqual([]);
  });

  test.each(titled(all.filter(({ effect }) => effect === "none")))("%s decides nothing", (_title, found) => {
    expect(directionOf(found, ...valuesOf(found.field, "subject"))).toBe("neutral");
  });

  test("a field that is always secret is never shown", () => {
    const withSecret = (clientSecret: string) => ({ oidc: { issuer: "https://a.example", clientSecret } });
    const [changed] = effects("IdentityProvider", withSecret("hunter1"), withSecret("hunter2"));
    expect(changed).toEqual({
      path: "oidc.clientSecret",
      before: SECRET_MASK,
      after: SECRET_MASK,
      effect: "none",
      direction: "neutral",
      reason: "",
    });
  });
});

const issuer = "https://token.actions.githubusercontent.com";
const audience = "token.actions.githubusercontent.com";
const subject = "repo:acme/pay";
const claimMatch = (match: Props): Props => ({ claimMatch: { issuer, subject, ...match } });
const pattern = (subjectPattern: string): Props => ({ claimMatch: { issuer, subjectPattern } });
const hard = (letter: string): Props => pattern(`(a|b)*${letter}(a|b){60}$`);
const keys = (more: Props): Props => ({ staticKeys: { issuer, ...more } });
const [ref, refs] = [{ claims: { ref: "main" } }, { claimPatterns: { ref: "^ma" } }];
const equal = { claimPatterns: { ref: "^main$" } };
const cosigned = { servicePrincipal: "SERVICE_PRINCIPAL_COSIGNED" };
const until = { expireTime: "2030-01-01T00:00:00Z" };
const never = { neverExpires: true };
const installed = (...installations: Props[]): Props => ({
  github: { appInstallations: { 1: { installations } } },
});
const one = { installationId: "1" };
const bound = (roleUid: string): Props => ({ bindings: { ci: { identityUid: "i", roleUid } } });
const to = (roleUid: string): Props => ({ roleUid });
const account = "AccountAssociation";

describe("the direction of a change", () => {
  test.each<[string, string, Props, Props, Direction]>([
    ["a pattern that is none", "Identity", pattern("("), pattern("^a$"), "unknown"],
    ["an end that a whole comparison lets vary", "Identity", pattern("^a"), pattern("^a.*$"), "widened"],
    ["a pattern that takes too many steps", "Identity", hard("a"), hard("b"), "unknown"],
    ["the audience that holds anyway", "Identity", claimMatch({}), claimMatch({ audience }), "neutral"],
    ["a claim beside its pattern", "Identity", claimMatch({ ...ref, ...refs }), claimMatch(refs), "widened"],
    ["a pattern for a claim", "Identity", claimMatch(ref), claimMatch(equal), "widened"],
    ["a service", "Identity", claimMatch(ref), cosigned, "widened"],
    ["another proof", "Identity", claimMatch({}), keys({ subject, issuerKeys: '{"keys":[]}' }), "widened"],
    ["no way of proving who it is", "Identity", claimMatch(ref), {}, "narrowed"],
    ["a set of keys that is none", "Identity", keys({ issuerKeys: "x" }), keys({}), "unknown"],
    ["an end that the server sets", "ScimToken", until, {}, "unknown"],
    ["an end in the place of none", "ScimToken", never, until, "narrowed"],
    ["no end", "ScimToken", until, never, "widened"],
    ["a role that nothing tells", "RoleBinding", to(reader), to("c".repeat(40)), "unknown"],
    ["a name", account, installed({ ...one, name: "a" }), installed({ ...one, name: "b" }), "neutral"],
    ["one more installation", account, installed(one), installed(one, { installationId: "2" }), "widened"],
    ["a role with less under a label", "GroupAccess", bound(owner), bound(reader), "narrowed"],
  ])("%s", (_title, kind, before, after, expected) => {
    expect(direction(kind, before, after)).toBe(expected);
    expect(direction(kind, after, before)).toBe(
      {
        widened: direction(kind, after, before),
        narrowed: "widened",
        neutral: "neutral",
        unknown: "unknown",
      }[expected],
    );
  });
});

describe("any two matches", () => {
  const texts = ["repo:acme/pay", "repo:acme/web", "repo:globex/pay", "x-repo:acme/pay", "REPO:ACME/PAY", ""];
  const patterns = [
    "^repo:acme/.*$",
    "^repo:acme/pay$",
    "\\Arepo:acme/pay\\z",
    "repo:acme",
    "^repo:(?:acme|globex)/pay$",
    "(?i)^repo:acme/pay$",
    "^$",
    "a^b",
    "(",
  ];
  const issuers = ["https://a.example", "https://b.example"];
  const issuerPatterns = ["^https://a\\.example$", "^https://[ab]\\.example$", ".*"];
  const claims = fc.dictionary(fc.constantFrom("ref", "env"), fc.constantFrom("x", "y"), { maxKeys: 2 });
  const claimPatterns = fc.dictionary(fc.constantFrom("ref", "env"), fc.constantFrom("^x$", "^[xy]$", "x"), {
    maxKeys: 2,
  });
  const match = fc
    .record({
      subject: fc.oneof(
        fc.constantFrom(...texts.slice(0, -1)).map((subject) => ({ subject })),
        fc.constantFrom(...patterns).map((subjectPattern) => ({ subjectPattern })),
      ),
      issuer: fc.oneof(
        fc.constantFrom(...issuers).map((issuer) => ({ issuer })),
        fc.constantFrom(...issuerPatterns).map((issuerPattern) => ({ issuerPattern })),
      ),
      audience: fc.constantFrom({}, { audience: "a.example" }, { audiencePattern: "^[ab]\\.example$" }),
      claims,
      claimPatterns,
    })
    .map((parts): Props => ({
      ...parts.subject,
      ...parts.issuer,
      ...parts.audience,
      claims: parts.claims,
      claimPatterns: parts.claimPatterns,
    }));

  const comparer = new PatternComparer();

  /** What an issuer signs. */
  type Token = Readonly<Record<"issuer" | "subject" | "audience" | "ref" | "env", string>>;
  const tokens: Token[] = texts.flatMap((subject) =>
    issuers.flatMap((of) =>
      ["a.example", "b.example"].flatMap((audience) =>
        ["x", "y", "z"].flatMap((ref) =>
          ["x", "y"].map((env) => ({ issuer: of, subject, audience, ref, env })),
        ),
      ),
    ),
  );

  /** Whether a server accepts a token that compares a pattern with the whole of a text, or looks for it anywhere in it. */
  function accepts(of: Props, token: Token, comparesWhole: boolean): boolean {
    const fits = (exact: Json | undefined, pattern: Json | undefined, text: string): boolean =>
      typeof exact === "string"
        ? exact === text
        : typeof pattern === "string" && comparer.matches(comparesWhole ? anchored(pattern) : pattern, text);
    const audience =
      of["audience"] ?? (of["audiencePattern"] === undefined ? new URL(token.issuer).host : undefined);
    return (
      fits(of["issuer"], of["issuerPattern"], token.issuer) &&
      fits(of["subject"], of["subjectPattern"], token.subject) &&
      fits(audience, of["audiencePattern"], token.audience) &&
      Object.entries(of["claims"] as Props).every(([name, value]) => token[name as "ref"] === value) &&
      Object.entries(of["claimPatterns"] as Props).every(([name, value]) =>
        fits(undefined, value, token[name as "ref"]),
      )
    );
  }

  test("a narrowed match accepts no token that it refused before, and the reverse change is widened", () => {
    const seen = new Set<Direction>();
    // Few pairs that are drawn accept the same, or less.
    const anyone: Props = {
      subject: "repo:acme/pay",
      issuer: "https://a.example",
      claims: {},
      claimPatterns: {},
    };
    const less: [Props, Props, boolean][] = [{}, { claims: { ref: "x" } }].map((more) => [
      anyone,
      { ...anyone, ...more },
      false,
    ]);
    fc.assert(
      fc.property(match, match, fc.boolean(), (one, drawn, isClose) => {
        // Two that differ in little are narrowed more often.
        const other = isClose ? { ...drawn, ...one, claims: drawn["claims"] } : drawn;
        const found = direction("Identity", { claimMatch: one }, { claimMatch: other });
        const back = direction("Identity", { claimMatch: other }, { claimMatch: one });
        seen.add(found);
        if (found !== "narrowed" && found !== "neutral") return;
        expect(back).toBe(found === "narrowed" ? "widened" : "neutral");
        for (const comparesWhole of [false, true]) {
          for (const token of tokens) {
            const [accepted, now] = [one, other].map((each) => accepts(each, token, comparesWhole));
            if (now) expect(accepted).toBe(true);
            if (found === "neutral") expect(now).toBe(accepted);
          }
        }
      }),
      { numRuns: casesOf(400), examples: less },
    );
    expect([...seen].sort()).toEqual(["narrowed", "neutral", "unknown", "widened"]);
  });
});

const webhook = (fields: Record<string, FieldSpec>): ResourceSpec =>
  kind({ kind: "Webhook", collection: "/invented/v2/webhooks", fields: fields as never });
const judged = (field: FieldSpec, before: Json | undefined, after: Json | undefined): Direction => {
  const found = describeEffects(webhook({ one: field }), { one: before }, { one: after }, contextOf());
  return combineDirections(found.map((effect) => effect.direction));
};

describe("values that a description orders", () => {
  const opposite = {
    widened: "narrowed",
    narrowed: "widened",
    unknown: "unknown",
    neutral: "neutral",
  } as const;
  const mode = { ordered: true, default: "AUDIT" } as const;
  const limit = enumOf("MODE_", "OFF AUDIT ENFORCE", { ...mode, access: "restriction" });
  const power = enumOf("MODE_", "OFF AUDIT ENFORCE", { ...mode, access: "permission" });

  test.each<[Json | undefined, Json | undefined, Direction]>([
    ["MODE_AUDIT", "MODE_ENFORCE", "narrowed"],
    ["MODE_OFF", "MODE_AUDIT", "narrowed"],
    [undefined, "MODE_ENFORCE", "narrowed"],
    [undefined, "MODE_OFF", "widened"],
    [undefined, "MODE_AUDIT", "neutral"],
    ["MODE_UNSPECIFIED", "MODE_ENFORCE", "narrowed"],
    ["MODE_AUDIT", "MODE_LATER", "unknown"],
  ])("names from %j to %j restrict: %s; and give the opposite", (before, after, expected) => {
    expect(judged(limit, before, after)).toBe(expected);
    expect(judged(limit, after, before)).toBe(opposite[expected]);
    expect(judged(power, before, after)).toBe(opposite[expected]);
    expect(judged(power, after, before)).toBe(expected);
  });

  test("names without a default say nothing of what is not set", () => {
    const field = enumOf("MODE_", "A B", { ordered: true, access: "permission" });
    expect(judged(field, undefined, "MODE_B")).toBe("unknown");
  });

  const networks = (access: "permission" | "subject" | "restriction") =>
    list(string({ format: "cidr" }), { unordered: true, access });
  test.each<[string, string[], string[], Direction, Direction]>([
    ["a part of a network", ["10.0.0.0/8"], ["10.1.0.0/16"], "narrowed", "widened"],
    ["a network more", ["10.0.0.0/8"], ["10.0.0.0/8", "192.0.2.0/24"], "widened", "narrowed"],
    ["a part more", ["10.0.0.0/8"], ["10.0.0.0/8", "10.1.0.0/16"], "neutral", "neutral"],
    ["both halves", ["10.0.0.0/8"], ["10.128.0.0/9", "10.0.0.0/9"], "neutral", "neutral"],
    ["all but a part", ["10.0.0.0/8"], ["10.128.0.0/9"], "narrowed", "widened"],
    ["another network", ["10.0.0.0/8"], ["11.0.0.0/8"], "widened", "widened"],
    ["an overlap", ["10.0.0.0/9"], ["10.0.0.0/10", "10.128.0.0/10"], "widened", "widened"],
    ["everything", ["10.0.0.0/8"], ["0.0.0.0/0"], "widened", "narrowed"],
    ["everything of the other family", ["10.0.0.0/8"], ["::/0"], "widened", "widened"],
    ["another spelling", ["2001:DB8:0::/32"], ["2001:db8::/32"], "neutral", "neutral"],
    ["a part of a network of 128 bits", ["2001:db8::/32"], ["2001:db8:1::/48"], "narrowed", "widened"],
    ["the last address", ["255.255.255.0/24"], ["255.255.255.255/32"], "narrowed", "widened"],
  ])("%s gives, or restricts, what it covers", (_title, before, after, there, back) => {
    for (const access of ["permission", "subject"] as const) {
      expect(judged(networks(access), before, after)).toBe(there);
      expect(judged(networks(access), after, before)).toBe(back);
    }
    const differs = there === "widened" && back === "widened";
    expect(judged(networks("restriction"), before, after)).toBe(differs ? "widened" : back);
    const [one, other] = [before, after].map(([text]) => text);
    if (before.length + after.length > 2) return;
    expect(judged(string({ format: "cidr", access: "permission" }), one, other)).toBe(there);
  });

  test("networks say nothing of what is covered where none is set or one cannot be read", () => {
    expect(judged(networks("subject"), undefined, ["10.0.0.0/8"])).toBe("unknown");
    expect(judged(networks("permission"), ["10.0.0.0/8"], ["x"])).toBe("unknown");
  });

  test("networks that are named tell which come and which go", () => {
    const [before, after] = [{ one: ["10.0.0.0/8"] }, { one: ["10.1.0.0/16", "192.0.2.0/24"] }];
    const [found] = describeEffects(webhook({ one: networks("permission") }), before, after, contextOf());
    expect(found).toMatchObject({
      direction: "widened",
      reason: "adds 192.0.2.0/24; takes away 10.0.0.0/8",
      before: "10.0.0.0/8",
      after: "10.1.0.0/16, 192.0.2.0/24",
    });
  });
});

test("directions are combined by weight", () => {
  expect(combineDirections([])).toBe("neutral");
  expect(combineDirections(["neutral", "narrowed"])).toBe("narrowed");
  expect(combineDirections(["narrowed", "unknown"])).toBe("unknown");
  expect(combineDirections(["unknown", "narrowed", "widened"])).toBe("widened");
});
