import type * as pulumi from "@pulumi/pulumi";
import { EVENT_KINDS, readSeverities } from "./advisory";
import type { AdvisorySeverity } from "./advisory";
import * as read from "./answers";
import * as take from "./arguments";
import type { LookupInputs } from "./arguments";
import { ask, askLater } from "./lookup";
import type { Lookup } from "./lookup";

/** Which documents to read. All by default. */
export interface GetAdvisoryDocumentsArgs {
  /** Only the document with this id: the name of a package. */
  id?: string;
  /** Only documents about these vulnerabilities, as in `CVE-…`. */
  cves?: string[];
}

/** Something that was found out or done about a vulnerability. */
export interface DocumentEvent {
  /** When: RFC 3339, as the API wrote it. */
  timestamp?: string;
  /** What it is, as in `detection` or `fixed`. */
  kind?: string;
  /** What an event of its kind says, as in `fixedVersion`: the API's JSON. */
  content: Record<string, unknown>;
}

/** What a document says about one vulnerability. */
export interface DocumentAdvisory {
  /** The id of the advisory. */
  id: string;
  /** What was found out and done, in the order of the answer. */
  events: DocumentEvent[];
  /** Other ids of the vulnerability, as in `CVE-…`. */
  aliases: string[];
  /** The namespace of the package; empty where there is none. */
  packageNamespace: string;
}

/** The security advisories of one package. Contract, section 7. */
export interface AdvisoryDocument {
  /** The id: the name of the package. */
  id: string;
  /** One for each vulnerability. */
  advisories: DocumentAdvisory[];
}

/** Selects vulnerabilities. */
export interface GetVulnerabilityMetadataArgs {
  /** Their ids, as in `CVE-2026-0001`. As many as need be: they are asked for in several requests. */
  ids: string[];
}

/** A text to read on. */
export interface VulnerabilityReference {
  /** What it is; left out where that is not said. */
  type?: string;
  /** Its address. */
  url: string;
}

/** What is known of a vulnerability wherever it is. Contract, section 7. */
export interface VulnerabilityMetadata {
  /** The id. */
  id: string;
  /** One line; empty where there is none. */
  summary: string;
  /** The whole text; empty where there is none. */
  details: string;
  /** Texts to read on. */
  references: VulnerabilityReference[];
  /** How severe it is, in different systems. */
  severities: AdvisorySeverity[];
}

const readDocuments = read.objects(
  read.object<AdvisoryDocument>({
    id: read.text,
    advisories: read.objects(
      read.object<DocumentAdvisory>({
        id: read.text,
        events: read.objects(
          read.object<DocumentEvent>({
            timestamp: read.time,
            ...read.kindOfEvent(EVENT_KINDS, ["timestamp"]),
          }),
        ),
        aliases: read.texts,
        packageNamespace: read.text,
      }),
    ),
  }),
);

const documents: Lookup<GetAdvisoryDocumentsArgs, AdvisoryDocument[]> = {
  call: "getAdvisoryDocuments",
  rules: {
    id: take.sentAs("id", take.text),
    cves: take.sentAs("cves", take.listOf(take.text)),
  },
  run: async (client, args) => {
    if (args.cves?.length === 0) return [];
    const path = "/advisory/v2/documents";
    return readDocuments(await client.listIn(path, await client.get(path, { ...args }), "documents"));
  },
};

const readMetadata = read.object<VulnerabilityMetadata>({
  id: read.text,
  summary: read.text,
  details: read.text,
  references: read.objects(read.object<VulnerabilityReference>({ type: read.enumName, url: read.text })),
  severities: readSeverities,
});

const MOST_IDS = 1000;

const metadata: Lookup<GetVulnerabilityMetadataArgs, VulnerabilityMetadata[]> = {
  call: "getVulnerabilityMetadata",
  rules: { ids: take.required(take.listOf(take.text)) },
  run: async (client, { ids }) => {
    const parts = await Promise.all(
      take.inParts("ids", ids, MOST_IDS).map(async (part) => {
        const answers: VulnerabilityMetadata[] = [];
        const options = { member: "vulnerabilityMetadata", key: ({ id }: { id?: unknown }) => id };
        for await (const item of client.list("/advisory/v2/metadata", { ids: part }, options)) {
          answers.push(readMetadata(item));
        }
        return answers;
      }),
    );
    const places = new Map([...new Set(ids)].map((id, place) => [id, place]));
    const placeOf = ({ id }: VulnerabilityMetadata): number => places.get(id) ?? places.size;
    const once = new Map(parts.flat().map((answer) => [answer.id, answer]));
    return [...once.values()].sort((one, other) => placeOf(one) - placeOf(other));
  },
};

/** Reads the security advisories of packages. */
export function getAdvisoryDocuments(args: GetAdvisoryDocumentsArgs = {}): Promise<AdvisoryDocument[]> {
  return ask(documents, args);
}

/** The same with inputs, for arguments that are known only when other resources are. */
export function getAdvisoryDocumentsOutput(
  args: LookupInputs<GetAdvisoryDocumentsArgs> = {},
): pulumi.Output<AdvisoryDocument[]> {
  return askLater(documents, args);
}

/** Reads what is known of vulnerabilities, in the order of `ids`, each once. What nothing is known of is left out. */
export function getVulnerabilityMetadata(
  args: GetVulnerabilityMetadataArgs,
): Promise<VulnerabilityMetadata[]> {
  return ask(metadata, args);
}

/** The same with inputs, for arguments that are known only when other resources are. */
export function getVulnerabilityMetadataOutput(
  args: LookupInputs<GetVulnerabilityMetadataArgs>,
): pulumi.Output<VulnerabilityMetadata[]> {
  return askLater(metadata, args);
}
