import { getGroupInvitesOutput, getGroupOutput } from "pulumi-platform";

const acme = getGroupOutput({ name: "acme" });
const invites = getGroupInvitesOutput({ descendantsOf: acme.uid });

export const invited = invites.apply((all) =>
  all.map(({ email, expirationTime }) => ({ email, expirationTime })),
);
