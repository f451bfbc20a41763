import {
  getAdvisoriesOutput,
  getAdvisoryDocumentsOutput,
  getAdvisoryOutput,
  getVulnerabilityMetadataOutput,
} from "pulumi-platform";

const recent = getAdvisoriesOutput({ orderBy: "created_at desc", limit: 5 });
export const ids = recent.apply((all) => all.map(({ advisoryId }) => advisoryId));

const first = getAdvisoryOutput({ uid: recent.apply(([advisory]) => advisory?.uid ?? "") });
export const aliases = first.aliases;

const documents = getAdvisoryDocumentsOutput({ id: "curl" });
export const advisories = documents.apply((all) => all.flatMap((document) => document.advisories));

const metadata = getVulnerabilityMetadataOutput({ ids: ["CVE-2025-1000"] });
export const summaries = metadata.apply((all) => all.map(({ summary }) => summary));
