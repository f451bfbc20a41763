import type { Emulator } from "../../emulator";
import { identityFor, jwt, OIDC_ISSUER } from "./oidc";
import { call, create } from "./wire";

/** An organisation at an emulator that enforces capabilities, and a caller that holds one role on it. */
export class RestrictedCaller {
  private constructor(
    private readonly emulator: Emulator,
    readonly identity: string,
    private readonly role: string,
    /** The caller's access token. */
    readonly token: string,
    private readonly groups: Set<string>,
  ) {}

  static async below(emulator: Emulator, org: string): Promise<RestrictedCaller> {
    emulator.settings({ enforceCapabilities: true });
    const subject = "repo:acme/platform";
    const capabilities = ["CAP_IAM_GROUPS_LIST"];
    const role = await create(emulator, `/iam/v2/roles/${org}`, { name: "job", capabilities });
    const identity = await identityFor(emulator, subject, org, role);
    const query = new URLSearchParams({ aud: emulator.url, identity }).toString();
    const oidc = jwt({ iss: OIDC_ISSUER, sub: subject, aud: emulator.url });
    const { token } = await call({ url: emulator.url, token: oidc }, "POST", `/sts/exchange?${query}`);
    return new RestrictedCaller(emulator, identity, role, String(token), new Set([org]));
  }

  /** Lets the caller hold its role on another organisation too. */
  async bind(group: string): Promise<void> {
    const binding = { identityUid: this.identity, roleUid: this.role };
    if (!this.groups.has(group)) await call(this.emulator, "POST", `/iam/v2/roleBindings/${group}`, binding);
    this.groups.add(group);
  }

  /** Lets the caller hold these capabilities in one group below another, by a role of its own. */
  async holdsBelow(group: string, capabilities: readonly string[]): Promise<void> {
    const below = await create(this.emulator, `/iam/v2/groups/${group}`, { name: "below" });
    const role = { name: "below", capabilities };
    const roleUid = await create(this.emulator, `/iam/v2/roles/${group}`, role);
    await create(this.emulator, `/iam/v2/roleBindings/${below}`, { identityUid: this.identity, roleUid });
  }

  /** Gives the caller's role exactly these capabilities. The API refuses a role without any, so none is `CAP_VERSION_LIST`. */
  async holds(capabilities: readonly string[]): Promise<void> {
    const held = capabilities.length > 0 ? capabilities : ["CAP_VERSION_LIST"];
    await call(this.emulator, "PATCH", `/iam/v2/roles/${this.role}?updateMask=capabilities`, {
      capabilities: held,
    });
  }
}
