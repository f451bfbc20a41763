import {
  getGroupOutput,
  getIdentitiesOutput,
  getIdentityOutput,
  lookupIdentityOutput,
} from "pulumi-platform";

const acme = getGroupOutput({ name: "acme" });
const deployer = getIdentityOutput({ name: "ci-deployer", parentUid: acme.uid });
const all = getIdentitiesOutput({ descendantsOf: acme.uid });

export const deployerUid = deployer.uid;
export const identityNames = all.apply((identities) => identities.map(({ name }) => name));
// The uid that a person has, even before the first sign-in.
export const ada = lookupIdentityOutput({ issuer: "https://login.example.com", subject: "ada" }).uid;
