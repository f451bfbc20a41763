import { resource } from "../program/resource";
import type { Api, ReadingApi } from "../fields/resourceSpec";
import { stringsIn } from "../fields/values";
import type { Props } from "../fields/values";
import { kind, list, string, type ArgsOf, type OfKind, type Resolved } from "../fields/builders";
import { parentGroup } from "./common";

const COLLECTION = "/iam/v2/terms";

const documentIdsOf = (inputs: Props): string[] => stringsIn(inputs["documentIds"]);

/** The documents that a group, or one above it, has accepted. */
async function listAccepted(api: ReadingApi, group: string): Promise<Set<string>> {
  const ids = new Set<string>();
  const path = api.resourcePath(COLLECTION, group);
  for await (const { docId } of api.list(path, {}, { member: "termsAcceptances" })) {
    if (typeof docId === "string") ids.add(docId);
  }
  return ids;
}

async function accept(api: Api, group: string, inputs: Props): Promise<Props> {
  const before = await listAccepted(api, group);
  const documentIds = documentIdsOf(inputs).filter((id) => !before.has(id));
  if (documentIds.length > 0) {
    await api.post(api.resourcePath(COLLECTION, group), { documentIds }, { isIdempotent: true });
  }
  return readAcceptance(api, group, inputs);
}

/** Keeps the terms that this resource names; those that others accepted are left out. */
function selectOwnDocuments(live: Props, olds: Props): Props {
  const ours = documentIdsOf(olds);
  const now = documentIdsOf(live);
  return ours.length === 0 ? live : { ...live, documentIds: ours.filter((id) => now.includes(id)) };
}

async function readAcceptance(api: ReadingApi, group: string, inputs: Props): Promise<Props> {
  return selectOwnDocuments({ uid: group, documentIds: [...(await listAccepted(api, group))] }, inputs);
}

const termsAcceptance = kind({
  kind: "TermsAcceptance",
  noun: "acceptance of terms",
  collection: COLLECTION,
  capabilities: {
    read: ["CAP_TERMS_LIST"],
    create: ["CAP_TERMS_LIST", "CAP_TERMS_ACCEPT"],
    update: ["CAP_TERMS_LIST", "CAP_TERMS_ACCEPT"],
    delete: [],
  },
  eventPrefix: "iam.terms",
  sharesParentUid: true,
  listing: { onDemand: true, singletonOf: "Group" },
  fields: {
    /** The uid of the group that accepts, for itself and all below. Changing it accepts anew, there. */
    parentUid: parentGroup,
    /**
     * The ids of the documents, as in `guardener-tos.v1`: an error that asks for them tells them, with their addresses.
     * Read them before you accept them. Order means nothing; taking one out withdraws nothing.
     */
    documentIds: list(string(), {
      required: true,
      unordered: true,
      harmless: "whoever accepts terms gets no access by it",
    }),
  },
  operations: {
    takesOver: true,
    create: (api, inputs) => accept(api, inputs["parentUid"] as string, inputs),
    get: readAcceptance,
    update: (api, uid, _olds, news) => accept(api, uid, news),
    delete: () => Promise.resolve(),
    selectRelevant: selectOwnDocuments,
  },
});

/** The arguments of a TermsAcceptance. */
export interface TermsAcceptanceArgs extends ArgsOf<typeof termsAcceptance>, OfKind {}
/**
 * Accepts terms of service for a group and all below it. An acceptance cannot be withdrawn: deleting this resource
 * takes it out of the state and changes nothing at the server.
 */
export class TermsAcceptance extends resource<TermsAcceptanceArgs>(termsAcceptance) {}
export interface TermsAcceptance extends Resolved<TermsAcceptanceArgs> {}
