import { getGroupOutput, getTermsAcceptancesOutput } from "pulumi-platform";

const acme = getGroupOutput({ name: "acme" });
const acceptances = getTermsAcceptancesOutput({ groupUid: acme.uid });

export const accepted = acceptances.apply((all) => all.map(({ docId }) => docId));
