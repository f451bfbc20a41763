// @ts-check
import diagnostics from "node:diagnostics_channel";
import { startEmulator } from "../lib/emulator.mjs";

const uid = (/** @type {number} */ number) => number.toString(16).padStart(16, "0");
const ROOT_UID = "b3".repeat(20);
const GROUP_UID = `${ROOT_UID}/${uid(1)}`;
const ROLES = [`${ROOT_UID}/${uid(2)}`, `${ROOT_UID}/${uid(3)}`];

/**
 * @typedef {object} Requests
 * @property {Record<string, number>} byMethod `GET`, `POST`, …; a list is `LIST`, a batch `BATCH`.
 * @property {number} total
 * @property {number} connections
 */

/** The emulator with an organisation: a group, two roles, as many identities as bindings are wanted. */
export class BenchServer {
  connections = 0;

  /** @param {any} emulator @param {number} size */
  constructor(emulator, size) {
    this.emulator = emulator;
    this.size = size;
    this.sockets = new WeakSet();
    /** @param {any} message */
    this.count = ({ socket }) => {
      if (this.sockets.has(socket)) return;
      this.sockets.add(socket);
      this.connections += 1;
    };
    diagnostics.subscribe("http.server.request.start", this.count);
  }

  /** @param {{ root: string, size: number, latencyMs: number }} options */
  static async start({ root, size, latencyMs }) {
    const identities = Array.from({ length: size }, (_, index) => ({
      uid: identityUid(index),
      name: `identity-${index}`,
    }));
    const seed = {
      groups: [
        { uid: ROOT_UID, name: "bench", kind: "ORG_KIND_CUSTOMER" },
        { uid: GROUP_UID, name: "group" },
      ],
      roles: ROLES.map((role, index) => ({
        uid: role,
        name: `role-${index}`,
        capabilities: ["CAP_IAM_GROUPS_LIST"],
      })),
      identities,
    };
    return new BenchServer(await startEmulator(root, { seed, latencyMs }), size);
  }

  /** What a program declares. @param {number} role */
  declared(role) {
    return {
      baseUrl: this.emulator.url,
      parentUid: GROUP_UID,
      bindings: Array.from({ length: this.size }, (_, index) => ({
        identityUid: identityUid(index),
        roleUid: ROLES[role],
      })),
    };
  }

  /** How many bindings the server holds with this role. @param {number} role */
  holds(role) {
    const bindings = /** @type {{ roleUid?: string }[]} */ (this.emulator.state().roleBindings ?? []);
    return bindings.filter(({ roleUid }) => roleUid === ROLES[role]).length;
  }

  /** What was asked since the last call. @returns {Requests} */
  requests() {
    /** @type {Record<string, number>} */
    const byMethod = {};
    const { requests } = this.emulator;
    for (const { method, rpc = "" } of requests) {
      const [, custom] = /\/(List|Batch)/.exec(rpc) ?? [];
      const name = custom?.toUpperCase() ?? method;
      byMethod[name] = (byMethod[name] ?? 0) + 1;
    }
    const result = { byMethod, total: requests.length, connections: this.connections };
    this.emulator.clearRequests();
    this.connections = 0;
    return result;
  }

  async close() {
    diagnostics.unsubscribe("http.server.request.start", this.count);
    await this.emulator.close();
  }
}

/** @param {number} index */
function identityUid(index) {
  return `${ROOT_UID}/${uid(0x1000 + index)}`;
}
