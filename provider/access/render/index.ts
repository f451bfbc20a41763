import type { Report } from "../report";
import type { RenderOptions } from "./options";

export type { RenderOptions } from "./options";

export const formats = ["text", "json", "md", "sarif", "github", "codequality", "html"] as const;
export type Format = (typeof formats)[number];

const pending = (report: Report): string => `${JSON.stringify(report, null, 2)}\n`;

/** Each form of a report. Pure: the same report and options give the same bytes, with a newline at the end. */
export const renderers: Readonly<Record<Format, (report: Report, options: RenderOptions) => string>> = {
  text: pending,
  json: pending,
  md: pending,
  sarif: pending,
  github: pending,
  codequality: pending,
  html: pending,
};
