import type { Report } from "../report";
import { json } from "./escape";

/** The report as it is; its form is `schema/report.schema.json`. Never cut: a program would take a part for the whole. */
export function renderJson(report: Report): string {
  return `${json(report)}\n`;
}
