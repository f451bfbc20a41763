import { getAdvisoriesOutput, getAdvisoryOutput } from "pulumi-platform";

const recent = getAdvisoriesOutput({ orderBy: "created_at desc", limit: 5 });
export const ids = recent.apply((all) => all.map(({ advisoryId }) => advisoryId));

const first = getAdvisoryOutput({ uid: recent.apply(([advisory]) => advisory?.uid ?? "") });
export const aliases = first.aliases;
