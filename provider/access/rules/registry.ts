import { isObject } from "../../engine/values";
import type { Json, Props } from "../../engine/spec";
import type { Severity } from "../review/finding";
import { labelOf, listFirst } from "./wording";
import { listAt, textAt } from "./inputValues";
import type { FindingInput } from "./findingInput";
import type { Rule } from "./rule";

const brief = (digest: string | undefined): string =>
  digest === undefined ? "another image" : digest.replace(/^(sha256:[0-9a-f]{12})[0-9a-f]+$/, "$1…");

const registryLoss: Rule = {
  id: "R1",
  name: "registry-loss",
  severities: ["high", "medium"],
  when: "medium for a tag that is moved; high else",
  what: "A repository or a tag is deleted or replaced, a tag points to another image, or a repository is kept in step with another source. A new tag is not reported, nor a source that is set for the first time on a new repository.",
  why: "What runs pulls by these names. A deleted one stops the next start; a moved one, or another source, changes what runs without any deployment.",
  fix: "Deploy by digest. Keep a repository until nothing pulls from it. Move a tag in a pull request that names the image and how it was built.",
  except: "For tags that a release moves (`latest`, `1.2`), by the pipeline that is meant to.",
  exampleMatch: { name: "latest" },
  needsBefore: true,
  find: (facts) => {
    const findings: FindingInput[] = [];
    for (const { op, before } of facts.removals()) {
      if (before.kind !== "Repo" && before.kind !== "Tag") continue;
      findings.push(
        facts.aboutEntity(before, {
          severity: "high",
          message: `${labelOf(before)} is ${op === "delete" ? "deleted" : "replaced: the old one is deleted"}: whatever pulls it fails`,
          advice: "see that nothing pulls it any more; keep it under its name until then",
        }),
      );
    }
    for (const { op, before, after } of facts.writes("Tag", "Repo")) {
      if (op !== "update" || before === undefined) continue;
      const [old, now] = [before, after].map(({ inputs }) => textAt(inputs, "digest"));
      if (after.kind === "Tag" && old !== now) {
        findings.push(
          facts.aboutEntity(after, {
            severity: "medium",
            field: "digest",
            message: `${labelOf(after)} is moved from ${brief(old)} to ${brief(now)}`,
            details: [`from ${old ?? "unknown"}`, `to ${now ?? "unknown"}`],
            advice: "name in the pull request how the new image was built; deploy by digest",
          }),
        );
      }
      const [from, to] = [before, after].map(({ inputs }) => textAt(inputs["syncConfig"], "source"));
      if (from !== to) {
        findings.push(
          facts.aboutEntity(after, {
            severity: "high",
            field: "syncConfig.source",
            message: `${labelOf(after)} takes its images from ${to ?? "nowhere any more"} instead of ${from ?? "this program"}`,
            advice: "make a second repository for the new source, and move what pulls",
          }),
        );
      }
    }
    return findings;
  },
};

interface Addition {
  readonly field: string;
  readonly severity: Severity;
  readonly what: string;
  readonly items: readonly string[];
}

/** The items of a list that were not there before; named ones are shown by name. */
function addedItems(field: string, before: Props, after: Props): string[] {
  const [block = "", key = ""] = field.split(".");
  const [old, now] = [before, after].map((overlay) => listAt(overlay[block], key));
  const known = new Set((old ?? []).map((item) => JSON.stringify(item)));
  return (now ?? [])
    .filter((item) => !known.has(JSON.stringify(item)))
    .map((item) => (typeof item === "string" ? item : (textAt(item, "name") ?? "one without a name")));
}

/** Whether an image is to run as root: `root`, 0, or either with a group. */
function isRoot(user: Json | undefined): boolean {
  return typeof user === "string" && /^(?:root|0+)(?::|$)/.test(user.trim());
}

function findAdditions(before: Props, after: Props): Addition[] {
  const list = (field: string, severity: Severity, what: string): Addition => ({
    field,
    severity,
    what,
    items: addedItems(field, before, after),
  });
  const [old, now] = [before, after].map((overlay) => textAt(overlay["accounts"], "runAs"));
  return [
    list("certificates.additional", "high", "trusts further certificates"),
    list("contents.runtimeKeyring", "high", "takes packages signed with further keys"),
    list("certificates.providers", "high", "trusts the certificates of further providers"),
    list("contents.runtimeRepositories", "medium", "takes packages from further repositories"),
    {
      field: "accounts.runAs",
      severity: "medium" as const,
      what: "runs as root",
      items: isRoot(now) && !isRoot(old) ? [now ?? ""] : [],
    },
  ].filter(({ items }) => items.length > 0);
}

const imageTrust: Rule = {
  id: "R2",
  name: "image-trust",
  severities: ["high", "medium"],
  when: "high for certificates and keys; medium for package repositories and root",
  what: "The overlay of a repository's images adds a certificate, a provider of certificates, a key that packages may be signed with, a package repository, or lets the image run as root. What was there before is not reported, nor are packages, annotations and variables.",
  why: "Every image of the repository then trusts whoever holds that key or certificate, or runs that repository.",
  fix: "Add the certificate where it is needed, at run time. Mirror the packages into a repository of your own that is signed with a key you hold. Run as a user without rights.",
  except: "For the certificate authority and the mirror of your own company.",
  exampleMatch: { name: "base-*" },
  needsBefore: false,
  find: (facts) => {
    const findings: FindingInput[] = [];
    for (const { before, after } of facts.writes("Repo")) {
      const [old, now] = [before, after].map((entity) => entity?.inputs["customOverlay"]);
      if (!isObject(now)) continue;
      for (const { field, severity, what, items } of findAdditions(isObject(old) ? old : {}, now)) {
        findings.push(
          facts.aboutEntity(after, {
            severity,
            field: `customOverlay.${field}`,
            message: `every image of ${labelOf(after)} ${what}: ${listFirst(items, 4)}`,
            advice:
              field === "accounts.runAs"
                ? "let the image run as a user without rights"
                : "see who holds it; prefer a mirror and a key of your own, and certificates given at run time",
          }),
        );
      }
    }
    return findings;
  },
};

export const registryRules: readonly Rule[] = [registryLoss, imageTrust];
