import type { Inventory } from "../../access/documents/inventory";
import { timestampNanos } from "../../fields/formats";
import type { Provenance } from "../../access/report/report";
import type { Flags } from "../framework/flags";
import { readCommit } from "../post/event";
import { readEnvironment } from "../../settings/environment";
import type { Environment } from "../../settings/environment";
import { ownVersion } from "../../text/packageVersion";

/** The flags that say where a report comes from. */
export const provenanceFlags = {
  commit: {
    type: "string",
    value: "SHA",
    form: { pattern: /^[0-9a-f]{7,64}$/, must: "a commit in hex, as in 1f2e3d4c" },
    default: "that of GitHub Actions or GitLab CI",
    help: "the commit of the report",
  },
  "pull-request": {
    type: "string",
    value: "NUMBER",
    form: { pattern: /^\d{1,12}$/, must: "a number, as in 12" },
    default: "as for --commit",
    help: "the pull request or merge request",
  },
} as const satisfies Flags;

/** The commit that the job is about; undefined where its event cannot be read, since provenance is no reason to fail. */
function tryReadCommit(env: Environment): string | undefined {
  try {
    return readCommit(env);
  } catch {
    return undefined;
  }
}

/** GITHUB_SHA of a pull request is a merge commit that GitHub creates; the event names the commit that was pushed. */
function fromEnvironment(env: Environment): { commit?: string; pullRequest?: string } {
  const commits = [tryReadCommit(env), env["GITHUB_SHA"]];
  const [, fromRef] = /^refs\/pull\/(\d+)\//.exec(env["GITHUB_REF"] ?? "") ?? [];
  const numbers = [fromRef, env["CI_MERGE_REQUEST_IID"]];
  return {
    commit: commits.find((text) => text !== undefined && provenanceFlags.commit.form.pattern.test(text)),
    pullRequest: numbers.find(
      (text) => text !== undefined && provenanceFlags["pull-request"].form.pattern.test(text),
    ),
  };
}

/** Where a report comes from: flags first, then the environment. */
export function readProvenance(
  flags: { readonly commit?: string | undefined; readonly "pull-request"?: string | undefined },
  sources: {
    readonly now: Date;
    readonly inventory?: Inventory | undefined;
    readonly cli?: string | undefined;
  },
  env: Environment = readEnvironment(),
): Provenance {
  const { commit, "pull-request": pullRequest } = flags;
  const { now, inventory, cli } = sources;
  const taken = inventory && timestampNanos(inventory.takenAt);
  const known = fromEnvironment(env);
  return {
    commit: commit ?? known.commit,
    pullRequest: pullRequest ?? known.pullRequest,
    time: now.toISOString(),
    cli,
    package: ownVersion(),
    inventoryTime: inventory?.takenAt,
    inventoryAgeSeconds:
      taken === undefined
        ? undefined
        : Math.max(0, Math.floor((now.getTime() - Number(taken / 1_000_000n)) / 1000)),
  };
}
