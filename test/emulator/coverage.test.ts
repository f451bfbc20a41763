import { readFileSync } from "node:fs";
import { join } from "node:path";
import { startEmulator } from "../../emulator";
import { allMethods } from "../../emulator/tables";

test("no operation that has an address responds with 501", async () => {
  const emulator = await startEmulator({ seed: "acme" });
  try {
    const statuses = await Promise.all(
      allMethods.map(async ({ verb, pattern }) => {
        const path = pattern.replace(/\{[^}]*\}/g, emulator.rootUid);
        const headers = { authorization: `Bearer ${emulator.token}` };
        const response = await fetch(`${emulator.url}${path}`, { method: verb, headers });
        await response.text();
        return response.status;
      }),
    );
    expect(allMethods.filter((_, index) => statuses[index] === 501)).toEqual([]);
  } finally {
    await emulator.close();
  }
});

test("the page names every operation, as `npm run docs` writes it", () => {
  const page = readFileSync(join(__dirname, "../../docs/emulator.md"), "utf8");
  const missing = allMethods.filter(({ rpc }) => !page.includes(`\`${rpc.slice(rpc.indexOf("/") + 1)}\``));
  expect(missing).toEqual([]);
});
