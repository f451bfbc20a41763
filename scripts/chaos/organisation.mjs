// @ts-check
import { generateOrganisation, plainKinds } from "../lib/organisation/index.cjs";
import { loadFormats, loadSpecs, loadTables } from "./kinds.mjs";

/** How many of a hundred resources are of which kind; of kinds without a share 4 are. @type {Readonly<Record<string, number>>} */
const SHARES = {
  Group: 12,
  Identity: 20,
  Role: 8,
  RoleBinding: 22,
  Repo: 12,
  RepoReadme: 4,
  Tag: 8,
  AccountAssociation: 3,
  ExternalGroupRoleMapping: 3,
  TermsAcceptance: 1,
  IdentityProvider: 1,
  GroupInvite: 1,
  ScimToken: 1,
};

/**
 * The declarations of about so many resources, at least one of each kind.
 * @param {number} seed
 * @param {number} resources
 */
export function generateProgram(seed, resources) {
  const plain = plainKinds(loadSpecs(), loadTables(), loadFormats());
  const shares = { ...Object.fromEntries(plain.map(({ kind }) => [kind, 4])), ...SHARES };
  const counts = Object.fromEntries(
    Object.entries(shares).map(([kind, share]) => [kind, Math.max(1, Math.round((share * resources) / 100))]),
  );
  return generateOrganisation({ seed, counts, plain });
}
