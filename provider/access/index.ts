export { compare } from "./review/compare";
export type { Sources, Comparison, ResourceChange } from "./review/compare";
export { effectiveAccess } from "./graph/effectiveAccess";
export type { Access, AccessQuery, EffectiveAccess } from "./graph/effectiveAccess";
export type { Inventory, InventoryObject, RefusedList } from "./documents/inventory";
export { DocumentError } from "./documents/jsonText";
export type { Entity, AccessGraph as World } from "./graph/model";
export { parseInventory } from "./documents/inventory";
export { parsePlan } from "./documents/plan";
export type { UpdatePlan } from "./documents/plan";
export { applyPolicy } from "./suppressions/applyPolicy";
export type { SuppressionResult as Judgement } from "./suppressions/applyPolicy";
export { parsePolicy } from "./suppressions/policyDocument";
export type { Policy, PolicyEntry } from "./suppressions/policyDocument";
export { parsePreview } from "./documents/preview";
export type { Preview, PreviewStep } from "./documents/preview";
export { reportFormats as formats, renderers } from "./report/render";
export type { ReportFormat as Format, RenderOptions } from "./report/render";
export type {
  SCHEMA_VERSION,
  toFieldChange,
  CommonReport,
  Count,
  Coverage,
  DeclaredResource,
  Difference,
  DriftReport,
  ExpectedAccess,
  ExpectedEntity,
  FieldChange,
  GrantCounts,
  ManagedCount,
  Provenance,
  Report,
  ReportedRule,
  ReviewReport,
  ReviewedPlan,
  SeverityCounts,
  Sha256,
  Timestamp,
  TrustChange,
  VerifyReport,
} from "./report/report";
export { reportOn, review } from "./report/reviewReport";
export type { ReviewOptions, Rules } from "./report/reviewReport";
export { defaultRuleOptions, findingsOf, rules } from "./rules";
export type { Facts } from "./rules/facts";
export { defineRule } from "./rules/ownRules";
export type { OwnFinding, RuleDefinition } from "./rules/ownRules";
export { reviewOf } from "./rules/ruleTesting";
export type { ProgramResource } from "./rules/ruleTesting";
export type { Rule, RuleOptions } from "./rules";
export { parseStateExport } from "./documents/stateExport";
export type { StateExport } from "./documents/stateExport";
export type { RecordedResource, SourceLocation } from "./documents/engineState";
export { parseReviewReport } from "./report/report";
export { verify } from "./verify/verify";
export type { VerifySources, VerifyOptions } from "./verify/verify";
export { graphOfInventory as worldOfInventory, graphOfState as worldOfState } from "./graph/effectiveAccess";
export type { Grant, GrantChange, GrantedRole, GroupNode, Named, Scope, Subject } from "./graph/grant";
export type { differenceKinds, driftDirections, severities } from "./review/finding";
export type { DifferenceKind, DriftDirection, Finding, Severity, Suppression } from "./review/finding";
