import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

const folders: string[] = [];

/** A new folder, which is there until the last test of the file has run. */
export function temporaryFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), "pulumi-platform-"));
  folders.push(folder);
  return folder;
}

afterAll(() => {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
});
