import type { CodeTable } from "./description";

/** Why a document that a command reads is refused. */
export const documentCodes = {
  PP6001: {
    title: "A document is empty, truncated or no JSON",
    meaning: "The step that should have written it failed, was cut off, or mixed other text into it.",
    look: "`head -c 200 <file>` and `tail -c 200 <file>` show both ends.",
    fix: "Write it again, with standard output only: `pulumi preview --json > preview.json`.",
  },
  PP6002: {
    title: "A document is of another kind",
    meaning: "The option needs, for example, a preview, and the file is an export of a stack.",
    look: "The message says what the file is, or what the option needs.",
    fix: "Give the file to the option that it belongs to, or write the document that is needed.",
  },
  PP6003: {
    title: "A document does not have the expected form",
    meaning: "A part is missing, has another type, or was written by a version that this one does not know.",
    look: "The message names the first place.",
    fix: "Write it again with the CLI, not by hand. If it was written by a newer version, update this package.",
  },
  PP6004: {
    title: "Documents do not belong together",
    meaning: "They are of different stacks or groups, or one is older than the other needs.",
    look: "The message names what differs.",
    fix: "Give documents of the same stack, group and run.",
  },
  PP6005: {
    title: "This is not the report or plan that was approved",
    meaning: "The digest of the report or of the plan is another one.",
    look: "`sha256sum <file>` and the log of the review show both digests.",
    fix: "Give the file that the review wrote. If the plan was made again, review again.",
  },
  PP6006: {
    title: "The review lacks what verify needs",
    meaning: "The review was made without an inventory or without an update plan.",
    look: "The message names the document that the review lacks.",
    fix: "Review again with that document: `review --inventory … --plan …`.",
  },
  PP6007: {
    title: "The state cannot be merged",
    meaning:
      "The export or the preview has an open operation, a secret that is not set, or resources that do not match.",
    look: "The message has a line for each problem.",
    fix: "Correct each one and run adopt again. Nothing was imported.",
  },
  PP6008: {
    title: "The state of Terraform has nothing to adopt",
    meaning: "It manages no object of the platform, or those of several organisations.",
    look: "`terraform state list` shows what it manages.",
    fix: "Give the state that manages the platform, and the organisation with `--root`.",
  },
  PP6101: {
    title: "The policy file is wrong",
    meaning:
      "The file is no valid YAML, or does not have the form of its schema. No suppression of it applies.",
    look: "The message has a line for each mistake, with file, line and path. Editors show them by the schema.",
    fix: "Correct each line. [Review](review.md) describes the file.",
  },
} as const satisfies CodeTable;
