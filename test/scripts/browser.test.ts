import { evaluate, removeTemporaryFolders } from "./support";

afterAll(removeTemporaryFolders);

const obtain = (options: string): Promise<unknown> =>
  evaluate("lib/browser.mjs", `await m.obtainBrowser({ log: () => {}, ...${options} })`);

test("the browser that is named is taken, then one that is there", async () => {
  expect(await obtain(`{ env: { PULUMI_PLATFORM_BROWSER: "/opt/chrome" } }`)).toEqual({
    file: "/opt/chrome",
  });
  expect(await obtain(`{ env: {}, usual: ["/nowhere", "/bin/sh"] }`)).toEqual({ file: "/bin/sh" });
});

test("without one, and without the right to install it, prints the reason", async () => {
  expect(await obtain(`{ env: {}, usual: [], uid: 1000 }`)).toEqual({
    reason: "Chromium is not installed, and only root may install it",
  });
});
