import { getArtifactCountOutput, getArtifactsOutput, getArtifactVersionsOutput } from "pulumi-platform";

const found = getArtifactsOutput({ ecosystems: ["ECOSYSTEM_PYTHON"], query: "numpy", limit: 1 });
const artifactUid = found.apply(([numpy]) => numpy?.uid ?? "");
const versions = getArtifactVersionsOutput({ artifactUid, limit: 10 });

export const latest = versions.apply(([newest]) => newest?.version);
export const counts = getArtifactCountOutput({ ecosystems: ["ECOSYSTEM_JAVA", "ECOSYSTEM_PYTHON"] }).counts;
