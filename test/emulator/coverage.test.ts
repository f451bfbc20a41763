import { readFileSync } from "node:fs";
import { join } from "node:path";
import { startEmulator } from "../../emulator";
import { listOperations } from "../../emulator/coverage";

const operations = listOperations();

test("an operation responds with 501 exactly where the table says that it is not emulated", async () => {
  const emulator = await startEmulator({ seed: "acme" });
  try {
    const statuses = await Promise.all(
      operations.map(async ({ verb, pattern }) => {
        const path = pattern.replace(/\{[^}]*\}/g, emulator.rootUid);
        const headers = { authorization: `Bearer ${emulator.token}` };
        const response = await fetch(`${emulator.url}${path}`, { method: verb, headers });
        await response.text();
        return response.status;
      }),
    );
    const wrong = operations.filter(({ isEmulated }, index) => isEmulated === (statuses[index] === 501));
    expect(wrong).toEqual([]);
  } finally {
    await emulator.close();
  }
});

test("the page names every operation, as `npm run docs` writes it", () => {
  const page = readFileSync(join(__dirname, "../../docs/emulator.md"), "utf8");
  const missing = operations.filter(({ rpc }) => !page.includes(`\`${rpc.slice(rpc.indexOf("/") + 1)}\``));
  expect(missing).toEqual([]);
});
