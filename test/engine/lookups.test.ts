import { startEmulator } from "../../emulator";
import type { Emulator } from "../../emulator";
import { Stack } from "../support/engine";
import { declared, ownOf, samples, surroundings, withMember } from "../support/samples";
import { call } from "../support/wire";

describe("lookups and existing resources, through the real engine", () => {
  let emulator: Emulator;
  let stack: Stack;
  let org: string;

  const outputs = async () =>
    JSON.parse((await stack.succeed(["stack", "output", "--json"])).stdout) as Record<string, unknown>;
  const program = (body: string) => {
    stack.files({
      "index.js": `const pulumi = require("@pulumi/pulumi");\nconst platform = require("pulumi-platform");\n${body}\n`,
    });
  };

  beforeAll(async () => {
    emulator = await startEmulator();
    stack = await new Stack(emulator).init();
    org = String(
      (await call(emulator, "POST", "/iam/v2/groups", { name: "org", description: "here" }))["uid"],
    );
    await call(emulator, "POST", `/iam/v2/groups/${org}`, { name: "team", description: "one" });
    const other = (await call(emulator, "POST", `/iam/v2/groups/${org}`, { name: "other" }))["uid"];
    await call(emulator, "POST", `/iam/v2/groups/${String(other)}`, { name: "team", description: "two" });
    await call(emulator, "POST", `/iam/v2/roles/${org}`, { name: "viewer", capabilities: ["CAP_REPO_LIST"] });
  });

  afterAll(async () => {
    await emulator.close();
    stack.dispose();
  });

  test("every lookup returns exactly one object, also for arguments that are known only during the update", async () => {
    program(`
      const fresh = new platform.Group("fresh", { parentUid: "${org}", name: "fresh", description: "new" });
      const found = platform.getGroupOutput({ uid: fresh.id });
      module.exports = (async () => ({
        ping: (await platform.ping()).response !== undefined,
        group: await platform.getGroup({ name: "org" }),
        team: await platform.getGroup({ name: "team", parentUid: "${org}" }),
        builtIn: (await platform.getRole({ name: "viewer", builtIn: true })).builtIn,
        custom: await platform.getRole({ name: "viewer", parentUid: "${org}" }),
        person: await platform.lookupIdentity({ issuer: "https://accounts.example.com", subject: "1" }),
        same: platform.lookupIdentityOutput({ issuer: "https://accounts.example.com", subject: "1" }).uid,
        late: found.description,
        lateRole: platform.getRoleOutput({ uid: platform.getRoleOutput({ name: "owner", builtIn: true }).uid }).name,
        fresh: fresh.id,
      }))();
    `);
    await stack.succeed(["preview"]);
    await stack.up();
    const seen = await outputs();
    expect(seen).toMatchObject({
      ping: true,
      group: { uid: org, name: "org", description: "here" },
      team: { name: "team", description: "one", parentUid: org },
      builtIn: true,
      custom: { name: "viewer", builtIn: false, parentUid: org, capabilities: ["CAP_REPO_LIST"] },
      late: "new",
      lateRole: "owner",
    });
    expect((seen["person"] as { uid: string }).uid).toMatch(/^[0-9a-f]{40}$/);
    expect(seen["same"]).toBe((seen["person"] as { uid: string }).uid);
  });

  test("lists return objects of the same run, the catalogue and advisories, with one request each", async () => {
    program(`
      const digest = "sha256:" + "a".repeat(64);
      const viewer = platform.getRoleOutput({ name: "viewer", builtIn: true });
      const team = new platform.Group("listed", { parentUid: "${org}", name: "listed" });
      const ci = new platform.Identity("ci", { parentUid: team.id, name: "ci",
        claimMatch: { issuer: "https://token.example.com", subject: "repo:acme/app" } });
      const binding = new platform.RoleBinding("ci-views", { parentUid: team.id, identityUid: ci.id, roleUid: viewer.uid });
      const repo = new platform.Repo("nginx", { parentUid: team.id, name: "nginx" });
      const tag = new platform.Tag("nginx-1", { parentUid: repo.id, name: "1.0-r0", digest });
      const after = (resource, uid) => pulumi.all([uid, resource.id]).apply(([known]) => known);
      module.exports = (async () => ({
        groups: (await platform.getGroups({ inRoot: true, orderBy: "name", limit: 1 })).map(({ name }) => name),
        builtIn: (await platform.getRoles({ builtIn: true })).some(({ name }) => name === "owner"),
        again: (await platform.getRoles({ builtIn: true })).some(({ name }) => name === "owner"),
        python: (await platform.getArtifacts({ ecosystems: ["ECOSYSTEM_PYTHON"], query: "numpy" }))[0].name,
        advisory: (await platform.getAdvisories({ latestEventType: "EVENT_TYPE_FILTER_FIXED", limit: 1 }))[0].events.at(-1).kind,
        holders: platform.getRoleBindingsOutput({ groupUid: after(binding, team.id), roleUid: viewer.uid })
          .apply((all) => all.map(({ identity }) => identity.name)),
        identities: platform.getIdentitiesOutput({ childrenOf: after(ci, team.id), relationshipType: "RELATIONSHIP_TYPE_CLAIM_MATCH" })
          .apply((all) => all.map(({ claimMatch }) => claimMatch.subject)),
        tags: platform.getTagsOutput({ childrenOf: after(tag, repo.id), includeEpochs: true }).apply((all) => all.map(({ name }) => name)),
        found: platform.getRepoOutput({ uid: repo.id }).name,
      }))();
    `);
    emulator.clearRequests();
    await stack.up();
    expect(await outputs()).toEqual({
      groups: ["org"],
      builtIn: true,
      again: true,
      python: "numpy",
      advisory: "fixed",
      holders: ["ci"],
      identities: ["repo:acme/app"],
      tags: ["1.0-r0"],
      found: "nginx",
    });
    const roleLists = emulator.requests.filter(
      ({ path, query }) => path === "/iam/v2/roles" && !query.includes("name="),
    );
    expect(roleLists).toHaveLength(1);
  });

  test.each([
    [
      "several have the name",
      `platform.getGroup({ name: "team" })`,
      [
        /getGroup: 2 objects have the name "team"; narrow by parentUid, or give the uid of one:/,
        /\(parent: [0-9a-f]{40}\) one/,
        /\(parent: [0-9a-f]{40}\/[0-9a-f]{16}\) two/,
      ],
    ],
    [
      "a custom role has the name of a built-in one",
      `platform.getRole({ name: "viewer" })`,
      [/getRole: 2 objects have the name "viewer"/, /\(parent: none\)/],
    ],
  ])("one clear error without a stack where %s", async (_title, expression, says) => {
    program(`${expression};`);
    const run = await stack.pulumi(["preview"]);
    expect(run.code).not.toBe(0);
    for (const pattern of says) expect(run.output).toMatch(pattern);
    expect(run.output).not.toMatch(/\n\s+at .*:\d+:\d+|Unhandled|lookup\.js/);
  });

  test("get of a uid that nobody has ends the preview", async () => {
    program(`platform.Group.get("gone", "${org}/0000000000000000");`);
    const run = await stack.pulumi(["preview"]);
    expect(run.code).not.toBe(0);
    expect(run.output).toContain("the token may see no group with this uid; correct the uid");
  });

  test("get reads each kind as the server holds it, and never changes or deletes it", async () => {
    const owner = await new Stack(emulator).init();
    owner.declare({
      ...surroundings,
      ...Object.fromEntries(
        samples.flatMap((sample) => Object.entries(declared(sample.label, sample, sample.args))),
      ),
    });
    await owner.up();
    const ours = await owner.ours();
    program(
      `module.exports = { ${samples
        .map(({ label, kind, args }) => {
          const keys = JSON.stringify(Object.keys(args));
          const variable = `new platform.${kind}.get("${label}", "${ours[label]?.id ?? ""}")`.replace(
            "new ",
            "",
          );
          return `${JSON.stringify(label)}: (() => { const r = ${variable}; return pulumi.all(Object.fromEntries(${keys}.map((k) => [k, r[k]]))); })()`;
        })
        .join(",\n")} };`,
    );
    emulator.clearRequests();
    await stack.up();
    const seen = await outputs();
    for (const { label, args } of samples) {
      const got = seen[label] as Record<string, unknown>;
      // A source, keys and times come back in other spellings; what is only sent does not at all.
      const unequal = [
        "syncConfig",
        "staticKeys",
        "expireTime",
        "ttl",
        "overlap",
        "rotate",
        "awaitReady",
        "ignore",
      ];
      const answered = withMember(args, "oidc.clientSecret", undefined);
      for (const [key, value] of Object.entries(answered)) {
        if (!(key in args) || unequal.includes(key)) continue;
        if (typeof value === "string" && value.startsWith("${")) {
          expect(got[key]).toBe(ours[value === "${own}" ? ownOf(label) : value.slice(2, -1)]?.id);
        } else if (key === "bindings") {
          // Labels are the program's; the server names what they grant.
          const named = JSON.stringify(Object.values(value as object)).replaceAll(
            /\$\{([^}]+)\}/g,
            (_, name: string) => ours[name]?.id ?? "?",
          );
          const grants = Object.values(got[key] as object) as unknown[];
          expect(grants).toHaveLength((JSON.parse(named) as unknown[]).length);
          expect(grants).toEqual(expect.arrayContaining(JSON.parse(named) as unknown[]));
        } else {
          expect({ label, [key]: got[key] }).toEqual({ label, [key]: value });
        }
      }
    }
    await stack.succeed(["destroy", "--yes", "--skip-preview"]);
    expect(emulator.requests.filter(({ method }) => method !== "GET" && method !== "DELETE")).toEqual([]);
    await owner.succeed(["preview", "--refresh", "--expect-no-changes"]);
    await owner.succeed(["destroy", "--yes", "--skip-preview"]);
    owner.dispose();
  });
});
