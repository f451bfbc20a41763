import { getAdvisoryDocumentsOutput, getVulnerabilityMetadataOutput } from "pulumi-platform";

const documents = getAdvisoryDocumentsOutput({ id: "curl" });
export const advisories = documents.apply((all) => all.flatMap((document) => document.advisories));

const metadata = getVulnerabilityMetadataOutput({ ids: ["CVE-2025-1000"] });
export const summaries = metadata.apply((all) => all.map(({ summary }) => summary));
