import { findRule } from "../../provider/access/rules";
import { canReport } from "../../provider/access/rules/rule";
import type { Finding } from "../../provider/access/review/finding";

/** The same findings; throws where a rule reports a kind that its `about` leaves out. */
export function withNamedKinds(findings: Finding[]): Finding[] {
  for (const { id, kind } of findings) {
    const rule = findRule(id);
    if (kind === undefined || rule === undefined || canReport(rule, kind)) continue;
    throw new Error(`${id} reports a ${kind}, which its "about" leaves out`);
  }
  return findings;
}
