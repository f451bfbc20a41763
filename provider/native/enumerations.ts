/* The enumerations, as the code that `pulumi import` prints names them. `npm run docs` writes this file. */
import { nameMembers } from "../fields/enumNames";
import { capabilityNames } from "../kinds/capabilities";
import type { CapabilityName } from "../kinds/capabilities";

/** The names of GroupKind that the API has. */
export const GroupKind = nameMembers("ORG_KIND_", "STARTER CUSTOMER DEV INFRA AWS_MARKETPLACE");

/** The names of IdentityProviderOidcCorrelationRule that the API has. */
export const IdentityProviderOidcCorrelationRule = nameMembers(
  "CORRELATION_RULE_",
  "SUB_EQUALS_EXTERNAL_ID OID_EQUALS_EXTERNAL_ID",
);

/** The names of IdentityServicePrincipal that the API has. */
export const IdentityServicePrincipal = nameMembers(
  "SERVICE_PRINCIPAL_",
  "COSIGNED INGESTER CATALOG_SYNCER APKO_BUILDER ENTITLEMENT_SYNCER TENANT_SCANNER SEDIMENTOLOGY SKILLUP MATERIALIZER MICROFLOW GUARDENER MICROVM SKILLS",
);

/** The names of RepoCatalogTier that the API has. */
export const RepoCatalogTier = nameMembers("CATALOG_TIER_", "APPLICATION BASE FIPS AI DEVTOOLS COMMERCIAL");

/** The names of RoleCapabilities that the API has. */
export const RoleCapabilities = nameMembers<"CAP_", CapabilityName>("CAP_", capabilityNames);
