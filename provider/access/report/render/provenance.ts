import type { Report } from "../report";
import type { Repository } from "./options";
import { plural } from "./words";

/** What a host calls a proposed change. */
export const proposalWord = (repository: Repository | undefined): string =>
  repository?.host === "gitlab" ? "merge request" : "pull request";

export function readDigest(report: Report): string | undefined {
  return report.command === "review" ? report.digest : undefined;
}

/** How old something is: two units at most. */
export function ageOf(seconds: number): string {
  const minutes = Math.floor(seconds / 60);
  if (minutes < 120) return plural(minutes, "minute");
  const hours = Math.floor(minutes / 60);
  return hours < 48 ? plural(hours, "hour") : plural(Math.floor(hours / 24), "day");
}

/** Where a report comes from, in parts for people. */
export function provenanceParts(report: Report, repository?: Repository): string[] {
  const { commit, pullRequest, time, cli, package: version, inventoryAgeSeconds } = report.provenance;
  const plan = report.command === "drift" ? undefined : report.plan;
  const reviewDigest = report.command === "verify" ? report.reviewDigest : undefined;
  return [
    commit === undefined ? undefined : `commit ${commit.slice(0, 12)}`,
    pullRequest === undefined ? undefined : `${proposalWord(repository)} ${pullRequest}`,
    time,
    inventoryAgeSeconds === undefined ? undefined : `inventory ${ageOf(inventoryAgeSeconds)} old`,
    plan === undefined ? undefined : `update plan ${plan.digest.slice(0, 12)}`,
    reviewDigest === undefined ? undefined : `review ${reviewDigest.slice(0, 12)}`,
    cli === undefined ? undefined : `Pulumi ${cli}`,
    `pulumi-platform ${version}`,
  ].filter((part) => part !== undefined);
}
