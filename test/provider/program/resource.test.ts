import * as pulumi from "@pulumi/pulumi";
import { checkInputs } from "../../../provider/fields/check";
import { adviseOnNames, holdsNames } from "../../../provider/fields/enumNames";
import { adviseOnName } from "../../../provider/kinds/common";
import * as platform from "../../../provider";
import { adopt, Group, GroupAccess, Identity, RepoReadme, Role, RoleBinding } from "../../../provider";
import { kinds } from "../../../provider/kinds";
import { Provider } from "../../../provider/program/provider";
import { referredKindOf } from "../../../provider/fields/fieldSpec";
import type { FieldSpec } from "../../../provider/fields/fieldSpec";
import type { Json, Props } from "../../../provider/fields/values";
import { GROUP_UID, ROOT_UID, sampleOf, samples, specOf } from "../support/samples";

type Registered = Pick<pulumi.runtime.MockResourceArgs, "type" | "name" | "inputs" | "id">;

let registered: Registered[] = [];

const mocks: pulumi.runtime.Mocks = {
  newResource: ({ type, name, inputs, id }) => {
    registered.push({ type, name, inputs: inputs as Record<string, unknown>, id });
    const state = id === undefined || id === "" ? {} : { name: "read", description: "from the server" };
    return {
      id: id === undefined || id === "" ? `${name}-id` : id,
      state: { ...(inputs as object), ...state },
    };
  },
  call: () => ({}),
};

// A run of its own for each test: a program has one owner of a group's bindings.
beforeEach(() => {
  registered = [];
  void pulumi.runtime.setMocks(mocks);
});
afterEach(() => jest.restoreAllMocks());

function valueOf<T>(output: pulumi.Output<T>): Promise<T> {
  return new Promise((done) => output.apply(done));
}

/** Waits until everything that was begun is registered. */
const settled = (resource: pulumi.CustomResource): Promise<string> => valueOf(resource.id);

interface Kind {
  new (name: string, args: never, opts?: pulumi.CustomResourceOptions): pulumi.CustomResource;
  get(name: string, id: pulumi.Input<pulumi.ID>): pulumi.CustomResource;
}
const isKind = (entry: [string, unknown]): entry is [string, Kind] =>
  typeof entry[1] === "function" && entry[1].prototype instanceof pulumi.CustomResource;
const classes: Readonly<Record<string, Kind>> = Object.fromEntries(
  Object.entries<unknown>(platform).filter(isKind),
);

function made(
  kind: string,
  name: string,
  args: unknown,
  opts?: pulumi.CustomResourceOptions,
): pulumi.CustomResource {
  const Class = classes[kind];
  if (!Class) throw new Error(`no class ${kind}`);
  return new Class(name, args as never, opts);
}

/** A value with its secrets in the clear. */
function revealed<T>(value: T): T {
  const members = value as unknown as Record<string, unknown>;
  if (value === null || typeof value !== "object") return value;
  if ("4dabf18193072939515e22adb298388d" in members) return members["value"] as T;
  if (Array.isArray(value)) return value.map(revealed) as T;
  return Object.fromEntries(Object.entries(members).map(([key, inner]) => [key, revealed(inner)])) as T;
}

describe("a resource", () => {
  test.each(samples)(
    "$kind, $label: is registered with its arguments and the text, nothing else",
    async (one) => {
      const { kind, inputs } = one;
      await settled(made(kind, "thing", inputs));
      const __provider = `exports.handler=()=>require("pulumi-platform/dynamic").${kind}`;
      expect(registered.map(({ type, inputs }) => ({ type, inputs: revealed(inputs) }))).toEqual([
        { type: `pulumi-nodejs:dynamic/platform:${kind}`, inputs: { ...inputs, __provider } },
      ]);
    },
  );

  test.each(samples)(
    "$kind, $label: has an output for each argument, also for those that were not given",
    async (one) => {
      const { kind, inputs } = one;
      const resource = made(kind, "thing", inputs) as unknown as Record<string, pulumi.Output<unknown>>;
      for (const key of Object.keys(specOf(kind).fields)) {
        const output = resource[key];
        expect([key, pulumi.Output.isInstance(output)]).toEqual([key, true]);
        await expect(valueOf(output!)).resolves.toEqual(inputs[key]);
      }
    },
  );

  test("stores a secret as one, also where what has it is known only later", async () => {
    const args = sampleOf("IdentityProvider") as { oidc: Record<string, unknown> };
    const oidc = { ...args.oidc, clientSecret: "canary" };
    for (const given of [oidc, pulumi.output(oidc), Promise.resolve(oidc)])
      await settled(made("IdentityProvider", "login", { ...args, oidc: given }));
    await valueOf(new Provider("own", { token: "canary", baseUrl: undefined }).id);
    await valueOf(new Provider("open", { maxRetries: 3 }).id);
    const isSecret = registered.map(({ inputs }) =>
      JSON.stringify(inputs).includes('"1b47061264138c4ac30d75fd1eb44270"'),
    );
    expect(isSecret).toEqual([true, true, true, true, false]);
    expect(registered.at(-1)?.inputs).toEqual({ maxRetries: "3" });
  });

  test("takes a map of which the engine's library can make no text", async () => {
    const grant = { identityUid: GROUP_UID, roleUid: GROUP_UID };
    const bindings: object[] = [
      { toString: grant },
      Object.assign(Object.create(null) as object, { a: grant }),
    ];
    for (const each of bindings)
      await settled(made("GroupAccess", "thing", { parentUid: ROOT_UID, bindings: each }));
    expect(registered.map(({ inputs }) => (inputs as Props)["bindings"])).toEqual(
      bindings.map((each) => ({ ...each })),
    );
  });

  test("has its id as uid, not as an output of its own", async () => {
    const group = new Group("thing", { name: "team" });
    expect(group.uid).toBe(group.id);
    await expect(valueOf(group.uid)).resolves.toBe("thing-id");
    expect(Object.keys(group)).not.toContain("uid");
  });

  test.each([undefined, null, 5, "team"])("without arguments (%j) says how to write it", (args) => {
    for (const kind of Object.keys(classes)) {
      if (args === undefined || args === null) {
        expect(() => made(kind, 'my "thing"', args)).toThrow(
          `${kind} "my \\"thing\\"": the arguments are missing: write new ${kind}("my \\"thing\\"", { … }) (PP1101)`,
        );
      } else {
        expect(() => made(kind, "thing", args)).not.toThrow(/undefined/);
      }
    }
  });
});

describe("a resource that is only read", () => {
  test.each(Object.entries(classes))("%s: is found by its uid and has all outputs", async (kind, Class) => {
    const resource = Class.get("there", GROUP_UID);
    expect(resource).toBeInstanceOf(Class);
    await expect(settled(resource)).resolves.toBe(GROUP_UID);
    expect(registered).toHaveLength(1);
    expect(registered[0]).toMatchObject({
      type: `pulumi-nodejs:dynamic/platform:${kind}`,
      name: "there",
      id: GROUP_UID,
    });
    const outputs = resource as unknown as Record<string, pulumi.Output<unknown>>;
    for (const key of Object.keys(specOf(kind).fields)) {
      expect([key, pulumi.Output.isInstance(outputs[key])]).toEqual([key, true]);
    }
  });
});

describe("the owner of a group's bindings", () => {
  const grant = { identityUid: GROUP_UID, roleUid: ROOT_UID };
  const access = (name: string, parentUid: pulumi.Input<string>) =>
    new GroupAccess(name, { parentUid, bindings: {} });
  const binding = (name: string, parentUid: pulumi.Input<string>) =>
    new RoleBinding(name, { parentUid, ...grant });
  const advice =
    "keep one GroupAccess for a group, and move the bindings of others into its bindings (PP1104)";

  test.each([
    ["a uid", () => GROUP_UID],
    ["the id of a group", (group: Group) => group.id],
    ["the uid of a group", (group: Group) => group.uid],
  ])("is one, by %s: a second, and a RoleBinding before or after, are errors", (_title, of) => {
    const group = new Group("team", { name: "team" });
    access("one", of(group));
    expect(() => access("two", of(group))).toThrow(
      `GroupAccess "two": parentUid names the group of GroupAccess "one" too, and this owns all role bindings of it: ${advice}`,
    );
    expect(() => binding("grant", of(group))).toThrow(
      `RoleBinding "grant": parentUid names the group of GroupAccess "one", which owns all role bindings of it: ${advice}`,
    );
    const other = new Group("other", { name: "other" });
    binding("first", of(other) === GROUP_UID ? ROOT_UID : of(other));
    expect(() => access("late", of(other) === GROUP_UID ? ROOT_UID : of(other))).toThrow(
      `GroupAccess "late": parentUid names the group of RoleBinding "first" too, and this owns all role bindings of it: ${advice}`,
    );
  });
});

test("two labels of a GroupAccess for one grant are an error, also where an output says who and what", () => {
  const team = new Group("a team", { name: "team" });
  const identityUid = new Identity("ci", { ...sampleOf("Identity"), parentUid: team.id } as never).id;
  const accessOf = (bindings: Record<string, { identityUid: pulumi.Input<string>; roleUid: string }>) => () =>
    new GroupAccess("access", { parentUid: team.id, bindings });
  const [first, again] = [ROOT_UID, GROUP_UID].map((roleUid) => ({ identityUid, roleUid }));
  expect(accessOf({ first: first!, again: again! })).not.toThrow();
  expect(accessOf({ first: first!, again: first! })).toThrow(
    'GroupAccess "access": bindings.first grants the same role to the same identity as "again": remove one of them (PP1012)',
  );
});

describe("two resources that are one object", () => {
  const named = kinds
    .map(({ spec }) => spec)
    // Two GroupAccess are two owners of one group's bindings.
    .filter(({ sharesParentUid, identifiedBy, owns }) => !owns?.all && (sharesParentUid ?? identifiedBy));
  type Maker = (name: string, parentUid: pulumi.Input<string>) => unknown;
  const makerOf =
    (kind: string, more: object = {}): Maker =>
    (name, parentUid) =>
      made(kind, name, { ...sampleOf(kind), parentUid, ...more });
  const tagName = pulumi.output("latest");
  /** A resource of each kind whose arguments name one object. */
  const makers: readonly (readonly [string, Maker])[] = [
    ...named.map(({ kind }) => [kind, makerOf(kind)] as const),
    ["Tag", makerOf("Tag", { name: tagName })],
  ];
  const conflictOf = (kind: string, why: string) =>
    `${kind} "two": is the same object as ${kind} "one": ${why}. Two resources must not share one object, since deleting either deletes it: remove one of them (PP1103)`;
  const sharing = (kind: string) =>
    conflictOf(kind, `both name the same ${(specOf(kind).identifiedBy ?? ["parentUid"]).join(" and ")}`);

  test.each(makers)("are refused with both names: %s, by a uid and by an output", (kind, make) => {
    for (const parent of [GROUP_UID, pulumi.output(Promise.resolve(ROOT_UID))]) {
      make("one", parent);
      expect(() => make("two", parent)).toThrow(sharing(kind));
    }
  });

  test.each(makers)("are two where they name two, or are only read: %s", (_kind, make) => {
    make("one", GROUP_UID);
    make("two", ROOT_UID);
    RepoReadme.get("read", GROUP_UID);
    expect(() => make("one", GROUP_UID)).not.toThrow();
  });

  const role = (name: string, adopted?: pulumi.Input<string>) => {
    const args = { parentUid: ROOT_UID, name, capabilities: ["CAP_REPO_LIST"] };
    return new Role(name, adopted === undefined ? args : adopt(adopted, args));
  };

  test.each([
    ["a uid", GROUP_UID],
    ["an output", pulumi.output(GROUP_UID)],
  ])("are refused with both names where both adopt the same, by %s", (_title, adopted) => {
    role("one", adopted);
    expect(() => role("two", adopted)).toThrow(conflictOf("Role", "both adopt the same object"));
  });
});

const ROLE = sampleOf("Role") as { parentUid: string; name: string };

describe("wrong arguments, in a unit test of a program", () => {
  const identity = new Identity("ci", { ...sampleOf("Identity"), parentUid: GROUP_UID } as never);
  const grant = { parentUid: GROUP_UID, identityUid: GROUP_UID, roleUid: GROUP_UID };

  test.each<[string, () => unknown, string[]]>([
    [
      "of several forms",
      () => new Role("a", { ...ROLE, capabilities: ["repo.list", "", "CAP_"] }),
      ["capabilities\\[0\\] must .*", "capabilities\\[1\\] must .*", "capabilities\\[2\\] must .*"],
    ],
    [
      "with the id of another kind",
      () => new RoleBinding("a", { ...grant, roleUid: identity.id }),
      [
        'roleUid is the uid of the Identity "ci": give the id of a Role, or the uid that getRole finds (?=\\(PP1014\\))',
      ],
    ],
    [
      "deep inside",
      () =>
        new GroupAccess("a", {
          parentUid: GROUP_UID,
          bindings: { x: { identityUid: GROUP_UID, roleUid: identity.uid } },
        }),
      ['bindings\\.x\\.roleUid is the uid of the Identity "ci": .*'],
    ],
    [
      "that are there and undefined",
      () => new Group("a", { name: "a", parentUid: undefined }),
      ["parentUid is undefined: give a value, or leave it out for a new organisation \\(a root group\\)"],
    ],
  ])("%s are thrown, with the line", (_title, make, says) => {
    const lines = says.map((line) => `\\S*resource\\.test\\.ts:\\d+: \\w+ "a": ${line}.*\\(PP\\d{4}\\)`);
    expect(make).toThrow(new RegExp(`^${lines.join("\\n")}$`));
    expect(registered).toEqual([]);
  });

  const references = kinds.flatMap(({ spec }) =>
    Object.entries(spec.fields).flatMap(([key, field]) => {
      const kind = referredKindOf(field);
      return kind === undefined ? [] : [[spec.kind, key, kind] as const];
    }),
  );

  test.each(references)("%s.%s is to be the id of a kind: %s", (kind, key, wanted) => {
    const make = (value: unknown) => made(kind, "a", { ...sampleOf(kind), [key]: value });
    const right = made(wanted, "right", sampleOf(wanted)).id;
    expect(() => make(right)).not.toThrow();
    const another = wanted === "Identity" ? "Role" : "Identity";
    const other = made(another, "other", sampleOf(another)).id;
    expect(() => make(other)).toThrow(`${key} is the uid of the `);
    // What a program makes of an id may be another one.
    expect(() => make(other.apply((id) => id))).not.toThrow();
  });

  test("each reference to one kind says which", () => {
    const open = kinds.flatMap(({ spec }) =>
      Object.entries(spec.fields).flatMap(([key, field]) =>
        field.type === "string" && field.format === "uid" && referredKindOf(field) === undefined
          ? [`${spec.kind}.${key}`]
          : [],
      ),
    );
    expect(open).toEqual([]);
  });
});

describe("warnings", () => {
  async function warningsOf(capabilities: pulumi.Input<pulumi.Input<string>[]>): Promise<string[]> {
    const warn = jest.spyOn(pulumi.log, "warn").mockResolvedValue(undefined);
    await settled(new Role("puller", { ...ROLE, capabilities }));
    await valueOf(pulumi.output(capabilities));
    const lines = warn.mock.calls.map(([line]) => line);
    warn.mockRestore();
    // Each begins with the line of the program.
    const place = /^test\/provider\/program\/resource\.test\.ts:\d+: /;
    for (const line of lines) expect(line).toMatch(place);
    return lines.map((line) => line.replace(place, ""));
  }

  test("are given for a capability that is unknown, internal or deprecated", async () => {
    const doubtful = ["CAP_NEWER_THAN_THIS", "CAP_SKILLS_WRITE", "CAP_TENANT_RECORDS_LIST"];
    expect(await warningsOf(["CAP_REPO_LIST", ...doubtful])).toEqual([
      'Role "puller": capabilities: CAP_NEWER_THAN_THIS is not a name that this version knows: a server drops names that it does not know, without an error (PP1013)',
      'Role "puller": capabilities: CAP_SKILLS_WRITE is internal to the platform, not for customers',
      'Role "puller": capabilities: CAP_TENANT_RECORDS_LIST is deprecated',
    ]);
  });

  test("are given for a name that may be refused, and not for an empty one, which is an error", () => {
    expect(adviseOnName("Puller")).toEqual([
      expect.stringMatching(/^"Puller" may be refused by the API: use lower-case letters/),
    ]);
    for (const name of ["", "\t", undefined]) expect(adviseOnName(name)).toEqual([]);
  });

  test("are given for a wildcard in what is compared exactly", () => {
    const advise = (relationship: string, value: Json) =>
      specOf("Identity").inputWarnings?.[relationship]?.(value);
    const varying = (member: string): string =>
      `: where a part must vary, write ${member} in its place, anchored with ^ and $`;
    expect(
      advise("claimMatch", { subject: "repo:acme/web:*", claims: { ref: "^refs/heads/", actor: "x" } }),
    ).toEqual([
      `subject "repo:acme/web:*" is compared exactly, and the * in it stands for itself${varying("subjectPattern")}`,
      `claims "^refs/heads/" is compared exactly, and the ^ in it stands for itself${varying("claimPatterns")}`,
    ]);
    expect(advise("awsIdentity", { arn: "arn:aws:iam::1:role/*", userId: "AROA:*" })).toHaveLength(2);
    expect(advise("staticKeys", { subject: "ci-*", issuerKeys: "*" })).toEqual([
      'subject "ci-*" is compared exactly, and the * in it stands for itself: write out one value, and create an identity for each',
    ]);
    expect(advise("claimMatch", { subject: "repo:acme/web:ref", subjectPattern: "^.*$" })).toEqual([]);
  });

  test("say nothing of a secret", async () => {
    await expect(warningsOf(pulumi.secret(["CAP_NEWER_THAN_THIS"]))).resolves.toEqual([]);
    await expect(warningsOf([pulumi.secret("CAP_NEWER_THAN_THIS")])).resolves.toEqual([]);
  });

  const enums = kinds.flatMap(({ spec }) =>
    Object.entries(spec.fields)
      .filter(([, field]) => holdsNames(field))
      .map(([key, field]) => [spec.kind, key, field] as const),
  );

  test.each(enums)("are given for an unknown name in %s.%s, unless it is refused", (kind, key, field) => {
    const inside = (one: FieldSpec, value: string): Json => {
      if (one.type === "list") return [inside(one.items, value)];
      if (one.type === "map") return { a: inside(one.values, value) };
      if (one.type !== "object") return one.type === "enum" ? `${one.prefix}${value}` : null;
      return Object.fromEntries(
        Object.entries(one.fields).map(([key, inner]) => [key, inside(inner, value)]),
      );
    };
    const refused = checkInputs(
      specOf(kind),
      { [key]: inside(field, "NEWER_THAN_THIS") },
      { olds: {}, now: 0 },
    );
    const codes = refused.map(({ code }) => code);
    expect(adviseOnNames(field, inside(field, "NEWER_THAN_THIS")).length > 0).not.toBe(
      codes.includes("PP1013"),
    );
    expect(adviseOnNames(field, inside(field, "lower"))).toEqual([]);
  });

  test("are not given for what is only read", async () => {
    const warn = jest.spyOn(pulumi.log, "warn").mockResolvedValue(undefined);
    await settled(Role.get("there", GROUP_UID));
    expect(warn).not.toHaveBeenCalled();
  });
});

describe("a token in the stack's configuration", () => {
  const environment = { ...process.env };
  afterEach(() => {
    process.env = { ...environment };
  });

  /** The warnings of a program that makes two groups, in a process of its own. */
  async function warningsWith(
    config: Record<string, string>,
    env: Record<string, string>,
  ): Promise<string[]> {
    for (const key of ["PLATFORM_TOKEN", "PLATFORM_TOKEN_FILE"]) Reflect.deleteProperty(process.env, key);
    Object.assign(process.env, env);
    const lines: string[] = [];
    const made: Promise<unknown>[] = [];
    jest.isolateModules(() => {
      /* eslint-disable @typescript-eslint/no-require-imports -- loaded anew each time */
      const sdk = require("@pulumi/pulumi") as typeof pulumi;
      const { Group: OwnGroup } = require("../../../provider/kinds/group") as { Group: typeof Group };
      /* eslint-enable @typescript-eslint/no-require-imports */
      void sdk.runtime.setMocks({
        newResource: ({ name, inputs }) => ({ id: name, state: inputs as object }),
        call: () => ({}),
      });
      sdk.runtime.setAllConfig(config);
      jest.spyOn(sdk.log, "warn").mockImplementation((line) => {
        lines.push(line);
        return Promise.resolve();
      });
      for (const name of ["a", "b"])
        made.push(valueOf(new OwnGroup(name, { name, parentUid: GROUP_UID }).id));
    });
    await Promise.all(made);
    return lines;
  }

  test("is warned about once, and never printed", async () => {
    const lines = await warningsWith({ "platform:token": "canary-token" }, {});
    expect(lines).toHaveLength(1);
    expect(lines[0]).toMatch(/^platform:token: .*prefer PLATFORM_TOKEN$/);
    expect(lines[0]).not.toContain("canary-token");
  });

  test("is not warned about where the environment has one, which goes first, or where there is none", async () => {
    await expect(warningsWith({ "platform:token": "t" }, { PLATFORM_TOKEN: "e" })).resolves.toEqual([]);
    await expect(warningsWith({}, {})).resolves.toEqual([]);
  });

  test("a misspelt setting is warned about once", async () => {
    const config = { "platform:baseURL": "https://api.example.com", "platform:rootUid": GROUP_UID };
    await expect(warningsWith(config, {})).resolves.toEqual([
      "platform:baseURL is no setting and has no effect; did you mean platform:baseUrl?",
    ]);
  });
});

describe("a provider of the program's own", () => {
  class OwnProvider extends pulumi.ProviderResource {
    constructor() {
      super("pulumi-nodejs", "own", {});
    }
  }

  test.each([
    { title: "given to the resource", options: () => ({ provider: new OwnProvider() }) },
    {
      title: "inherited from a component",
      options: () => {
        const providers = [new OwnProvider()];
        return { parent: new pulumi.ComponentResource("test:index:Folder", "folder", {}, { providers }) };
      },
    },
  ])("is refused, $title: another process would not know what this one holds", ({ options }) => {
    expect(() => new Group("team", { name: "team" }, options())).toThrow(
      /^test\S+\.ts:\d+: Group "team": the options provider and providers must not be set: .* \(PP1102\)$/,
    );
  });
});

describe("the option import", () => {
  test.each(Object.keys(classes))("is refused for a %s: it says what to write instead", (kind) => {
    const build = () => made(kind, "one", sampleOf(kind).args, { import: GROUP_UID });
    const isOneTime = Object.values(specOf(kind).outputs ?? {}).some(({ createOnly }) => createOnly);
    const instead = isOneTime ? /a new one has to be created/ : new RegExp(`new ${kind}\\("one", adopt\\(`);
    expect(build).toThrow(/^test\S+\.ts:\d+: \w+ "one": the option import does not work .* \(PP1105\)$/);
    expect(build).toThrow(instead);
  });
});
