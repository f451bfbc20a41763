import {
  checkAccountAssociationOutput,
  getAccountAssociationOutput,
  getAccountAssociationsOutput,
} from "pulumi-platform";

const accounts = getAccountAssociationOutput({ name: "accounts" });
const all = getAccountAssociationsOutput({});

export const isReady = checkAccountAssociationOutput({
  uid: accounts.uid,
  provider: "ACCOUNT_PROVIDER_TYPE_AMAZON",
}).ready;
export const associations = all.apply((each) => each.map(({ name }) => name));
