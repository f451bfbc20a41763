import { resource } from "../program/resource";
import type { Api, Failure } from "../fields/resourceSpec";
import type { Json, Props } from "../fields/values";
import { kind, string, type ArgsOf, type OfKind, type Resolved } from "../fields/builders";
import { forPeople, parentRepo } from "./common";

const COLLECTION = "/registry/v2/repos";
/** The second one is kept by the platform for its own staff. */
const TO_WRITE = ["CAP_REPO_UPDATE", "CAP_REPO_INTERNAL_ADMIN"];

const REFUSAL_HINT =
  "writing a readme needs CAP_REPO_UPDATE and CAP_REPO_INTERNAL_ADMIN, which customers usually cannot get: ask the platform's support, or leave the readme out; reading one needs CAP_REPO_LIST";

const REFUSED: readonly { readonly html: RegExp; readonly what: string }[] = [
  { html: /<\s*(\/\s*)?script\b/i, what: "<script>" },
  { html: /<[a-z][^<>]*\son[a-z]+\s*=/i, what: "an attribute that runs a script, as in onclick=" },
  {
    html: /(\]\s?\(|\]:|\b(href|src)\s*=)\s*(["'<]\s*)?javascript:|<javascript:/i,
    what: "a link to javascript:",
  },
];

/** The gateway takes messages of 4 MiB; a little of that is not content. */
const MOST_BYTES = 4 * 1024 * 1024 - 1024;

function checkContent(content: Json | undefined): Failure[] {
  if (typeof content !== "string") return [];
  const property = "content";
  const failures: Failure[] = REFUSED.filter(({ html }) => html.test(content)).map(({ what }) => ({
    property,
    reason: `must not contain ${what}: HTML that a sanitiser would change is refused`,
    code: "PP1004",
  }));
  const isTooLong = Buffer.byteLength(content) > MOST_BYTES;
  return isTooLong
    ? [...failures, { property, reason: "must be smaller than 4 MiB", code: "PP1005" }]
    : failures;
}

/** The whole text, each time. A response may leave the uid out: it is the one of the address. */
async function writeReadme(
  api: Api,
  uid: string,
  content: Json | undefined,
): Promise<Record<string, unknown>> {
  const response = await api.patchAt(api.resourcePath(COLLECTION, uid, "/readme"), { content }, ["content"]);
  return { ...response, uid };
}

const repoOf = (inputs: Props): string => inputs["parentUid"] as string;

const repoReadme = kind({
  kind: "RepoReadme",
  noun: "readme",
  collection: COLLECTION,
  capabilities: { read: ["CAP_REPO_LIST"], create: TO_WRITE, update: TO_WRITE, delete: TO_WRITE },
  sharesParentUid: true,
  listing: { onDemand: true, singletonOf: "Repo" },
  fields: {
    /** The uid of the repository that it describes. Changing it replaces the readme. */
    parentUid: parentRepo,
    /**
     * The text in Markdown; not empty. The platform refuses HTML that a sanitiser would change. A preview
     * finds scripts, attributes such as `onclick=` and links to `javascript:`, in code blocks too; what else
     * its sanitiser refuses shows when it is written.
     */
    content: string({ required: true, ...forPeople }),
  },
  validate: ({ content }) => checkContent(content),
  operations: {
    takesOver: true,
    create: (api, inputs) => writeReadme(api, repoOf(inputs), inputs["content"]),
    get: async (api, uid) => {
      const readme = await api.get(api.resourcePath(COLLECTION, uid, "/readme"));
      // The request succeeds for every repository; an empty string means that there is no readme only in a response about this one.
      return readme["uid"] === uid && !readme["content"] ? undefined : readme;
    },
    update: (api, uid, _olds, news) => writeReadme(api, uid, news["content"]),
    delete: async (api, uid) => {
      await writeReadme(api, uid, "");
    },
  },
  refusalHint: REFUSAL_HINT,
});

/** The arguments of a RepoReadme. */
export interface RepoReadmeArgs extends ArgsOf<typeof repoReadme>, OfKind {}
/**
 * The readme of a repository; its uid is the repository's.
 *
 * A repository has one readme: making it takes the place of a text that is there already, deleting it
 * empties the text. Of a synced repository the readme comes from the source: do not declare one. Writing
 * needs a capability that the platform may keep to its own staff: a refusal says so.
 */
export class RepoReadme extends resource<RepoReadmeArgs>(repoReadme) {}
export interface RepoReadme extends Resolved<RepoReadmeArgs> {}
