import type { Handlers } from "../../../provider/lifecycle/handlers";
import type { Props } from "../../../provider/fields/values";
import { REPO_UID, sampleOf } from "../support/samples";
import { clientOf, errorOf, missing, ScriptedServer } from "../support/server";
import type { Replier } from "../support/server";
import { handlersAt } from "../support/handlerStack";

const UID = `${REPO_UID}/4444444444444444`;
const OTHER = `sha256:${"0a1b".repeat(16)}`;
const BELOW = `POST /registry/v2/tags/${REPO_UID}`;
const READ = `GET /registry/v2/tags/${UID}`;

const server = ScriptedServer.ofSuite();

const handlers = (maxRetries = 0): Handlers => handlersAt("Tag", clientOf(server, { maxRetries }));

const tag: Props = { ...sampleOf("Tag"), deprecated: true };

/** A server that has a tag, and takes what it is sent. */
const over = (first: Props): Replier => {
  let live = first;
  return ({ method, body }) => {
    if (method === "POST") live = body as Props;
    return { json: { ...live, uid: UID } };
  };
};

describe("a tag", () => {
  test.each<[string, Props, Props]>([
    ["digest", { digest: OTHER }, { deprecated: undefined }],
    ["digest", { digest: OTHER }, { bundles: ["ai"] }],
    ["deprecated", { deprecated: false }, { digest: OTHER }],
    ["bundles", { bundles: ["ai"] }, { digest: OTHER }],
  ])("keeps the %s that somebody else gave it, and says so", async (field, byHand, change) => {
    server.script(over({ ...tag, ...byHand }));
    const error = await errorOf(handlers().update(UID, tag, { ...tag, ...change }));
    const empty = "deprecated" in change ? { deprecated: false } : change;
    const { name, digest, deprecated, bundles } = tag;
    const posted = server.requests.filter(({ method }) => method === "POST").at(-1) ?? server.last();
    expect(posted.body).toEqual({ name, digest, deprecated, bundles, ...byHand, ...empty });
    expect(error).toMatchObject({ id: UID, properties: { [field]: null } });
    expect(error.message).toContain(`updated, but someone else changed ${field} `);
  });

  test("that is gone is not created again by an update", async () => {
    server.script([missing(UID)]);
    await expect(handlers().update(UID, tag, { ...tag, digest: OTHER })).rejects.toMatchObject({
      errorCode: "PP3405",
      message: expect.stringContaining("is gone: run pulumi up --refresh") as string,
    });
    expect(server.calls).toEqual([READ]);
  });

  test("whose responses are all lost fails, without a search", async () => {
    server.script(() => ({ cut: "before" }));
    const error = await errorOf(handlers(1).create(tag));
    expect(error.message).toContain(`creating tag "1.27" below ${REPO_UID}`);
    expect(server.calls).toEqual([BELOW, BELOW]);
  });
});
