import { ADOPT, UNKNOWN } from "../../../../provider/fields/values";
import type { Props } from "../../../../provider/fields/values";
import {
  acme,
  binding,
  cards,
  compareResources,
  group,
  groups,
  identity,
  payments,
  pinned,
  resource,
  role,
  viewer,
  edit,
} from "../../../support/access";
import type { ComparisonOptions, Resource } from "../../../support/access";
import { found, severitiesOf } from "./support";

const base = [...groups, viewer];
const digest = (char: string): string => `sha256:${char.repeat(64)}`;
const repo = (more: Props = {}): Resource => resource("Repo", "api", { parentUid: payments, ...more });
const tag = (to: string, more: Props = {}): Resource =>
  resource("Tag", "latest", { parentUid: repo().uid, digest: digest(to), ...more });
const change = (before: Resource[], after: Resource[], options: ComparisonOptions = {}) =>
  compareResources([...base, ...before], [...base, ...after], options);

describe("R1 registry-loss", () => {
  const synced = (source: string): Resource => repo({ syncConfig: { source } });
  const other = (to: string): Resource => ({
    ...tag(to),
    uid: `${repo().uid}/${"9".repeat(16)}`,
    urn: `${tag(to).urn}-tag`,
  });
  const MOVED = "medium: tag latest of repo api is moved from sha256:aaaaaaaaaaaa… to sha256:bbbbbbbbbbbb…";

  const fails = (what: string, of = "it"): string[] => [`high: ${what}: pulls of ${of} fail`];
  const copies = (from: string, before: string): string[] => [
    `high: repo api copies its images from ${from} in place of ${before}`,
  ];

  it.each<[string, Resource[], Resource[], string[], Resource[]?]>([
    ["a repository that is deleted", [repo()], [], fails("repo api is deleted, with its images")],
    [
      "a repository that is replaced",
      [repo()],
      [repo()],
      fails("repo api is replaced, with its images", "the old one"),
      [repo()],
    ],
    ["a tag that is deleted", [repo(), tag("a")], [repo()], fails("tag latest of repo api is deleted")],
    ["a tag that is moved", [repo(), tag("a")], [repo(), tag("b")], [MOVED]],
    ["another source", [synced("a")], [synced("b")], copies("b", "a")],
    ["a source that is set", [repo()], [synced("b")], copies("b", "nowhere")],
    ["a source that is unset", [synced("a")], [repo()], copies("nowhere", "a")],
    ["a new repository and tag", [], [synced("a"), tag("a")], []],
    ["a tag that another resource has from then on", [repo(), tag("a")], [repo(), other("a")], []],
    ["a tag that another resource moves", [repo(), tag("a")], [repo(), other("b")], [MOVED]],
  ])("judges %s", (_, before, after, expected, replaced = []) => {
    const findings = found("R1", change(before, after, { replaced }));
    expect(findings.map(({ severity, message }) => `${severity}: ${message}`)).toEqual(expected);
  });

  it("names the alias by which an object stays whose resource only gets another name", () => {
    const renamed = { ...repo(), uid: `${payments}/${"9".repeat(16)}`, urn: `${repo().urn}-2` };
    const advice = found("R1", change([repo()], [renamed])).map((finding) => finding.advice);
    const alias = repo().urn.split("::").at(-1) ?? "";
    expect(advice).toEqual([
      expect.stringContaining(`give ${alias}-2 the option aliases: [{ name: "${alias}" }]`),
    ]);
    const parts = repo().urn.split("::");
    const urnOf = (types: string, name = alias): string => [...parts.slice(0, 2), types, name].join("::");
    const [inComponent, inOther] = [`app:Team$${parts[2]}`, `app:Squad$${parts[2]}`];
    const move = (from: string, to: string): string | undefined =>
      found("R1", change([{ ...repo(), urn: from }], [{ ...renamed, urn: to }]))[0]?.advice;
    const toRoot = "parent: pulumi.rootStackResource }]";
    expect(move(repo().urn, urnOf(inComponent))).toContain(`aliases: [{ ${toRoot}`);
    expect(move(repo().urn, urnOf(inComponent, "new"))).toContain(`aliases: [{ name: "${alias}", ${toRoot}`);
    for (const to of [repo().urn, urnOf(inOther)])
      expect(move(urnOf(inComponent), to)).toContain(`aliases: ["${urnOf(inComponent)}"]`);
    // So does what is replaced only since its group gets another resource.
    const team = group("team", `${acme}/${"7".repeat(16)}`);
    const renamedTeam = { ...team, uid: `${acme}/${"8".repeat(16)}`, urn: `${team.urn}-2` };
    const inside = repo({ parentUid: team.uid });
    const moved = edit(inside, { parentUid: renamedTeam.uid });
    const adopting = edit(renamedTeam, { [ADOPT]: team.uid });
    for (const now of [renamedTeam, adopting]) {
      const [replaced] = found("R1", change([team, inside], [now, moved], { replaced: [inside] }));
      const hint = /if group team only has .* give (\S+)-2 the option aliases: \[\{ name: "\1" \}\]$/;
      expect(replaced?.advice).toMatch(hint);
    }
    // And what goes with a team that gets another name with all that it has.
    const squad = group("squad", `${acme}/${"8".repeat(16)}`);
    const repoOf = (of: Resource, more: Props = {}): Resource => ({
      ...repo({ parentUid: of.uid, ...more }),
      uid: `${of.uid}/${"9".repeat(16)}`,
      urn: `${repo().urn}-${of.inputs["name"] as string}`,
    });
    const adviceTo = (more?: Props): string | undefined =>
      found("R1", change([team, repoOf(team)], [squad, repoOf(squad, more)]))[0]?.advice;
    expect(adviceTo()).toMatch(
      /if group team only has .* give squad the option aliases: \[\{ name: "team" \}\]$/,
    );
    expect(adviceTo({ name: "other" })).not.toContain("aliases");
    const other = edit(renamed, { name: "other" });
    expect(found("R1", change([repo()], [other]))[0]?.advice).not.toContain("aliases");
  });
});

describe("R2 image-trust", () => {
  const overlay = (customOverlay: Props): Resource => repo({ customOverlay });
  const certificate = { name: "corp-ca", content: "PEM" };

  it.each([
    ["a certificate", { certificates: { additional: [certificate] } }, ["high"]],
    ["a key", { contents: { runtimeKeyring: [{ name: "k.pub", content: "PEM" }] } }, ["high"]],
    ["a provider of certificates", { certificates: { providers: ["corp"] } }, ["high"]],
    ["a package repository", { contents: { runtimeRepositories: ["https://apk.example"] } }, ["medium"]],
    ["root by name", { accounts: { runAs: "root" } }, ["medium"]],
    ["root by a hexadecimal number", { accounts: { runAs: "0x0:0" } }, ["medium"]],
    ["root by another name", { accounts: { users: [{ username: "app", uid: 0 }] } }, ["medium"]],
    ["a number that was not read", { accounts: { users: [{ username: "app", uid: UNKNOWN }] } }, ["medium"]],
    ["a user without a number, which is 0", { accounts: { users: [{ username: "app" }] } }, ["medium"]],
    ["a user with a number", { accounts: { users: [{ username: "app", uid: 65532 }] } }, []],
    ["a name that only begins as root does", { accounts: { runAs: "rootless:app" } }, []],
    ["a user whose number begins with 0", { accounts: { runAs: "0123" } }, []],
    ["a library that each program loads", { environment: { LD_PRELOAD: "/usr/lib/x.so" } }, ["high"]],
    ["where programs are looked for", { environment: { PATH: "/tmp/bin:/usr/bin" } }, ["high"]],
    ["a server that gets secrets", { environment: { VAULT_ADDR: "https://vault.example" } }, ["high"]],
    ["a name that only contains that of a server", { environment: { HOSTED: "yes" } }, []],
    ["memory for a language", { environment: { NODE_OPTIONS: "--max-old-space-size=4096" } }, []],
    ["a proxy, in small letters", { environment: { https_proxy: "http://proxy.example" } }, ["high"]],
    ["another source of packages", { environment: { PIP_EXTRA_INDEX_URL: "https://x.example" } }, ["high"]],
    ["code that each program runs first", { environment: { NODE_OPTIONS: "--require /x.js" } }, ["high"]],
  ])("%s", (_, customOverlay, severities) => {
    expect(severitiesOf("R2", change([repo()], [overlay(customOverlay)]))).toEqual(severities);
  });

  it("is about the variables that name code, settings, servers, certificates and credentials", () => {
    const telling =
      `ES_JAVA_OPTS GRADLE_OPTS GUNICORN_CMD_ARGS UWSGI_PYTHONPATH SHELLOPTS PS4 VIMINIT EDITOR MANPAGER SUDO_ASKPASS
      GTK_MODULES OCAMLRUNPARAM AWKPATH DJANGO_SETTINGS_MODULE FLASK_APP SPRING_CONFIG_LOCATION SPRING_APPLICATION_JSON RUBYOPT
      PYTHONHTTPSVERIFY SKIP_VERIFY DISABLE_AUTH JWKS_URI OIDC_ISSUER AUTH_SERVER SIGSTORE_REKOR_URL P11_KIT_CONFIG GNUPGHOME
      KUBERNETES_SERVICE_HOST AWS_CONTAINER_CREDENTIALS_FULL_URI GOOGLE_APPLICATION_CREDENTIALS CELERY_BROKER_URL KAFKA_BROKERS
      BOOTSTRAP_SERVERS OTEL_EXPORTER_OTLP_ENDPOINT SENTRY_DSN DD_AGENT_HOST REGISTRY_MIRROR PGSERVICEFILE TNS_ADMIN NPM_CONFIG_REGISTRY
      NODE_TLS_REJECT_UNAUTHORIZED REQUESTS_CA_BUNDLE GRPC_DEFAULT_SSL_ROOTS_FILE_PATH GOPROXY PIP_FIND_LINKS AWS_ENDPOINT_URL_S3 MAKEFLAGS PSQLRC GOTOOLCHAIN
      CMAKE_TOOLCHAIN_FILE BROWSER MYSQL_HOME IFS TERMINFO NGINX_CONF POSTGRES_HOST_AUTH_METHOD MINIO_ROOT_PASSWORD PHPRC GEM_HOME
      DENO_CERT DENO_DIR GRPC_XDS_BOOTSTRAP GRPC_PROXY_EXP NUGET_PACKAGES ASPNETCORE_HOSTINGSTARTUPASSEMBLIES PSQL_EDITOR CONDA_CHANNELS AWS_WEB_IDENTITY_TOKEN_FILE NGINX_ENVSUBST_TEMPLATE_DIR`.split(
        /\s+/,
      );
    const others =
      `TZ LANG LC_ALL LOG_LEVEL DEBUG PORT NODE_ENV APP_NAME REGION GOMAXPROCS PYTHONUNBUFFERED HOSTED HOSTNAME MALLOC_ARENA_MAX
      TERM HOME USER FEATURE_FLAGS WORKERS TIMEOUT_SECONDS CI NO_COLOR VERSION`.split(/\s+/);
    const isReported = (name: string): boolean =>
      severitiesOf("R2", change([repo()], [overlay({ environment: { [name]: "x" } })])).length > 0;
    expect({ missed: telling.filter((name) => !isReported(name)), wrong: others.filter(isReported) }).toEqual(
      {
        missed: [],
        wrong: [],
      },
    );
  });
});

const to = (name: string, parentUid: string, sink: string): Resource =>
  resource("Subscription", name, { parentUid, sink });

describe("X1 exposure", () => {
  it("knows an address on its group and below, not above and beside", () => {
    const sink = "https://events.acme.example/a";
    const known = [...groups, to("a", payments, sink)];
    const judge = (where: string) => severitiesOf("X1", change(known, [...known, to("b", where, sink)]));
    expect([payments, cards, acme].map(judge)).toEqual([[], [], ["high"]]);
  });

  it.each([
    ["a host that is new there", "https://new.example/a", ["high"]],
    ["a host that received only those of other groups", "https://team.example/b", ["high"]],
    ["an address without a clear host", "https://ops@known.example/a", ["high"]],
    ["another address at a host that receives them", "https://known.example/b", ["high"]],
    ["an address that is allowed, at a host of many customers", "https://hooks.example/acme/1", []],
    ["the address of another customer there", "https://hooks.example/evil/1", ["high"]],
  ])("is as loud for the root group as what it learns: %s", (_what, sink, severities) => {
    const known = [
      to("known", acme, "https://known.example/a"),
      to("team", payments, "https://team.example/a"),
    ];
    const allowed = { sinkAllow: ["https://hooks.example/acme/*"] };
    const given = change(known, [...known, to("new", acme, sink)]);
    expect(severitiesOf("X1", given, allowed)).toEqual(severities);
  });
});

describe("D5 lost-events", () => {
  const siem = "https://siem.acme.example/in";
  const alerts = to("alerts", payments, siem);

  it.each<[string, Resource[], string[]]>([
    ["is deleted", [], ["high"]],
    ["moves to a group below", [to("moved", cards, siem)], ["high"]],
    ["gets an address at another host", [to("other", payments, "https://other.example/in")], ["high"]],
    ["moves to the group above", [to("moved", acme, siem)], []],
  ])("judges a subscription that %s", (_, after, severities) => {
    expect(severitiesOf("D5", change([alerts], after))).toEqual(severities);
  });

  it("does not count on what was made by hand", () => {
    const copy = to("copy", payments, siem);
    const live = [...groups, alerts, copy];
    const gone = compareResources([...groups, alerts], groups, { live });
    expect(severitiesOf("D5", gone)).toEqual(["high"]);
    const others = { live, otherStacks: [copy] };
    expect(found("D5", compareResources([...groups, alerts], groups, others))).toEqual([]);
    const kept = compareResources([...groups, alerts, copy], [...groups, copy], { live });
    expect(found("D5", kept)).toEqual([]);
  });

  it("leaves the subscription of a group that is deleted too alone", () => {
    const old = [...groups.slice(0, 2), alerts];
    expect(found("D5", compareResources(old, groups.slice(0, 1)))).toEqual([]);
  });
});

describe("X2 unresolved", () => {
  it("reports lines that belong to no resource in one finding", () => {
    const given = { ...change([], []), unresolved: ["a", "b"] };
    expect(found("X2", given)).toMatchObject([
      { message: "2 inputs could not be resolved", details: ["a", "b"] },
    ]);
  });
});

describe("X3 cannot-be-judged", () => {
  const who = identity("ci", pinned);
  const lookup = resource("Role", "lookup", {}, { external: true });

  it("reports a role and an identity that no input describes, also without --strict", () => {
    const given = change([who, lookup], [who, lookup, binding(who, lookup, payments)]);
    const message =
      "GitHub Actions of acme/pay, branch main gains lookup on acme / payments: no inventory describes this role";
    expect(found("X3", given)).toMatchObject([{ severity: "high", message }]);
    const none = change([], [binding(identity("stranger", pinned), viewer, payments)]);
    const below = { ...none, inventories: [{ ...none.inventories[0]!, root: `${acme}/other` }] };
    const blind = { ...none, inventories: [] };
    for (const [comparison, advice] of [
      [none, /^correct the uid, since the update fails/],
      [below, /take an inventory of the group/],
      [blind, /^give --inventory/],
    ] as const) {
      const [finding] = found("X3", comparison);
      expect(finding?.message).toMatch(/: no inventory describes this identity$/);
      expect(finding?.advice).toMatch(advice);
    }
  });

  it("reports a group that the inventory does not contain, unless the program makes it", () => {
    const foreign = "f".repeat(40);
    const elsewhere = binding(who, viewer, foreign);
    const message = expect.stringMatching(
      / gains viewer on f+: no inventory describes this group$/,
    ) as unknown;
    expect(found("X3", change([who], [who, elsewhere]))).toMatchObject([
      { severity: "high", field: "group", message },
    ]);
    const read = { ...group("foreign", foreign), isRead: true } as const;
    expect(severitiesOf("X3", change([who, read], [who, read, elsewhere]))).toEqual(["high"]);
    const made = group("new", `${acme}/${"9".repeat(16)}`);
    expect(found("X3", change([who], [who, made, binding(who, viewer, made.uid)]))).toEqual([]);
    const offline = compareResources([who, viewer], [who, viewer, elsewhere], { withoutInventory: true });
    expect(found("X3", offline).filter(({ field }) => field === "group")).toEqual([]);
  });
});

describe("X5 recorded-state", () => {
  const who = identity("ci", pinned);
  const grant = binding(who, viewer, payments);
  const described = edit(who, { description: "pipelines" });
  const changed = edit(who, { parentUid: acme });
  const tag = resource("Tag", "stable", { parentUid: payments, digest: `sha256:${"a".repeat(64)}` });
  const deprecated = edit(tag, { deprecated: true });
  const moved = edit(tag, { digest: `sha256:${"b".repeat(64)}` });
  const offline = { withoutInventory: true };
  const managed = role("reader", ["REPO_LIST"]);
  const granted = binding(who, managed, payments);

  it.each([
    ["an update of an identity", [who], [changed], ["medium"]],
    ["a text for people, which is all that the update writes", [who], [described], []],
    ["a flag of a tag, whose image the update leaves as the server has it", [tag], [deprecated], []],
    ["a tag that is moved", [tag], [moved], ["medium"]],
    ["a role that a new grant names", [who, managed], [who, managed, granted], ["medium"]],
    ["a new identity", [], [who], []],
    ["a deleted binding", [who, grant], [who], []],
    ["an unchanged identity without a new grant", [who], [who], []],
  ])("reports what is compared with the record only: %s", (_what, before, after, expected) => {
    const given = compareResources([viewer, ...before], [viewer, ...after], offline);
    expect(severitiesOf("X5", given)).toEqual(expected);
    expect(severitiesOf("X5", given, { strict: true })).toEqual(expected.map(() => "high"));
    expect(found("X5", change(before, after))).toEqual([]);
  });
});

describe("X6 look-alike", () => {
  const inviting = (email: string): Resource =>
    resource("GroupInvite", "ada", { parentUid: payments, roleUid: viewer.uid, email });
  const reported = (before: Resource[], after: Resource[]): (string | undefined)[] =>
    found("X6", change(before, after)).map(({ severity, details }) => `${severity} ${details[0] ?? ""}`);

  test.each([
    ["ada@\u0430cme.example", "ada@\\u{430}cme.example", "\u0430cme.example"],
    ["ada@\u0430\u0441\u0441.com", "", "\u0430\u0441\u0441.com"],
    ["\u0430da@acme.example", "", "\u0430da"],
  ])("reports the address %s", (email, whole, word) => {
    const [finding, ...others] = found("X6", change(groups, [...groups, inviting(email)]));
    expect(others).toEqual([]);
    expect(finding).toMatchObject({ severity: "high", field: "email", kind: "GroupInvite" });
    expect(finding?.message).toContain(`look alike: ${JSON.stringify(word)}`);
    expect(finding?.details[0]).toMatch(/^written out: .*\\u\{4(30|41)\}/);
    expect(finding?.details[1]).toContain(whole);
  });

  test.each(["ada@münchen.example", "ада@acme.example", "ada@例え.example"])("leaves %s alone", (email) => {
    expect(found("X6", change(groups, [...groups, inviting(email)]))).toEqual([]);
  });

  test.each(["m\u0251in", "\uff4dain", "\u{1d5c6}ain", "\u212aernel"])(
    "reports %s, which is written with other forms of letters",
    (branch) => {
      const subject = `repo:acme/pay:ref:refs/heads/${branch}`;
      const one = identity("ci", { claimMatch: { issuer: "https://a.example", subject } });
      expect(reported(groups, [...groups, one])).toEqual([
        expect.stringMatching(/^high written out: .*\\u\{/),
      ]);
    },
  );
});
