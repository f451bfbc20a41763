import { startEmulator } from "../../emulator";
import type { Emulator } from "../../emulator";
import { kinds } from "../../provider/resources";
import { Stack } from "../support/engine";
import type { Declarations } from "../support/engine";
import { declared, ownOf, samples, surroundings, withMember } from "../support/samples";
import type { WireRequest } from "../support/samples";
import { call } from "../support/wire";

/** One of each sample, in a team that can be exchanged. */
function program(
  change: (label: string, args: Record<string, unknown>) => Record<string, unknown>,
): Declarations {
  return {
    ...surroundings,
    elsewhere: { kind: "Group", args: { parentUid: "${org}", name: "elsewhere" } },
    partner: { kind: "Group", args: { parentUid: "${org}", name: "partner" } },
    partners: {
      kind: "AccountAssociation",
      args: { parentUid: "${partner}", name: "partners", amazon: { account: "123456789012" } },
    },
    ...Object.fromEntries(samples.flatMap(({ label, own }) => (own ? [[elsewhereOf(label), own]] : []))),
    ...Object.fromEntries(
      samples.flatMap((sample) =>
        Object.entries(declared(sample.label, sample, change(sample.label, structuredClone(sample.args)))),
      ),
    ),
  };
}

/** What takes the place of what a sample has for itself alone. */
const elsewhereOf = (label: string): string => `${label}-elsewhere`;

const asIs = program((_label, args) => args);

/** A change by hand of each sample, in wire terms: what somebody does at the server. It goes where an update goes. */
const byHand: Record<string, { body: Record<string, unknown>; property: string }> = {
  team: { body: { description: "by hand" }, property: "description" },
  root: { body: { kind: "ORG_KIND_INFRA" }, property: "kind" },
  claims: { body: { claimMatch: { subjectPattern: ".*" } }, property: "claimMatch" },
  keys: { body: { staticKeys: { subject: "by hand" } }, property: "staticKeys" },
  aws: { body: { awsIdentity: { arnPattern: ".*" } }, property: "awsIdentity" },
  service: { body: { servicePrincipal: "SERVICE_PRINCIPAL_SKILLS" }, property: "servicePrincipal" },
  role: {
    body: { capabilities: ["CAP_REPO_LIST", "CAP_TAG_LIST", "CAP_REPO_DELETE"] },
    property: "capabilities",
  },
  binding: { body: { roleUid: "${writer}" }, property: "roleUid" },
  repo: { body: { activeTags: ["by-hand"] }, property: "activeTags" },
  tag: {
    body: { name: "1.27", digest: `sha256:${"f".repeat(64)}`, deprecated: true, bundles: ["base"] },
    property: "digest",
  },
  readme: { body: { content: "# By hand\n" }, property: "content" },
  synced: { body: { sync_config: { source: "by-hand" } }, property: "syncConfig" },
  provider: { body: { oidc: { groupsClaim: "by-hand" } }, property: "oidc" },
  accounts: { body: { amazon: { account: "999999999999" } }, property: "amazon" },
};

/** Security-relevant fields that no program set. */
const addedByHand: Record<string, Record<string, unknown>> = {
  someone: { claimMatch: { audiencePattern: ".*" } },
  other: { claimMatch: { claimPatterns: { ref: ".*" } } },
  partners: { google: { projectId: "by-hand", projectNumber: "1" } },
};

describe("the life of each kind, through the real engine", () => {
  let emulator: Emulator;
  let stack: Stack;
  const uid = async (name: string): Promise<string> => (await stack.ours())[name]?.id ?? "";
  const writes = () => emulator.requests.filter(({ method }) => method !== "GET");
  const collectionOf = (kind: string) => kinds.find(({ spec }) => spec.kind === kind)?.spec.collection ?? "";
  const address = async (label: string): Promise<string> => {
    const kind = { ...asIs }[label]?.kind ?? "";
    return `${collectionOf(kind)}/${await uid(label)}`;
  };
  const writingOf = (label: string) => samples.find((sample) => sample.label === label)?.writing;
  const send = async (
    label: string,
    request: WireRequest | undefined,
    usual: "PATCH" | "DELETE",
    body?: unknown,
  ) => {
    const path = request?.address.replace("${own}", await uid(ownOf(label)));
    await call(emulator, request?.method ?? usual, path ?? (await address(label)), body ?? request?.body);
  };
  const updateByHand = (label: string, body: unknown) => send(label, writingOf(label)?.update, "PATCH", body);
  const deleteByHand = (label: string) => send(label, writingOf(label)?.delete, "DELETE");
  const methods = () =>
    writes()
      .map(({ method }) => method)
      .sort();
  const summary = (stdout: string) =>
    (JSON.parse(stdout) as { changeSummary?: Record<string, number> }).changeSummary ?? {};
  const steps = (stdout: string) =>
    (
      JSON.parse(stdout) as {
        steps: { op: string; urn: string; replaceReasons?: string[] }[];
      }
    ).steps.map((step) => ({ ...step, name: step.urn.slice(step.urn.lastIndexOf("::") + 2) }));

  beforeAll(async () => {
    emulator = await startEmulator();
    stack = await new Stack(emulator).init();
    stack.declare(asIs);
    await stack.up();
  }, 180_000);

  afterAll(async () => {
    await emulator.close();
    stack.dispose();
  });

  test("covers every kind", () => {
    const covered = new Set(samples.map(({ kind }) => kind));
    expect(kinds.map(({ spec }) => spec.kind).filter((kind) => !covered.has(kind))).toEqual([]);
  });

  test("a second run shows nothing, and writes nothing", async () => {
    emulator.clearRequests();
    await stack.succeed(["preview", "--expect-no-changes"]);
    await stack.up("--expect-no-changes");
    expect(writes()).toEqual([]);
  }, 60_000);

  test("two refreshes show nothing, and write nothing", async () => {
    emulator.clearRequests();
    await stack.succeed(["refresh", "--yes", "--skip-preview", "--expect-no-changes"]);
    const first = await stack.resources();
    await stack.succeed(["refresh", "--yes", "--skip-preview", "--expect-no-changes"]);
    const untimed = (resources: typeof first) =>
      resources.map((resource) => ({ ...resource, modified: undefined }));
    expect(untimed(await stack.resources())).toEqual(untimed(first));
    expect(writes()).toEqual([]);
  }, 60_000);

  test("another spelling of the same is no change", async () => {
    emulator.clearRequests();
    stack.declare(
      program((label, args) => {
        const keys = args["staticKeys"] as Record<string, string> | undefined;
        if (label === "role") args["capabilities"] = ["CAP_TAG_LIST", "CAP_REPO_LIST"];
        if (label === "tag") args["bundles"] = ["fips", "base"];
        if (label === "team") args["kind"] = "";
        if (label === "invite") args["ttl"] = "86400s";
        if (label === "provider") {
          Object.assign(args["oidc"] as object, {
            additionalScopes: ["groups", "email"],
            correlationRule: "CORRELATION_RULE_SUB_EQUALS_EXTERNAL_ID",
          });
        }
        if (label === "scim") {
          args["expireTime"] = String(args["expireTime"]).replace("Z", ".000+00:00");
          args["overlap"] = "1800s";
        }
        if (label === "accounts") {
          args["github"] = {
            appInstallations: {
              "12345": {
                installations: [
                  { installationId: "2" },
                  { installationId: "9007199254740993", name: "acme" },
                ],
              },
            },
          };
        }
        if (keys) {
          keys["issuerKeys"] = JSON.stringify(JSON.parse(keys["issuerKeys"] ?? ""), null, 2);
          keys["expirationTime"] = (keys["expirationTime"] ?? "").replace("Z", ".000+00:00");
        }
        return args;
      }),
    );
    await stack.up("--expect-no-changes");
    expect(writes()).toEqual([]);
    stack.declare(asIs);
  }, 60_000);

  test("a change by hand shows, with its property, and the next run repairs it", async () => {
    const before = emulator.state();
    for (const [label, { body }] of Object.entries(byHand)) {
      const resolved = JSON.parse(JSON.stringify(body).replace("${writer}", await uid("writer"))) as unknown;
      await updateByHand(label, resolved);
    }
    for (const [label, body] of Object.entries(addedByHand)) {
      await updateByHand(label, body);
    }
    const names = [...Object.keys(byHand), ...Object.keys(addedByHand)].sort();

    const preview = await stack.pulumi(["preview", "--refresh", "--json", "--expect-no-changes"]);
    expect(preview.code).toBe(7);
    const shown = steps(preview.stdout).filter(({ op }) => op === "update");
    expect(shown.map(({ name }) => name).sort()).toEqual(names);

    const readable = await stack.succeed(["preview", "--refresh", "--diff"]);
    for (const { property } of Object.values(byHand)) expect(readable.stdout).toContain(`~ ${property}`);

    emulator.clearRequests();
    await stack.up("--refresh");
    expect(methods()).toEqual(names.map((label) => writingOf(label)?.update.method ?? "PATCH").sort());
    const untimed = (state: ReturnType<Emulator["state"]>) =>
      Object.values(state)
        .flat()
        .map((resource) => ({ ...resource, updateTime: undefined }));
    expect(untimed(emulator.state())).toEqual(untimed(before));
  }, 120_000);

  test("what was deleted by hand shows as gone, and the next run makes it again", async () => {
    const gone = samples
      .filter(({ label, permanent }) => label !== "root" && !permanent)
      .map(({ label }) => label);
    for (const label of gone) await deleteByHand(label);
    const preview = await stack.pulumi(["preview", "--refresh", "--json", "--expect-no-changes"]);
    expect(preview.code).toBe(7);
    expect(
      steps(preview.stdout)
        .filter(({ op }) => op === "create")
        .map(({ name }) => name)
        .sort(),
    ).toEqual([...gone].sort());
    emulator.clearRequests();
    await stack.up("--refresh");
    expect(methods()).toEqual(gone.map((label) => writingOf(label)?.create ?? "POST").sort());
    await stack.succeed(["preview", "--refresh", "--expect-no-changes"]);
  }, 120_000);

  test("a change of an immutable field shows as a replacement, with its reason", async () => {
    stack.declare(
      program((label, args) => {
        if (label === "subscription") return { ...args, sink: "https://sink.example.com/two" };
        if (label === "mapping") return { ...args, externalGroupId: "others" };
        if (label === "claims") {
          return {
            ...withMember(args, "claimMatch", undefined),
            servicePrincipal: "SERVICE_PRINCIPAL_SKILLS",
          };
        }
        if (args["parentUid"] === "${own}") return { ...args, parentUid: `\${${elsewhereOf(label)}}` };
        return args["parentUid"] === undefined ? args : { ...args, parentUid: "${elsewhere}" };
      }),
    );
    const preview = await stack.succeed(["preview", "--json"]);
    const replaced = steps(preview.stdout).filter(({ op }) => op === "replace");
    const expected = samples
      .map(({ label }) => label)
      .filter((label) => label !== "root")
      .sort();
    expect(replaced.map(({ name }) => name).sort()).toEqual(expected);
    const reasons = Object.fromEntries(
      replaced.map(({ name, replaceReasons }) => [name, [...(replaceReasons ?? [])].sort()]),
    );
    expect(reasons).toEqual({
      ...Object.fromEntries(expected.map((label) => [label, ["parentUid"]])),
      subscription: ["sink"],
      mapping: ["externalGroupId"],
      claims: ["claimMatch", "servicePrincipal"],
    });
    expect(summary(preview.stdout)["replace"]).toBe(expected.length);
    const before = (await stack.ours())["repo"]?.id;
    await stack.up();
    expect((await stack.ours())["repo"]?.id).not.toBe(before);
    await stack.succeed(["preview", "--refresh", "--expect-no-changes"]);
  }, 120_000);

  test("a replaced parent takes its children along, without a failed step", async () => {
    const below = (parentOfTop: string): Declarations => ({
      ...surroundings,
      old: { kind: "Group", args: { parentUid: "${org}", name: "old" } },
      top: { kind: "Group", args: { parentUid: parentOfTop, name: "top" } },
      team: { kind: "Group", args: { parentUid: "${top}", name: "team" } },
      role: { kind: "Role", args: { parentUid: "${team}", name: "r", capabilities: ["CAP_REPO_LIST"] } },
      binding: {
        kind: "RoleBinding",
        args: { parentUid: "${team}", identityUid: "${someone}", roleUid: "${role}" },
      },
      repo: { kind: "Repo", args: { parentUid: "${team}", name: "repo" } },
    });
    stack.declare(below("${org}"));
    await stack.up();
    stack.declare(below("${old}"));
    const run = await stack.pulumi(["up", "--yes"]);
    expect({ code: run.code, output: run.code === 0 ? "" : run.output }).toEqual({ code: 0, output: "" });
    const ours = await stack.ours();
    const team = ours["team"]?.id ?? "";
    expect(team.startsWith(`${ours["old"]?.id ?? "?"}/`)).toBe(true);
    for (const name of ["role", "binding", "repo"]) expect(ours[name]?.id?.startsWith(`${team}/`)).toBe(true);
    await stack.succeed(["preview", "--refresh", "--expect-no-changes"]);
  }, 120_000);

  test("an unknown value at preview never fails a check", async () => {
    stack.declare({
      fresh: { kind: "Group", args: { name: "fresh" } },
      in: { kind: "Group", args: { parentUid: "${fresh}", name: "in" } },
      who: {
        kind: "Identity",
        args: {
          parentUid: "${in}",
          name: "who",
          claimMatch: { issuer: "https://issuer.example.com", subject: "${fresh}", claims: { uid: "${in}" } },
        },
      },
      what: { kind: "Role", args: { parentUid: "${in}", name: "what", capabilities: ["CAP_REPO_LIST"] } },
      grant: { kind: "RoleBinding", args: { parentUid: "${in}", identityUid: "${who}", roleUid: "${what}" } },
      images: {
        kind: "Repo",
        args: { parentUid: "${in}", name: "images", syncConfig: { source: "${fresh}" } },
      },
    });
    const run = await stack.pulumi(["preview"]);
    expect({ code: run.code, output: run.code === 0 ? "" : run.output }).toEqual({ code: 0, output: "" });
  }, 60_000);

  test("a delete of what is gone is done, and the server ends empty", async () => {
    stack.declare(asIs);
    await stack.up();
    for (const { label, permanent } of samples) if (!permanent) await deleteByHand(label);
    await stack.succeed(["destroy", "--yes", "--skip-preview"]);
    expect(Object.values(emulator.state()).flat()).toEqual([]);
    expect(await stack.ours()).toEqual({});
  }, 120_000);
});
