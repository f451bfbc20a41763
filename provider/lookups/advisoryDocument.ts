import { decode } from "../fields/responseDecoders";
import type { Decoded } from "../fields/builders";
import { decodeSeverities, eventKind } from "./advisoryParts";
import { splitByUrlLength } from "../http/query";
import * as take from "./arguments";
import type { ArgumentsOf } from "./arguments";
import { functionsOf } from "./invoke";

const documentArguments = {
  /** Only the document with this id: the name of a package. */
  id: take.text,
  /** Only documents about these vulnerabilities, as in `CVE-…`. */
  cves: take.texts,
};

/** Which documents to read. All by default. */
export interface GetAdvisoryDocumentsArgs extends ArgumentsOf<typeof documentArguments> {}

const event = {
  /** When: RFC 3339, as the API wrote it. */
  timestamp: decode.time,
};

/** Something that was found out or done about a vulnerability. */
export interface DocumentEvent extends Decoded<typeof event> {
  /** What it is, as in `detection` or `fixed`. */
  kind?: string;
  /** The data of an event of its kind, as in `fixedVersion`: the API's JSON. */
  content: Record<string, unknown>;
}

const advisory = {
  /** The id of the advisory. */
  id: decode.string,
  /** What was found out and done, in the order of the response. */
  events: decode.objects(decode.object<DocumentEvent>({ ...event, ...eventKind(["timestamp"]) })),
  /** Other ids of the vulnerability, as in `CVE-…`. */
  aliases: decode.strings,
  /** The namespace of the package; empty where there is none. */
  packageNamespace: decode.string,
};

/** What a document states about one vulnerability. */
export interface DocumentAdvisory extends Decoded<typeof advisory> {}

const document = {
  /** The id: the name of the package. */
  id: decode.string,
  /** One for each vulnerability. */
  advisories: decode.objects(decode.object<DocumentAdvisory>(advisory)),
};

/** The security advisories of one package. */
export interface AdvisoryDocument extends Decoded<typeof document> {}

const metadataArguments = {
  /** Their ids, as in `CVE-2026-0001`. Many ids are sent in several requests. */
  ids: { ...take.required(take.texts), canSplit: () => true },
};

/** Selects vulnerabilities. */
export interface GetVulnerabilityMetadataArgs extends ArgumentsOf<typeof metadataArguments> {}

const reference = {
  /** Its type; left out if the response has none. */
  type: decode.enumName,
  /** Its address. */
  url: decode.string,
};

/** A text to read on. */
export interface VulnerabilityReference extends Decoded<typeof reference> {}

const vulnerability = {
  /** The id. */
  id: decode.string,
  /** One line; empty where there is none. */
  summary: decode.string,
  /** The whole text; empty where there is none. */
  details: decode.string,
  /** Texts to read on. */
  references: decode.objects(decode.object<VulnerabilityReference>(reference)),
  /** How severe it is, in different systems. */
  severities: decodeSeverities,
};

/** What is known of a vulnerability wherever it is. */
export interface VulnerabilityMetadata extends Decoded<typeof vulnerability> {}

const decodeDocuments = decode.objects(decode.object<AdvisoryDocument>(document));

const documents = functionsOf<GetAdvisoryDocumentsArgs, AdvisoryDocument[]>({
  call: "getAdvisoryDocuments",
  takes: documentArguments,
  run: async (client, args) => {
    if (args.cves?.length === 0) return [];
    const path = "/advisory/v2/documents";
    return decodeDocuments(await client.extractList(path, await client.get(path, { ...args }), "documents"));
  },
});

const decodeMetadata = decode.object<VulnerabilityMetadata>(vulnerability);

const MOST_IDS = 1000;

const metadata = functionsOf<GetVulnerabilityMetadataArgs, VulnerabilityMetadata[]>({
  call: "getVulnerabilityMetadata",
  takes: metadataArguments,
  run: async (client, { ids }) => {
    const parts = await Promise.all(
      splitByUrlLength("ids", ids, { maxValues: MOST_IDS }).map(async (part) => {
        const responses: VulnerabilityMetadata[] = [];
        const options = { member: "vulnerabilityMetadata", key: ({ id }: { id?: unknown }) => id };
        for await (const item of client.list("/advisory/v2/metadata", { ids: part }, options)) {
          responses.push(decodeMetadata(item));
        }
        return responses;
      }),
    );
    const places = new Map([...new Set(ids)].map((id, place) => [id, place]));
    const findPosition = ({ id }: VulnerabilityMetadata): number => places.get(id) ?? places.size;
    const once = new Map(parts.flat().map((response) => [response.id, response]));
    return [...once.values()].sort((one, other) => findPosition(one) - findPosition(other));
  },
});

/** Reads the security advisories of packages. */
export const getAdvisoryDocuments = documents.call;

/** Returns what `getAdvisoryDocuments` returns, as an output. Its arguments can be outputs of other resources. */
export const getAdvisoryDocumentsOutput = documents.output;

/** Reads what is known of vulnerabilities, in the order of `ids`, each once. What nothing is known of is left out. */
export const getVulnerabilityMetadata = metadata.call;

/** Returns what `getVulnerabilityMetadata` returns, as an output. Its arguments can be outputs of other resources. */
export const getVulnerabilityMetadataOutput = metadata.output;
