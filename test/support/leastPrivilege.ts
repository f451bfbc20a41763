import type { Emulator } from "../../emulator";
import { jwt, OIDC_ISSUER } from "./oidc";
import { call } from "./wire";

/** An organisation at an emulator that enforces capabilities, and a caller that holds one role on it. */
export class RestrictedCaller {
  private readonly groups = new Set<string>();

  private constructor(
    private readonly emulator: Emulator,
    readonly identity: string,
    private readonly role: string,
    /** The caller's access token. */
    readonly token: string,
  ) {}

  static async below(emulator: Emulator, org: string): Promise<RestrictedCaller> {
    const create = async (path: string, body: unknown): Promise<string> =>
      String((await call(emulator, "POST", `/iam/v2/${path}/${org}`, body))["uid"]);
    emulator.settings({ enforceCapabilities: true });
    const subject = "repo:acme/platform";
    const identity = await create("identities", {
      name: "job",
      claimMatch: { issuer: OIDC_ISSUER, subject },
    });
    const role = await create("roles", { name: "job", capabilities: ["CAP_IAM_GROUPS_LIST"] });
    const query = new URLSearchParams({ aud: emulator.url, identity }).toString();
    const oidc = jwt({ iss: OIDC_ISSUER, sub: subject, aud: emulator.url });
    const { token } = await call({ url: emulator.url, token: oidc }, "POST", `/sts/exchange?${query}`);
    const caller = new RestrictedCaller(emulator, identity, role, String(token));
    await caller.bind(org);
    return caller;
  }

  /** Lets the caller hold its role on another organisation too. */
  async bind(group: string): Promise<void> {
    const binding = { identityUid: this.identity, roleUid: this.role };
    if (!this.groups.has(group)) await call(this.emulator, "POST", `/iam/v2/roleBindings/${group}`, binding);
    this.groups.add(group);
  }

  /** Lets the caller hold these capabilities in one group below another, by a role of its own. */
  async holdsBelow(group: string, capabilities: readonly string[]): Promise<void> {
    const create = async (path: string, body: unknown): Promise<string> =>
      String((await call(this.emulator, "POST", `/iam/v2/${path}`, body))["uid"]);
    const below = await create(`groups/${group}`, { name: "below" });
    const roleUid = await create(`roles/${group}`, { name: "below", capabilities });
    await create(`roleBindings/${below}`, { identityUid: this.identity, roleUid });
  }

  /** Gives the caller's role exactly these capabilities. The API refuses a role without any, so none is `CAP_VERSION_LIST`. */
  async holds(capabilities: readonly string[]): Promise<void> {
    const held = capabilities.length > 0 ? capabilities : ["CAP_VERSION_LIST"];
    await call(this.emulator, "PATCH", `/iam/v2/roles/${this.role}?updateMask=capabilities`, {
      capabilities: held,
    });
  }
}
