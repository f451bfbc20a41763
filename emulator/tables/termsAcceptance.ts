import { list, messageType, text, timestamp } from "../gateway/fields";
import type { TermsDocument } from "../gateway/status";
import { invalidArgument, termsNotAccepted } from "../gateway/status";
import type { Message } from "../gateway/fields";
import type { PlatformService } from "../service/platformService";
import type { Entry } from "../service/store";
import type { KindTable, AuthenticatedCall } from "./kindTable";
import { pageFields, pageOf } from "./methods";

const service = "iam.v2.TermsService";

const acceptance = messageType({
  docId: text(),
  acceptedBy: text(),
  orgUid: text(),
  createTime: timestamp({ outputOnly: true }),
});

const accepted = messageType({ group: text(), documentIds: list(text()) });

/** Can be accepted though nothing requires it, so that there is something to accept without any setting. */
const optionalDocument: TermsDocument = {
  id: "guardener-tos.v1",
  label: "Terms of Service",
  url: "https://example.com/terms",
};

export const termsAcceptance: KindTable = {
  kind: "TermsAcceptance",
  prefix: "/iam/v2",
  collection: "termsAcceptances",
  message: acceptance,
  methods: [],
  custom: [
    {
      rpc: `${service}/AcceptTerms`,
      capabilities: ["TERMS_ACCEPT"],
      verb: "POST",
      pattern: "/iam/v2/terms/{group=**}",
      body: "*",
      request: accepted,
      response: accepted,
      run: acceptTerms,
      event: { name: "iam.terms.accepted", subject: "group" },
    },
    {
      rpc: `${service}/ListTermsAcceptances`,
      capabilities: ["TERMS_LIST"],
      verb: "GET",
      pattern: "/iam/v2/terms/{group=**}",
      request: messageType({ group: text(), ...pageFields }),
      response: pageOf("termsAcceptances", acceptance),
      run({ request }, platform) {
        const group = platform.requireEntry("Group", request.group).uid;
        const shown = new Set(acceptancesFor(group, platform));
        return platform.list("TermsAcceptance", request, (entry) => shown.has(entry));
      },
    },
  ],
  parent: "Group",
  isDeletedWithParent: true,
  checkCreateBelow(parent, platform) {
    const { requiredTerms } = platform.settings;
    if (requiredTerms.length === 0) return;
    const known = new Set(acceptancesFor(parent, platform).map(({ value }) => value.docId));
    const missing = requiredTerms.filter(({ id }) => !known.has(id));
    if (missing.length > 0) throw termsNotAccepted(missing);
  },
};

/** Those of the group that holds this uid, and of all groups above it. */
function acceptancesFor(uid: string, { store }: PlatformService): Entry[] {
  const steps = uid.split("/");
  return steps
    .flatMap((_, index) => store.childrenOf({ kind: "Group", uid: steps.slice(0, index + 1).join("/") }))
    .filter(({ kind }) => kind === "TermsAcceptance");
}

function acceptTerms({ request, caller }: AuthenticatedCall, platform: PlatformService): Message {
  const group = platform.requireEntry("Group", request.group).uid;
  const documentIds = [...new Set((request.documentIds ?? []) as string[])];
  const offered = [...platform.settings.requiredTerms, optionalDocument].map(({ id }) => id);
  const unknown = documentIds.find((id) => !offered.includes(id));
  if (documentIds.length === 0 || unknown !== undefined) {
    const description =
      unknown === undefined ? "documentIds is required" : `there is no document "${unknown}"`;
    throw invalidArgument([{ field: "documentIds", description }]);
  }
  const before = new Set(
    acceptancesFor(group, platform)
      .filter(({ parent }) => parent === group)
      .map(({ value }) => value.docId),
  );
  for (const docId of documentIds.filter((id) => !before.has(id))) {
    const value = { docId, acceptedBy: caller.uid, orgUid: group };
    platform.put("TermsAcceptance", platform.store.newUid(group), group, value);
  }
  return { group, documentIds };
}
