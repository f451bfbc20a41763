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
