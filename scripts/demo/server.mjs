// @ts-check
import { URLSearchParams } from "node:url";

/**
 * @typedef {Record<string, any>} Resource As the API returns it.
 * @typedef {Record<string, Resource[]>} State Resources by collection.
 *
 * @typedef {object} LoggedRequest
 * @property {number} seq
 * @property {string} method
 * @property {string} path
 * @property {string} query
 * @property {unknown} [body]
 * @property {number} [status]
 *
 * @typedef {object} Request
 * @property {string} method
 * @property {string} collection As in `/iam/v2/groups`.
 * @property {string} uid The resource's; of a POST the parent's.
 * @property {string} query
 * @property {string | undefined} updateMask
 * @property {unknown} body
 * @property {number | undefined} [status]
 */

const TIMEOUT_MS = 30_000;

/** The collections of the API that the demo speaks to directly. */
export const COLLECTIONS = {
  groups: "/iam/v2/groups",
  identities: "/iam/v2/identities",
  roles: "/iam/v2/roles",
  roleBindings: "/iam/v2/roleBindings",
  repos: "/registry/v2/repos",
};

/** An emulator, and the requests of the demo to it. */
export class Server {
  /** Names of all resources seen so far, by uid. @type {Map<string, string>} */
  #names = new Map();
  #lastSeq = 0;

  /** @param {{ url: string, token: string }} emulator */
  constructor({ url, token }) {
    this.url = url;
    this.token = token;
  }

  /**
   * One request of plain HTTP, as anybody with a token could make it.
   * @param {string} method
   * @param {string} target Path and query.
   * @param {unknown} [body]
   * @returns {Promise<{ status: number, body: any }>}
   */
  async send(method, target, body) {
    const response = await fetch(this.url + target, {
      method,
      headers: { authorization: `Bearer ${this.token}`, "content-type": "application/json" },
      body: body === undefined ? undefined : JSON.stringify(body),
      signal: AbortSignal.timeout(TIMEOUT_MS),
    });
    const text = await response.text();
    return { status: response.status, body: text === "" ? undefined : JSON.parse(text) };
  }

  /** @param {string} name */
  async #control(name) {
    const { status, body } = await this.send("GET", `/_emulator/${name}`);
    if (status !== 200) throw new Error(`the emulator responds with ${status} to GET /_emulator/${name}`);
    return body;
  }

  /** All that the server holds. @returns {Promise<State>} */
  async state() {
    /** @type {State} */
    const state = await this.#control("state");
    for (const resource of Object.values(state).flat()) {
      const { uid, name, identity, role, group } = resource;
      if (typeof uid !== "string") continue;
      if (name) this.#names.set(uid, name);
      // Built-in roles are not in the state, but bindings contain their names.
      if (role?.uid) this.#names.set(role.uid, role.name);
      if (identity && role && group)
        this.#names.set(uid, `${identity.name} as ${role.name} on ${group.name}`);
    }
    return state;
  }

  /** The requests of the API since the last call. @returns {Promise<Request[]>} */
  async newRequests() {
    /** @type {{ requests: LoggedRequest[] }} */
    const { requests } = await this.#control("requests");
    const fresh = requests.filter(({ seq }) => seq > this.#lastSeq);
    this.#lastSeq = requests.at(-1)?.seq ?? this.#lastSeq;
    return fresh.map(({ method, path: target, query, body, status }) => {
      const [, collection = target, uid = ""] = /^(\/\w+\/v2\/\w+)\/?(.*)$/.exec(target) ?? [];
      const updateMask = new URLSearchParams(query).get("updateMask") ?? undefined;
      return { method, collection, uid: decodeURIComponent(uid), query, updateMask, body, status };
    });
  }

  /** Puts names in place of uids. @param {string} text */
  withNames(text) {
    return text.replace(/[0-9a-f]{40}(?:\/[0-9a-f]{16})*/g, (uid) => {
      const name = this.#names.get(uid);
      return name === undefined ? `${uid.slice(0, 6)}…` : `<${name}>`;
    });
  }
}

/** @param {Request} request */
export function isWrite({ method }) {
  return method !== "GET" && method !== "HEAD";
}

/** The members of a body that are no objects: what an update mask has to name. @param {unknown} value */
export function leafPaths(value, prefix = "") {
  if (value === null || typeof value !== "object" || Array.isArray(value)) return [prefix];
  /** @type {string[]} */
  const paths = Object.entries(value).flatMap(([key, inner]) =>
    leafPaths(inner, prefix === "" ? key : `${prefix}.${key}`),
  );
  return paths;
}

/** @param {Resource} resource */
export function readParentUid({ uid }) {
  return uid.slice(0, Math.max(0, uid.lastIndexOf("/")));
}

/**
 * The content of a state without times, and without the uids of bindings, which change when a binding is
 * created again.
 * @param {State} state
 */
export function contentOf(state) {
  /** @type {Record<string, string[]>} */
  const content = {};
  for (const [collection, resources] of Object.entries(state)) {
    content[collection] = resources
      .map((resource) => {
        const rest = { ...resource, parent: readParentUid(resource) };
        for (const key of ["createTime", "updateTime", ...(collection === "roleBindings" ? ["uid"] : [])]) {
          delete (/** @type {Resource} */ (rest)[key]);
        }
        return JSON.stringify(rest);
      })
      .sort();
  }
  return content;
}
