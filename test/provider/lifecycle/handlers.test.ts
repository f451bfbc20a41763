import { inspect } from "node:util";
import { ConfigError } from "../../../provider/http/errors";
import { checkProgramArguments } from "../../../provider/lifecycle/handlers";
import type { Handlers } from "../../../provider/lifecycle/handlers";
import { HandlerError, PartialFailure } from "../../../provider/lifecycle/messages";
import { isFoundByComparison } from "../../../provider/fields/resourceSpec";
import type { Failure } from "../../../provider/fields/resourceSpec";
import { ADOPT, WRONG_ARGUMENTS } from "../../../provider/fields/values";
import { REFRESHED } from "../../../provider/fields/refreshed";
import { printable } from "../../../provider/text/printable";
import type { Props } from "../../../provider/fields/values";
import {
  clientOf,
  detail,
  errorOf,
  failure,
  missing,
  ScriptedServer,
  TOKEN,
  wrongAddress,
} from "../support/server";
import { handlersAt } from "../support/handlerStack";
import type { Recorded, Reply } from "../support/server";
import {
  CHILD_UID,
  GROUP_UID,
  PROVIDER_UID,
  requiredOutputs,
  ROLE_UID,
  ROOT_UID,
  sampleOf,
  samples,
  specOf,
  specs,
} from "../support/samples";

const server = ScriptedServer.ofSuite();

const NOW = Date.parse("2026-03-01T00:00:00Z");
let slept: number[];
beforeEach(() => (slept = []));

const handlers = (kind: string, client = clientOf(server)): Handlers =>
  handlersAt(kind, client, {
    now: () => NOW,
    sleep: (ms) => {
      slept.push(ms);
      return Promise.resolve();
    },
  });

const json = (body: Props): Reply => ({ json: body });
const soon = (ms = 0): string => new Date(Date.now() + ms).toISOString();
const group = { parentUid: ROOT_UID, name: "team", description: "A team" };
/** The token sees the organisation: what is not found in it is gone. */
const shown = json({ groups: [{ uid: ROOT_UID }] });
const stored = { uid: GROUP_UID, name: "team", description: "A team", kind: "ORG_KIND_DEV", verified: false };

/** The uid of a new resource below a parent. */
const childOf = (parent: string, n = 1): string => `${parent}/${n.toString(16).padStart(16, "0")}`;

async function failing(promise: Promise<unknown>): Promise<string> {
  const error = await errorOf(promise);
  expect(error).toBeInstanceOf(HandlerError);
  expect(error.stack).toBe("see the error of the resource");
  expect(inspect(error)).not.toContain(TOKEN);
  return error.message;
}

/** Samples that are made by the one usual request. */
const plain = samples.filter(({ kind, inputs }) => {
  const { fields, operations } = specOf(kind);
  return (
    !operations?.takesOver &&
    !operations?.get &&
    Object.keys(inputs).every((key) => !fields[key]?.subresource)
  );
});

describe("create", () => {
  test.each(plain)(
    "$kind, $label: one request with the inputs alone; outputs are the inputs",
    async (one) => {
      const { kind, inputs } = one;
      const parent = inputs["parentUid"] as string | undefined;
      const { collection, sharesParentUid } = specOf(kind);
      const uid = parent === undefined ? ROOT_UID : sharesParentUid ? parent : childOf(parent);
      server.script(({ method, body }) =>
        method === "GET"
          ? json({ [collection.slice(collection.lastIndexOf("/") + 1)]: [] })
          : json({ ...(body as Props), ...requiredOutputs(kind), uid, createTime: soon() }),
      );
      await expect(handlers(kind).create({ ...inputs, __provider: "text" })).resolves.toEqual({
        id: uid,
        outs: { ...inputs, ...requiredOutputs(kind) },
      });
      expect(server.calls).toEqual([
        // Where nothing tells how old an object is, those that are there are looked at before.
        ...(isFoundByComparison(specOf(kind)) ? [`GET ${collection}`] : []),
        `POST ${collection}${parent === undefined ? "" : `/${parent}`}`,
      ]);
      const { body } = server.last();
      expect(body).not.toHaveProperty("parentUid");
      expect(body).not.toHaveProperty("__provider");
      expect(body).not.toHaveProperty("syncConfig");
    },
  );

  test("of a field that the server ignores is a partial failure with the uid and the real values", async () => {
    const role = { ...sampleOf("Role"), capabilities: ["CAP_REPO_LIST", "CAP_NEWER"] };
    const uid = childOf(ROOT_UID);
    const held = { ...role, uid, capabilities: ["CAP_REPO_LIST"] };
    server.script([json(held), json(held)]);
    const error = await errorOf(handlers("Role").create(role));
    expect(error).toBeInstanceOf(PartialFailure);
    expect(error).toMatchObject({
      id: uid,
      properties: { ...role, capabilities: ["CAP_REPO_LIST"] },
      reasons: [
        `role "role" ${uid}: the server ignored capabilities (the server has ["CAP_REPO_LIST"]); CAP_NEWER is not a name that this version knows: a server drops names that it does not know, without an error`,
      ],
    });
    expect(server.calls).toEqual([`POST /iam/v2/roles/${ROOT_UID}`, `GET /iam/v2/roles/${uid}`]);
  });
});

describe("a create that adopts", () => {
  const adopting = (kind: string, inputs: Props) =>
    failing(handlers(kind).create({ ...inputs, [ADOPT]: GROUP_UID }));

  test("what is returned only at creation sends no request", async () => {
    server.script([]);
    expect(await adopting("ScimToken", sampleOf("ScimToken"))).toBe(
      `adopting SCIM token ${GROUP_UID}: its token is returned only at creation, so it cannot be adopted`,
    );
    expect(server.calls).toEqual([]);
  });

  test("says what differs, but nothing of a secret or of what is beside it", async () => {
    server.script([json({ ...stored, description: "" })]);
    expect(await adopting("Group", group)).toContain('\n  description: declared "A team", existing null');
    const inputs = sampleOf("IdentityProvider");
    server.script([json({ ...inputs, uid: GROUP_UID, oidc: { issuer: "https://other.example.com" } })]);
    const message = await adopting("IdentityProvider", inputs);
    expect(message).toContain("\n  oidc: declared something else, existing something else");
    expect(message).not.toContain("other.example.com");
  });
});

describe("a create below a new group", () => {
  const denied = failure(7, "denied");

  test("that stays denied ends after half a minute, with the error", async () => {
    const client = clientOf(server);
    client.noteCreated(ROOT_UID);
    server.script(() => denied);
    expect(await failing(handlers("Group", client).create(group))).toBe(
      `creating group "team" below ${ROOT_UID}: PERMISSION_DENIED (HTTP 403): denied\n  the identity behind the token lacks a role there that grants this, or the parent does not exist; docs/least-privilege.md of the package says what each kind needs`,
    );
    expect(slept).toEqual([2000, 4000, 8000, 16_000]);
  });
});

describe("a create whose response was lost", () => {
  const query = (request: Recorded) => Object.fromEntries(request.query);

  /** A server that cuts so many creates, and holds what it is told. */
  function losing(listed: (posts: number) => Reply, times = Infinity): () => number {
    let posts = 0;
    server.script(({ method }) => {
      if (method === "GET") return listed(posts);
      posts += 1;
      return posts <= times ? { cut: "before" } : json(stored);
    });
    return () => posts;
  }

  // faults.test.ts loses the response of each kind in every way.
  test("looks for its object by parent and name, and creates no second one", async () => {
    losing(() => json({ groups: [{ ...stored, createTime: soon() }], nextPageToken: "" }));
    await expect(handlers("Group").create(group)).resolves.toEqual({ id: GROUP_UID, outs: group });
    expect(server.calls).toEqual([`POST /iam/v2/groups/${ROOT_UID}`, "GET /iam/v2/groups"]);
    expect(query(server.last())).toEqual({ "uidp.children_of": ROOT_UID, name: "team", page_size: "200" });
    expect(slept).toEqual([500]);
  });

  test("and succeeds after it was sent again is named: the new object is in state, the other is not deleted", async () => {
    const late = { ...stored, uid: childOf(ROOT_UID, 7), createTime: soon() };
    const both = [late, { ...stored, createTime: soon() }];
    losing((posts) => json({ groups: posts < 2 ? [] : both }), 1);
    const error = await errorOf(handlers("Group").create(group));
    expect(error).toBeInstanceOf(PartialFailure);
    expect(error).toMatchObject({ errorCode: "PP4002", id: GROUP_UID, properties: group });
    expect(error.message).toBe(
      `group "team" was created as ${GROUP_UID} after a request without a response, which took effect too: delete ${late.uid}, unless someone else created it`,
    );
    expect(server.requests.some(({ method }) => method === "DELETE")).toBe(false);
  });

  test("and is refused when it is sent again is that refusal; three lost ones say how often it was sent", async () => {
    server.script(({ method }, count) =>
      method === "GET" ? json({ groups: [] }) : count === 0 ? { cut: "before" } : failure(7, "no"),
    );
    expect(await failing(handlers("Group").create(group))).toContain("PERMISSION_DENIED (HTTP 403): no");
    const posts = losing(() => json({ groups: [] }));
    expect(await failing(handlers("Group").create(group))).toMatch(
      /ECONNRESET.*\n {2}no response after 3 attempts; it may still be created: check before you retry$/,
    );
    expect(posts()).toBe(3);
  });

  test("and succeeds after it was sent again is in state, though nobody can tell of a second one", async () => {
    losing((posts) => (posts < 2 ? json({ groups: [] }) : failure(7, "no")), 1);
    await expect(handlers("Group").create(group)).resolves.toEqual({ id: GROUP_UID, outs: group });
  });

  test("of a part of its parent is no second one of itself", async () => {
    const inputs = { parentUid: GROUP_UID, name: "accounts", amazon: { account: "1".repeat(12) } };
    let posts = 0;
    server.script(({ method }) => {
      if (method !== "GET" && (posts += 1) === 1) return { cut: "before" };
      return posts < 2 ? missing(GROUP_UID) : json({ ...inputs, uid: GROUP_UID, createTime: soon() });
    });
    await expect(handlers("AccountAssociation").create(inputs)).resolves.toMatchObject({ outs: inputs });
    expect(posts).toBe(2);
  });

  test("of what is returned only at creation, and found several times, is not to be adopted", async () => {
    const inputs = { parentUid: GROUP_UID, roleUid: ROLE_UID };
    const invites = [1, 2].map((n) => ({
      roleUid: ROLE_UID,
      uid: childOf(GROUP_UID, n),
      createTime: soon(),
    }));
    losing(() => json({ groupInvites: invites }));
    expect(await failing(handlers("GroupInvite").create(inputs))).toMatch(
      /before you run again, delete them, unless someone else created them$/,
    );
  });

  test("of a kind without a creation time does not take an older object", async () => {
    const sink = "https://sink.example.com";
    const [old, fresh] = [1, 2].map((n) => ({ uid: childOf(GROUP_UID, n), sink }));
    const posts = losing((count) => json({ subscriptions: count === 0 ? [old!] : [old!, fresh!] }));
    const inputs = { parentUid: GROUP_UID, sink };
    await expect(handlers("Subscription").create(inputs)).resolves.toEqual({ id: fresh!.uid, outs: inputs });
    expect(posts()).toBe(1);
  });

  test("that has no creation time is left to a person", async () => {
    losing(() => json({ groups: [stored] }));
    expect(await failing(handlers("Group").create(group))).toBe(
      `creating group "team" below ${ROOT_UID}: the response was lost; ${GROUP_UID} is equal, but has no creation time: if nobody else made it, delete it or adopt it before you run again`,
    );
  });

  test("does not take older, different or deeper objects, or those of other parents", async () => {
    const others = [
      { ...stored, uid: childOf(ROOT_UID, 1), createTime: soon(-60_000) },
      { ...stored, uid: childOf(GROUP_UID, 2), createTime: soon() },
      { ...stored, uid: ROLE_UID, createTime: soon() },
      { ...stored, uid: childOf(ROOT_UID, 3), name: "other", createTime: soon() },
      { ...stored, uid: childOf(ROOT_UID, 4), description: "", createTime: soon() },
    ];
    const posts = losing(() => json({ groups: others }), 1);
    await expect(handlers("Group").create(group)).resolves.toMatchObject({ id: GROUP_UID });
    expect(posts()).toBe(2);
  });

  test("is found by the server's clock in the first request, whatever the local clock says", async () => {
    for (const ahead of [-3_600_000, 3_600_000]) {
      const there = new Date(Date.now() + ahead);
      const json = { groups: [{ ...stored, createTime: there.toISOString() }] };
      losing(() => ({ json, headers: { Date: there.toUTCString() } }));
      await expect(handlers("Group").create(group)).resolves.toMatchObject({ id: GROUP_UID });
      expect(server.requests).toHaveLength(2);
    }
  });

  test("and found several times is an error that lists them", async () => {
    const twice = [1, 2].map((n) => ({ ...stored, uid: childOf(ROOT_UID, n), createTime: soon() }));
    losing(() => json({ groups: twice }));
    expect(await failing(handlers("Group").create(group))).toBe(
      `creating group "team" below ${ROOT_UID}: the response was lost, and 2 equal objects were created since: ${childOf(ROOT_UID, 1)}, ${childOf(ROOT_UID, 2)}; before you run again, take over one of them by adopt() and delete the others, unless someone else created them`,
    );
    expect(server.requests.filter(({ method }) => method === "POST")).toHaveLength(1);
  });

  test("and cannot be looked for is never sent again", async () => {
    losing(() => failure(7, "no"));
    const error = await errorOf(handlers("Group").create(group));
    expect(error).toMatchObject({ errorCode: "PP4001" });
    expect(error.message).toMatch(
      /^creating group "team" below [0-9a-f]+: the response was lost \(POST .*\(ECONNRESET\)\), and the search for what was created failed \(.*PERMISSION_DENIED.*\); check whether it exists before you run again$/,
    );
    expect(server.requests).toHaveLength(2);
  });

  test("is not told of where no response is the API's", async () => {
    server.script(() => ({ text: "<html>sign in</html>" }));
    const message = await failing(handlers("Group").create(group));
    expect(message).toMatch(/^creating group "team" .*POST .*HTTP 200 with a web page/);
    expect(message).not.toContain("the response was lost");
  });
});

describe("read", () => {
  test.each([...new Map(samples.map(({ kind, inputs }) => [kind, inputs]))])(
    "of a %s that a program asks for by a uid that nobody has is an error",
    async (kind, inputs) => {
      server.script([missing(GROUP_UID), missing(GROUP_UID)]);
      const asked = handlers(kind).read(GROUP_UID, { __provider: "text" });
      await expect(asked).rejects.toMatchObject({ errorCode: "PP3405" });
      await expect(handlers(kind).read(GROUP_UID, inputs)).resolves.toEqual({});
    },
  );

  test("marks what it finds changed and may matter, until an update", async () => {
    const role = { ...sampleOf("Role"), capabilities: ["CAP_REPO_LIST"] };
    const outputs = { ...requiredOutputs("Role"), ...role };
    const held = (change: Props): Reply => json({ uid: ROLE_UID, ...role, ...change });
    const readAs = async (change: Props, olds: Props): Promise<Props> => {
      server.script([held(change)]);
      return (await handlers("Role").read(ROLE_UID, olds)).props ?? {};
    };
    const wider = { capabilities: ["CAP_REPO_LIST", "CAP_IAM_ROLE_BINDINGS_CREATE"] };
    expect(await readAs({}, outputs)).not.toHaveProperty(REFRESHED);
    expect(await readAs({ description: "by hand" }, outputs)).not.toHaveProperty(REFRESHED);
    // Exceptions and patterns choose by names.
    expect(await readAs({ name: "by-hand" }, outputs)).toMatchObject({ [REFRESHED]: { name: "changed" } });
    // An import, or a `get`, has no arguments yet.
    expect(await readAs(wider, {})).not.toHaveProperty(REFRESHED);
    const marked = await readAs(wider, outputs);
    expect(marked).toMatchObject({ ...wider, [REFRESHED]: { capabilities: { 1: "added" } } });
    // More by hand, other by hand, and as before by hand.
    const widest = { capabilities: ["CAP_TAG_LIST", ...wider.capabilities] };
    expect(await readAs(widest, marked)).toMatchObject({
      [REFRESHED]: { capabilities: { 0: "added", 2: "added" } },
    });
    const other = await readAs({ capabilities: ["CAP_TAG_LIST"] }, marked);
    expect(other).toMatchObject({ [REFRESHED]: { capabilities: "changed" } });
    expect(await readAs({}, other)).toMatchObject({ [REFRESHED]: { capabilities: "changed" } });
    expect(await readAs({}, marked)).not.toHaveProperty(REFRESHED);
    // The program may have it by now: then an update sends nothing.
    const accepted = { ...role, ...wider };
    expect(handlers("Role").diff(marked, accepted)).toEqual({ changes: true, replaces: [] });
    expect(handlers("Role").diff(marked, role).changes).toBeUndefined();
    server.script([]);
    expect(await handlers("Role").update(ROLE_UID, marked, accepted)).not.toHaveProperty(REFRESHED);
    expect(server.calls).toEqual([]);
  });

  test("at a wrong address is an error: it must never empty a stack", async () => {
    server.script([wrongAddress]);
    expect(await failing(handlers("Group").read(GROUP_UID, group))).toBe(
      `reading group "team" ${GROUP_UID}: NOT_FOUND (HTTP 404): Not Found\n  no such API endpoint: ${server.url}/iam/v2/groups/${GROUP_UID}; check platform:baseUrl (or PLATFORM_BASE_URL)`,
    );
  });
});

describe("update", () => {
  /** A server that holds one group and takes a PATCH as told. */
  function holding(held: Props, takes: (request: Recorded, held: Props) => Reply | Held): void {
    let current = held;
    server.script((request) => {
      if (request.method === "GET") return json(current);
      const outcome = takes(request, current);
      if (!(outcome instanceof Held)) return outcome;
      current = outcome.resource;
      return json(current);
    });
  }

  /** What the server holds from now on, and answers. */
  class Held {
    constructor(readonly resource: Props) {}
  }

  const merged = ({ body }: Recorded, held: Props) => new Held({ ...held, ...(body as Props) });

  test("whose response has no known field reads the whole resource, even if a field was cleared", async () => {
    holding({ ...stored, description: "" }, () => json({}));
    const news = { parentUid: ROOT_UID, name: "team" };
    await expect(handlers("Group").update(GROUP_UID, group, news)).resolves.toEqual(news);
    expect(server.requests.map(({ method }) => method)).toEqual(["PATCH", "GET"]);
    server.script(() => json({}));
    expect(await failing(handlers("Group").update(GROUP_UID, group, news))).toContain(
      `the response is not about ${GROUP_UID}`,
    );
  });

  const repo = sampleOf("Repo", "repo");
  const repoUid = childOf(GROUP_UID, 7);
  const repoNews = { ...repo, name: "web", catalogTier: "CATALOG_TIER_FIPS" };
  const repoStored: Props = { ...repo, uid: repoUid };

  test("of names of several words has no mask any more once a change was taken only without one", async () => {
    const repository = handlers("Repo", clientOf(server));
    const masks = () => server.requests.map(({ rawQuery }) => rawQuery);
    holding(repoStored, () => failure(3, "bad"));
    expect(await failing(repository.update(repoUid, repo, repoNews))).toContain("bad");
    expect(masks()).toEqual(["updateMask=name%2CcatalogTier", ""]);
    holding(repoStored, (request, held) =>
      request.rawQuery === "" ? merged(request, held) : failure(3, "bad"),
    );
    await repository.update(repoUid, repo, repoNews);
    await repository.update(repoUid, repoNews, { ...repoNews, catalogTier: "CATALOG_TIER_BASE" });
    expect(masks()).toEqual(["updateMask=name%2CcatalogTier", "", ""]);
  });

  test("that is refused with and without a mask lists the violations", async () => {
    const violations = detail("BadRequest", {
      fieldViolations: [{ field: "catalog_tier", description: "unknown" }],
    });
    holding(repoStored, (request) =>
      request.rawQuery === "" ? failure(3, "bad", violations) : failure(3, "invalid mask"),
    );
    expect(await failing(handlers("Repo").update(repoUid, repo, repoNews))).toBe(
      `updating repository "web" ${repoUid} (name, catalogTier): INVALID_ARGUMENT (HTTP 400)\n  catalogTier: unknown`,
    );
    holding(repoStored, (request) => (request.rawQuery === "" ? failure(3, "second") : failure(3, "first")));
    expect(await failing(handlers("Repo").update(repoUid, repo, repoNews))).toContain(
      "INVALID_ARGUMENT (HTTP 400): first",
    );
  });

  test("whose second attempt fails differently reports that", async () => {
    for (const [reply, words] of [
      [failure(7, "no"), "PERMISSION_DENIED (HTTP 403): no"],
      [{ cut: "before" }, "the connection was reset"],
    ] as const) {
      holding(repoStored, (request) => (request.rawQuery === "" ? reply : failure(3, "invalid mask")));
      expect(await failing(handlers("Repo").update(repoUid, repo, repoNews))).toContain(words);
    }
  });

  test("that the server applied in part is a partial failure, from which the next update continues", async () => {
    holding(
      repoStored,
      ({ body }, held) => new Held({ ...held, name: (body as Props)["name"] ?? held["name"] }),
    );
    const error = await errorOf(handlers("Repo").update(repoUid, repo, repoNews));
    const { properties } = error as Error & { properties: Props };
    expect(properties).toEqual({ ...repo, name: "web" });
    holding(repoStored, (_request, held) => new Held({ ...held, name: "web" }));
    const refreshed = { ...repo, [REFRESHED]: { name: "changed" } };
    await expect(handlers("Repo").update(repoUid, refreshed, repoNews)).rejects.toMatchObject({
      properties: { ...properties, [REFRESHED]: { name: "changed" } },
    });
    expect(error.message).toBe(
      `repository "web" ${repoUid}: the server ignored catalogTier (the server has "CATALOG_TIER_BASE"); a server drops names that it does not know, without an error`,
    );
    holding({ ...repoStored, name: "web" }, merged);
    await expect(handlers("Repo").update(repoUid, properties, repoNews)).resolves.toEqual(repoNews);
    expect(server.requests[0]).toMatchObject({ body: { catalogTier: "CATALOG_TIER_FIPS" } });
  });

  test.each([false, true])(
    "of a part that the server ignores (%s) is an error, and the next run writes it",
    async (before) => {
      const inputs = sampleOf("IdentityProvider");
      const [olds, news] = [before, !before].map((scimEnabled) => ({ ...inputs, scimEnabled }));
      const address = `/iam/v2/identityProviders/${PROVIDER_UID}`;
      const held = { uid: PROVIDER_UID, scim: { enabled: before, etag: "1" } };
      server.script(({ method }) => json(method === "GET" ? held : {}));
      const error = await errorOf(handlers("IdentityProvider").update(PROVIDER_UID, olds!, news!));
      expect(error).toBeInstanceOf(PartialFailure);
      expect(error).toMatchObject({ errorCode: "PP4004" });
      expect(error.message).toContain(`${PROVIDER_UID}: scimEnabled failed: the server ignored it`);
      const [look, write] = [`GET ${address}`, `POST ${address}:setScimEnabled`];
      expect(server.calls).toEqual([look, write, look, write, look]);
      const { properties } = error as Error & { properties: Props };
      expect(handlers("IdentityProvider").diff(properties, news!).changes).toBeUndefined();
      expect(handlers("IdentityProvider").diff(properties, olds!).changes).toBe(false);
    },
  );
});

const asksForOrganisation = ({ query }: { readonly query: URLSearchParams }): boolean =>
  query.get("uidp.ids") === ROOT_UID;

describe("at a server that shows nothing of the organisation", () => {
  const ofAnother = `the API shows no group of the organisation ${ROOT_UID}, so nothing of it is taken for deleted; check platform:baseUrl (or PLATFORM_BASE_URL), which is http`;
  test.each(specs.map(({ kind }) => kind))("a %s is not taken for deleted", async (kind) => {
    const inputs = sampleOf(kind);
    const parent = (inputs["parentUid"] as string | undefined) ?? ROOT_UID;
    const uid = specOf(kind).sharesParentUid === true ? parent : childOf(parent);
    server.script(({ path, method, query }) =>
      method === "GET" && path === "/iam/v2/groups" && query.has("page_size")
        ? json({ groups: [] })
        : method === "GET"
          ? missing(uid)
          : json({}),
    );
    for (const failed of [
      await failing(handlers(kind).delete(uid, inputs)),
      await failing(handlers(kind).read(uid, inputs)),
    ])
      expect(failed).toContain(ofAnother);
    expect(await errorOf(handlers(kind).read(uid, inputs))).toMatchObject({ errorCode: "PP3408" });
    expect(server.calls.filter((call) => !call.startsWith("GET "))).toEqual([]);
  });

  test("a root group is gone where it is not found", async () => {
    server.script(({ method }) => (method === "GET" ? missing(ROOT_UID) : json({})));
    await expect(handlers("Group").read(ROOT_UID, group)).resolves.toEqual({});
    await handlers("Group").delete(ROOT_UID, group);
    expect(server.calls).toContain(`DELETE /iam/v2/groups/${ROOT_UID}`);
  });
});

describe("delete", () => {
  test("of a deleted resource succeeds", async () => {
    server.script([shown, missing(GROUP_UID)]);
    await expect(handlers("Group").delete(GROUP_UID, group)).resolves.toBeUndefined();
  });

  test.each<[string, Reply]>([
    ["at a wrong address", wrongAddress],
    ["that is denied", failure(7, "no")],
  ])("%s is an error", async (_name, reply) => {
    server.script([shown, reply]);
    expect(await failing(handlers("Group").delete(GROUP_UID, group))).toMatch(
      new RegExp(`^deleting group "team" ${GROUP_UID}: `),
    );
    expect(server.requests).toHaveLength(2);
  });

  const notEmpty = failure(
    9,
    "Precondition failed: not empty",
    detail("PreconditionFailure", {
      violations: [{ type: "RESOURCE_NOT_EMPTY", subject: "", description: "has children" }],
    }),
  );

  test("that is refused lists what prevents it, by kind", async () => {
    const many = Array.from({ length: 12 }, (_, i) => ({ uid: childOf(GROUP_UID, i), name: `repo-${i}` }));
    server.script((request) => {
      if (request.method === "DELETE") return notEmpty;
      if (asksForOrganisation(request)) return shown;
      // An association has the uid of its group.
      const isAssociation = request.path === "/iam/v2/accountAssociations";
      expect(request.query.get(isAssociation ? "uidp.ids" : "uidp.children_of")).toBe(GROUP_UID);
      switch (request.path) {
        case "/iam/v2/groups":
          return json({ groups: [{ uid: CHILD_UID, name: "a\nb" }] });
        case "/iam/v2/roleBindings":
          return json({ roleBindings: [{ uid: childOf(GROUP_UID, 9) }] });
        case "/iam/v2/accountAssociations":
          return json({ accountAssociations: [{ uid: GROUP_UID, name: "accounts" }] });
        case "/iam/v2/identities":
          return failure(7, "no");
        case "/registry/v2/repos":
          return json({ repos: many });
        default:
          return json({ [request.path.slice(request.path.lastIndexOf("/") + 1)]: [] });
      }
    });
    expect((await failing(handlers("Group").delete(GROUP_UID, group))).split("\n")).toEqual([
      `deleting group "team" ${GROUP_UID}: FAILED_PRECONDITION (HTTP 400): Precondition failed: not empty`,
      "  RESOURCE_NOT_EMPTY: has children",
      `  groups below it: "a b" ${CHILD_UID}`,
      "  identities in it: could not be listed",
      `  role bindings in it: ${childOf(GROUP_UID, 9)}`,
      `  its account association: "accounts" ${GROUP_UID}`,
      `  repositories in it: ${many
        .slice(0, 10)
        .map(({ uid, name }) => `"${name}" ${uid}`)
        .join(", ")}, …`,
      "  delete what is below it first",
    ]);
  });

  test("of a bound role lists the bindings that hold it", async () => {
    const uid = childOf(GROUP_UID);
    server.script((request) => {
      if (request.method === "DELETE") return failure(9, "bound");
      if (asksForOrganisation(request)) return shown;
      expect(`${request.path}?${request.rawQuery}`).toBe(
        `/iam/v2/roleBindings?role=${encodeURIComponent(uid)}&page_size=200`,
      );
      return json({ roleBindings: [{ uid: childOf(ROOT_UID, 2) }] });
    });
    expect(await failing(handlers("Role").delete(uid, sampleOf("Role")))).toBe(
      `deleting role "role" ${uid}: FAILED_PRECONDITION (HTTP 400): bound\n  bindings that use it: ${childOf(ROOT_UID, 2)}`,
    );
  });
});

describe("what a program has found in its arguments", () => {
  const missing: Failure = { property: "name", reason: "is missing", code: "PP1001" };
  const line = 'index.ts:1: Group "team": name is missing (PP1001)';
  const longLabel = `bindings.a\nb`;
  const all = (...lines: string[]) => ["wrong arguments of this program:", ...lines].join("\n  ");
  const check = (
    failures: Failure[],
    found?: object,
    inputs: Props = {},
    wrongSetting?: ConfigError,
    isHidden = true,
  ) =>
    checkProgramArguments(
      { check: () => failures } as unknown as Handlers,
      {},
      found === undefined ? inputs : ({ ...inputs, [WRONG_ARGUMENTS]: found } as Props),
      wrongSetting,
      () => isHidden,
    );

  test("a part of what may be a secret is quoted in no reason, wherever it begins", () => {
    const [pattern, address] = ["abc[s3cret-value", "s3cret.example"];
    const quoted = JSON.stringify('s3"cret');
    const inputs = { claimMatch: { subjectPattern: pattern, issuer: address, subject: 's3"cret-and-more' } };
    const failures = (
      [
        ["subjectPattern", `missing closing ]: \`${pattern.slice(3)}\``],
        ["subjectPattern", `missing closing ]: \`${pattern.slice(3, 9)}`],
        ["issuer", `must be a URL, not "${address}"; did you mean "https://${address}"?`],
        ["subject", `must be other than ${quoted}, as in "main"`],
        ["subject", `must be other than ${quoted.slice(0, 6)}`],
      ] as const
    ).map(([member, reason]): Failure => ({ property: `claimMatch.${member}`, reason, code: "PP1004" }));
    expect(check(failures, undefined, inputs).failures.map(({ reason }) => reason)).toEqual([
      "claimMatch.subjectPattern missing closing ]: `…` (PP1004)",
      "claimMatch.subjectPattern missing closing ]: `…` (PP1004)",
      'claimMatch.issuer must be a URL, not "…"; did you mean "…"? (PP1004)',
      'claimMatch.subject must be other than "…", as in "main" (PP1004)',
      'claimMatch.subject must be other than "…" (PP1004)',
    ]);
  });

  test("what may be a secret is quoted in no reason, whole or cut", () => {
    const [regex, long] = ["^(s3cret-value", "x".repeat(60)];
    const inputs = { claimMatch: { subjectPattern: regex }, capabilities: [long], name: "ab" };
    const failures: Failure[] = [
      {
        property: "claimMatch.subjectPattern",
        reason: `is no pattern: missing ): \`${regex}\``,
        code: "PP1004",
      },
      {
        property: "capabilities[0]",
        reason: `must begin with CAP_, not "${long.slice(0, 40)}…"`,
        code: "PP1009",
      },
      { property: "name", reason: 'must not be "ab"', code: "PP1004" },
    ];
    const reasons = (isHidden: boolean) =>
      check(failures, undefined, inputs, undefined, isHidden).failures.map(({ reason }) => reason);
    expect(reasons(true)).toEqual([
      "claimMatch.subjectPattern is no pattern: missing ): `…` (PP1004)",
      'capabilities[0] must begin with CAP_, not "…" (PP1009)',
      'name must not be "ab" (PP1004)',
    ]);
    expect(reasons(false)[1]).toContain(long.slice(0, 40));
  });

  test.each<[string, Failure[], { own: Failure[]; lines: string[]; said?: Failure[] } | undefined, string[]]>(
    [
      ["nothing", [], undefined, []],
      ["nothing, of this resource", [], { own: [], lines: [line] }, []],
      ["what the provider finds too", [missing], { own: [], lines: [line] }, [line]],
      ["what the provider cannot find", [], { own: [missing], lines: [line] }, [line]],
      ["more of its resources", [missing], { own: [], lines: ["a", line] }, [all("a", line)]],
      ["something else", [missing], { own: [], lines: ["a"] }, ["a", "name is missing (PP1001)"]],
      ["the same in other words", [missing], { own: [missing], lines: ["a", "b"] }, [all("a", "b")]],
      [
        "the same of a label that is not printed whole",
        [{ ...missing, property: printable(longLabel) }],
        { own: [{ ...missing, property: longLabel }], lines: ["a"] },
        ["a"],
      ],
      ["the same as the state has it", [missing], { own: [], lines: ["a"], said: [missing] }, ["a"]],
      [
        "the same mistake of another argument",
        [missing],
        { own: [{ ...missing, property: "kind" }], lines: ["a"] },
        ["a", "name is missing (PP1001)"],
      ],
    ],
  )("is said once: %s", (_name, failures, found, reasons) => {
    expect(check(failures, found)).toEqual({
      inputs: {},
      failures: reasons.map((reason) => ({ property: "", reason })),
    });
  });

  test("without the program the provider says it, and a wrong setting says all", () => {
    const inputs = { name: "" };
    expect(check([missing], undefined, inputs)).toEqual({
      inputs,
      failures: [{ property: "", reason: "name is missing (PP1001)" }],
    });
    const setting = new ConfigError("PP2001", "no address");
    expect(check([missing], { own: [], lines: [line] }, inputs, setting)).toEqual({
      inputs,
      failures: [{ property: "", reason: "no address (PP2001)" }],
    });
    const reasonAfter = (wrongSetting: string) =>
      check([], { own: [], lines: [], wrongSetting }, inputs, setting).failures[0]?.reason;
    // The error of the lookup is the only one.
    expect(reasonAfter("PP2001")).toBeUndefined();
    expect(reasonAfter("PP2002")).toBe("no address (PP2001)");
  });
});
