import { endChildren, Project } from "../support/project";

/** A statement, and the code of the error that the compiler shows at it. */
const misuses: readonly (readonly [title: string, program: string, code: string])[] = [
  ["a group without arguments", 'new Group("group");', "TS2554"],
  ["a number for a parent's uid", 'new Group("group", { name: "group", parentUid: 5 });', "TS2322"],
  ["a resource for a parent's uid", 'new Group("group", { name: "group", parentUid: org });', "TS2322"],
  ["an output of another type", 'new Group("group", { name: pulumi.output(true) });', "TS2322"],
  ["an assignment to an output", 'org.name = pulumi.output("other");', "TS2540"],
  [
    "a member of claimMatch that may be absent, taken for granted",
    'export const issuer = Identity.get("ci", "uid").claimMatch.apply((claims) => claims.issuer);',
    "TS18048",
  ],
  [
    "an unknown member of a lookup's answer",
    'export const found = getRole({ name: "viewer" }).then((role) => role.title);',
    "TS2339",
  ],
  ["an output as the argument of a lookup", "export const found = getRole({ name: org.name });", "TS2322"],
];

const PRELUDE =
  'import * as pulumi from "@pulumi/pulumi";\nimport { getRole, Group, Identity } from "pulumi-platform";\nconst org = new Group("org", { name: "org" });\n';

const correct = `
import * as pulumi from "@pulumi/pulumi";
import * as platform from "pulumi-platform";

/** Compiles only if both types are the same. */
type Same<A, B> = (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false;
const same = <A, B>(_: Same<A, B>): void => undefined;

const text: pulumi.Output<string> = pulumi.secret("text");
const later: Promise<string> = Promise.resolve("text");
const flag: pulumi.Output<boolean> = pulumi.output(true);

const groupArgs: platform.GroupArgs = { name: later, description: text, kind: text, verified: flag };
const org = new platform.Group("org", groupArgs, { protect: true });
const team = new platform.Group("team", { parentUid: org.uid, name: pulumi.interpolate\`\${org.name}-team\` });

const claims: platform.ClaimMatchArgs = { issuer: text, subjectPattern: later, claims: { owner: text }, claimPatterns: pulumi.output({ ref: "^main$" }) };
const whole = new platform.Identity("whole", { parentUid: team.id, name: text, claimMatch: pulumi.output({ issuer: "issuer", subject: "subject" }) });
const parts = new platform.Identity("parts", { parentUid: later, name: later, description: undefined, claimMatch: claims });
const keys = new platform.Identity("keys", {
  parentUid: team.id,
  name: "keys",
  staticKeys: { issuer: text, subject: text, issuerKeys: later, audiences: [text, "audience"] },
});
const aws = new platform.Identity("aws", {
  parentUid: team.id,
  name: "aws",
  awsIdentity: Promise.resolve({ awsAccount: "123456789012", arn: text, userIdPattern: later }),
});
const role = new platform.Role("role", { parentUid: org.id, name: text, capabilities: [text, later, "CAP_REPO_LIST"] });
new platform.Role("all", { parentUid: org.id, name: text, capabilities: pulumi.output(["CAP_REPO_LIST"]) });
const found = platform.getRoleOutput({ name: text, builtIn: flag });
new platform.RoleBinding("binding", { parentUid: team.id, identityUid: parts.id, roleUid: found.uid });
new platform.RoleBinding("own", { parentUid: team.id, identityUid: whole.uid, roleUid: role.uid }, { dependsOn: [keys, aws] });
const other = platform.Group.get("other", text);
const all: pulumi.CustomResource[] = [org, team, whole, other];

same<typeof org.uid, pulumi.Output<pulumi.ID>>(true);
same<typeof org.name, pulumi.Output<string>>(true);
same<typeof org.description, pulumi.Output<string | undefined>>(true);
same<typeof org.verified, pulumi.Output<boolean | undefined>>(true);
same<typeof role.capabilities, pulumi.Output<string[]>>(true);
const issuer = whole.claimMatch.apply((match) => match?.issuer);
same<typeof issuer, pulumi.Output<string | undefined>>(true);
const owner = whole.claimMatch.apply((match) => match?.claims);
same<typeof owner, pulumi.Output<Record<string, string> | undefined>>(true);
const audiences = keys.staticKeys.apply((match) => match?.audiences);
same<typeof audiences, pulumi.Output<string[] | undefined>>(true);
const account = aws.awsIdentity.apply((match) => match?.awsAccount);
same<typeof account, pulumi.Output<string | undefined>>(true);
same<typeof found.capabilities, pulumi.Output<string[]>>(true);
same<ReturnType<typeof platform.getGroup>, Promise<platform.GetGroupResult>>(true);

export { all };
`;

const compilerOptions = {
  target: "ES2022",
  module: "Node16",
  moduleResolution: "Node16",
  strict: true,
  types: ["node"],
};

describe("the types of the packed package", () => {
  let project: Project | undefined;
  /** Errors by file. */
  let errors: Record<string, { code: string; at: string }[]>;
  let output: string;

  const file = (index: number) => `misuse${index}.ts`;

  beforeAll(async () => {
    project = await Project.with("npm");
    const sources: Record<string, string> = {
      ...Object.fromEntries(misuses.map(([, program], index) => [file(index), `${PRELUDE}${program}\n`])),
      "correct.ts": correct,
      "correct.mts": correct,
    };
    const config = { compilerOptions, files: Object.keys(sources) };
    project.write({ "tsconfig.json": JSON.stringify(config), ...sources });
    ({ output } = await project.tsc("tsconfig.json"));
    errors = {};
    for (const [, name = "", line, code = ""] of output.matchAll(/^(\S+)\((\d+),\d+\): error (TS\d+)/gm)) {
      const at = sources[name]?.split("\n")[Number(line) - 1] ?? "";
      (errors[name] ??= []).push({ code, at });
    }
  });

  afterAll(() => {
    endChildren();
    project?.dispose();
  });

  test.each(misuses.map((misuse, index) => [...misuse, file(index)] as const))(
    "refuse %s",
    (_title, at, code, name) => {
      expect(errors[name]).toEqual([{ code, at }]);
    },
  );

  test.each(["correct.ts", "correct.mts"])(
    "take inputs of every form everywhere, and give outputs their types: %s",
    (name) => {
      expect(Object.keys(errors)).toHaveLength(misuses.length);
      expect(errors[name] ?? []).toEqual([]);
    },
  );

  test("report errors only in the lines of the program, not inside the package", () => {
    const files = [...output.matchAll(/^([^\s(]+)\(/gm)].map(([, name]) => name);
    expect(files.filter((name) => !/^misuse\d+\.ts$/.test(name ?? ""))).toEqual([]);
    expect(files).toHaveLength(misuses.length);
  });
});
