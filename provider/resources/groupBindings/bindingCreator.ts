import { parentOf } from "../../api/uid";
import { handlerError, hasCode, refusedFields } from "../../engine/operations/messages";
import type { Api, Host } from "../../engine/description";
import { bindingBatch, COLLECTION } from "../grants";
import { listGrants } from "./existingGrants";
import type { ExistingGrants } from "./existingGrants";
import { identityRoleKey, quoteLabel, quoteLabels } from "./grant";
import type { Grant, LabelledGrant } from "./grant";
import { stringOrEmpty } from "../../engine/values/values";

/** Creates bindings, by one request where all of them are accepted. What it creates is added to `existing`. */
export class BindingCreator {
  /** What was sent again after a send without a response: that one may have taken effect too. */
  private readonly sentAgain = new Set<string>();
  /** What was sent without a response: it may exist, or come to exist, though no list has shown it. */
  private readonly sentInVain = new Map<string, Grant>();

  constructor(
    private readonly api: Api,
    private readonly host: Host,
    private readonly group: string,
    private readonly existing: ExistingGrants,
  ) {}

  async createAll(batch: readonly LabelledGrant[]): Promise<void> {
    try {
      await this.createAndVerify(batch, (open) => this.sendBatch(open));
    } catch (error) {
      if (!isRefusal(error)) {
        throw this.host.explain(
          `creating ${batch.length} bindings of group ${this.group} (${quoteLabels(batch)})`,
          error,
        );
      }
      // All or none: each goes alone, so that the one at fault gets the error; the likely one first.
      const suspects = new Set(
        refusedFields(error).map((field) => Number(/^requests\[(\d+)\]/.exec(field)?.[1] ?? -1)),
      );
      const ordered = [...batch].sort(
        (a, b) => Number(suspects.has(batch.indexOf(b))) - Number(suspects.has(batch.indexOf(a))),
      );
      for (const each of ordered) if (!this.exists(each)) await this.createOne(each);
    }
  }

  private async createOne(labelledGrant: LabelledGrant): Promise<void> {
    const [label, { identityUid, roleUid }] = labelledGrant;
    const address = this.api.address(COLLECTION, this.group);
    try {
      await this.createAndVerify([labelledGrant], async () => {
        const response = await this.api.post(address, { identityUid, roleUid }, { isIdempotent: false });
        return parentOf(stringOrEmpty(response["uid"])) === this.group;
      });
    } catch (error) {
      throw this.host.explain(`creating binding ${quoteLabel(label)} of group ${this.group}`, error);
    }
  }

  private async sendBatch(open: readonly LabelledGrant[]): Promise<boolean> {
    const body = bindingBatch.body(
      this.group,
      open.map(([, { identityUid, roleUid }]) => ({ identityUid, roleUid })),
    );
    const address = this.api.address(COLLECTION, undefined, `:${bindingBatch.verb}`);
    const response = await this.api.post(address, body, { isIdempotent: false });
    const created = response[bindingBatch.member];
    return Array.isArray(created) && created.length === open.length;
  }

  /**
   * After a lost response what exists belongs to the group, whoever made it, and only the rest is sent again. `send`
   * returns whether the response names all of them.
   */
  private async createAndVerify(
    items: readonly LabelledGrant[],
    send: (open: readonly LabelledGrant[]) => Promise<boolean>,
  ): Promise<void> {
    let lost: unknown;
    const findMissing = async () => {
      await this.findExisting(items, lost);
      return items.filter((item) => !this.exists(item));
    };
    await this.host.createAndVerify<true>({
      send: async () => {
        const open = items.filter((item) => !this.exists(item));
        if (lost !== undefined) for (const [, grant] of open) this.sentAgain.add(identityRoleKey(grant));
        if (await send(open)) {
          for (const [, grant] of open)
            this.existing.set(identityRoleKey(grant), { ...grant, name: "", uids: [] });
          return true;
        }
        const missing = await findMissing();
        if (missing.length === 0) return true;
        throw handlerError(
          "PP4004",
          `creating bindings of group ${this.group}: the server responded without an error, but did not create ${quoteLabels(missing)}`,
        );
      },
      findLostCreate: async (error) => {
        lost = error;
        for (const [, grant] of items) this.sentInVain.set(identityRoleKey(grant), grant);
        return (await findMissing()).length === 0 ? true : undefined;
      },
      explainUnknown: (error) => error,
      sleep: this.host.sleep,
    });
  }

  /** What may exist without being among the existing grants. */
  get unconfirmed(): Grant[] {
    return [...this.sentInVain].filter(([key]) => !this.existing.has(key)).map(([, grant]) => grant);
  }

  /** Names the grants that two bindings give. Both belong to the group's access and go together. */
  async reportDuplicates(): Promise<void> {
    if (this.sentAgain.size === 0) return;
    for (const [key, { name, uids }] of await listGrants(this.api, this.group)) {
      if (!this.sentAgain.has(key) || uids.length < 2) continue;
      this.host.warn(
        `group ${this.group} holds ${name} ${uids.length} times (${uids.join(", ")}): a request without a response took effect too; each grants the same, and all are deleted when the program removes this binding`,
      );
    }
  }

  private exists([, grant]: LabelledGrant): boolean {
    return this.existing.has(identityRoleKey(grant));
  }

  /** Adds to `existing` which of these the group holds by now. */
  private async findExisting(items: readonly LabelledGrant[], lost: unknown): Promise<void> {
    try {
      const now = await listGrants(this.api, this.group);
      for (const [, grant] of items) {
        const existing = now.get(identityRoleKey(grant));
        if (existing) this.existing.set(identityRoleKey(grant), existing);
      }
    } catch (error) {
      const message = (of: unknown) =>
        of instanceof Error ? of.message : "it does not say what was created";
      throw handlerError(
        "PP4001",
        `creating bindings of group ${this.group}: a response was lost (${message(lost)}), and the search for what was created failed (${message(error)}); run again: bindings that exist are not created twice`,
      );
    }
  }
}

/** Whether the server rejected the whole batch: nothing of it was created, and each binding is then sent alone. */
function isRefusal(error: unknown): boolean {
  return [
    "INVALID_ARGUMENT",
    "NOT_FOUND",
    "PERMISSION_DENIED",
    "FAILED_PRECONDITION",
    "ALREADY_EXISTS",
    "OUT_OF_RANGE",
    "UNIMPLEMENTED",
  ].some((code) => hasCode(error, code));
}
