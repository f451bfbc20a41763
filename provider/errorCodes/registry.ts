import { commandCodes } from "./commands";
import { connectionCodes } from "./connection";
import type { CodeDescription } from "./description";
import { documentCodes } from "./documents";
import { integrationCodes } from "./integrations";
import { programCodes } from "./program";
import { resourceCodes } from "./resources";
import { serverCodes } from "./server";

/*
 * Every error code. Code names them in strings and imports only types from here: the texts are loaded by `explain` alone.
 * A code never changes its meaning, and the number of a code that is no longer used is never used again.
 */

const families = {
  "Programs and arguments": programCodes,
  "Settings, credentials and the connection": connectionCodes,
  "Responses of the server": serverCodes,
  "Resources that are written": resourceCodes,
  "Arguments of commands": commandCodes,
  "Documents that commands read": documentCodes,
  "Posting, events and the emulator": integrationCodes,
} as const;

type Families = typeof families;

/** The code of an error message. */
export type ErrorCode = { [Family in keyof Families]: keyof Families[Family] }[keyof Families];

/** The codes of each family, in the order of the documents. */
export const codeFamilies: readonly (readonly [string, readonly ErrorCode[]])[] = Object.entries(
  families,
).map(([name, codes]) => [name, Object.keys(codes) as ErrorCode[]]);

export const errorCodes: Readonly<Record<ErrorCode, CodeDescription>> = {
  ...programCodes,
  ...connectionCodes,
  ...serverCodes,
  ...resourceCodes,
  ...commandCodes,
  ...documentCodes,
  ...integrationCodes,
};
