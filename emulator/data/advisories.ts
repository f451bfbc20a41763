import { createHash } from "node:crypto";
import type { Message } from "../gateway/fields";
import type { BuiltIn } from "../tables/kindTable";

/** Made-up data, the same in every run. */
const packages = "curl git glibc-locale-posix nginx nginx-mainline openssl python-3.13 redis".split(" ");
const components = "golang.org/x/net libcurl libssl3 pcre2 zlib".split(" ");
const authors = ["ann@example.com", "bob@example.com", "scanner"];
const outcomes = [
  "fixed",
  "falsePositiveDetermination",
  "fixNotPlanned",
  "pendingUpstreamFix",
  "analysisNotPlanned",
  "truePositiveDetermination",
  "patched",
];
const reviewStates = ["PENDING", "APPROVED", "REQUEST_CHANGES", "REJECTED"];
const count = 60;

const pick = <T>(items: readonly T[], index: number): T => items[index % items.length] as T;
const digest = (text: string): string => createHash("sha1").update(text).digest("hex");
const cveId = (index: number): string => `CVE-2025-${1000 + index * 7}`;
const timeOf = (day: number): string => new Date(Date.UTC(2025, 5, 1 + day)).toISOString();
const catalog = digest("catalog");
const advisoryId = (index: number): string => `CGA-${digest(`advisory ${index}`).slice(0, 12)}`;

const indexes = (): number[] => Array.from({ length: count }, (_, index) => index);

function inventEvents(index: number): Message[] {
  const detection: Message = {
    uid: digest(`detection ${index}`),
    createTime: timeOf(index),
    findings: Buffer.from(JSON.stringify({ finding: index })).toString("base64"),
    author: "scanner",
    reviewState: "REVIEW_STATE_APPROVED",
    detection: {},
  };
  if (index % 8 === 7) return [detection];
  const outcome = pick(outcomes, index);
  return [
    detection,
    {
      uid: digest(`outcome ${index}`),
      createTime: timeOf(index + 3),
      author: pick(authors, index),
      reviewer: pick(authors, index + 1),
      reviewState: `REVIEW_STATE_${pick(reviewStates, index)}`,
      ...(index % 5 === 0 ? { issue: `https://example.com/issues/${index}` } : {}),
      [outcome]: outcome === "fixed" ? { fixedVersion: `1.${index}.0-r1` } : {},
    },
  ];
}

export function advisories(): BuiltIn[] {
  return indexes().map((index) => ({
    uid: `${catalog}/${digest(`advisory ${index}`).slice(0, 16)}`,
    parent: catalog,
    value: {
      advisoryId: advisoryId(index),
      createTime: timeOf(index),
      updateTime: timeOf(index + 3),
      ...(index % 20 === 19 ? { deleteTime: timeOf(index + 5) } : {}),
      ...(index % 10 === 0 ? { legacyAdvisoryId: `LEGACY-${index}` } : {}),
      author: pick(authors, index),
      artifactName: pick(packages, index),
      artifactType: "apk",
      artifactArchitecture: pick(["x86_64", "aarch64"], index),
      componentName: pick(components, index),
      componentType: pick(["go-module", "apk"], index),
      componentLocation: `/usr/lib/${pick(components, index)}`,
      aliases: [cveId(index), `GHSA-${digest(cveId(index)).slice(0, 4)}-${digest(cveId(index)).slice(4, 8)}`],
      severities: [
        { type: pick(["TYPE_CVSS_V3", "TYPE_CVSS_V4"], index), score: String((index % 10) + 0.5) },
      ],
      events: inventEvents(index),
    },
  }));
}

export function advisoryDocuments(): BuiltIn[] {
  return packages.map((id, index) => ({
    uid: id,
    value: {
      id,
      advisories: indexes()
        .filter((each) => each % packages.length === index)
        .map((each) => ({
          id: advisoryId(each),
          aliases: [cveId(each)],
          packageNamespace: "wolfi",
          events: [
            { timestamp: timeOf(each), detection: {} },
            { timestamp: timeOf(each + 3), fixed: { fixedVersion: `1.${each}.0-r1` } },
          ],
        })),
    },
  }));
}

export function vulnerabilities(): BuiltIn[] {
  return indexes().map((index) => ({
    uid: cveId(index),
    value: {
      id: cveId(index),
      summary: `Flaw in ${pick(components, index)}`,
      details: `A crafted input makes ${pick(components, index)} read beyond its buffer.`,
      references: [{ type: "ADVISORY", url: `https://example.com/cve/${cveId(index)}` }],
      severities: [{ type: "TYPE_CVSS_V3", score: String((index % 10) + 0.5) }],
    },
  }));
}
