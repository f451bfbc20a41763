import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { ModuleKind, ScriptTarget, transpileModule } from "typescript";
import { attack, deliver, refusals, startDeliveries } from "../support/hostileClients";
import type { Deliveries } from "../support/hostileClients";
import { documents, folderWithPackage, programsOf, readPage } from "../support/pages";
import { endChildren, start } from "../support/project";

/*
 * Runs each program of the documents that listens on a socket, as a process: hostile clients neither end it nor keep it from
 * what comes after them.
 */

let folder: string;
let deliveries: Deliveries;

beforeAll(async () => {
  folder = folderWithPackage("receivers");
  deliveries = await startDeliveries();
});
afterAll(async () => {
  endChildren();
  await deliveries.close();
  rmSync(folder, { recursive: true, force: true });
});

/** Listens on any free port of this machine and prints it. Time limits pass ten times as fast. */
const PRELOAD = `
const { Server } = require("node:net");
const { listen } = Server.prototype;
Server.prototype.listen = function () {
  return listen.call(this, { port: 0, host: "127.0.0.1" }, () => console.log("port " + this.address().port));
};
const { setTimeout } = globalThis;
globalThis.setTimeout = (run, ms, ...args) => setTimeout(run, ms / 10, ...args);
`;

const programs = documents.flatMap((path) =>
  programsOf(readPage(path), "ts", "js")
    .filter(({ text }) => /\.listen\(/.test(text))
    .map(({ text, line }): [string, string] => [`${path}:${line}`, text]),
);

test("the documents have a program that receives events", () => {
  expect(programs.map(([place]) => place)).toContainEqual(expect.stringMatching(/^docs\/events\.md:/));
});

test.each(programs)("%s refuses every hostile client, then takes an event", async (place, text) => {
  const name = place.replaceAll(/\W/g, "-");
  const filled = text
    .replace('"https://…"', JSON.stringify(deliveries.emulator.url))
    .replace(`"<uid of the subscription's group>"`, JSON.stringify(deliveries.group));
  const { outputText } = transpileModule(filled, {
    compilerOptions: { module: ModuleKind.ESNext, target: ScriptTarget.ES2022 },
  });
  writeFileSync(join(folder, `${name}.mjs`), outputText);
  writeFileSync(join(folder, `${name}.cjs`), PRELOAD);
  const child = start(process.execPath, ["--require", `./${name}.cjs`, `${name}.mjs`], { cwd: folder });
  let stdout = "";
  let stderr = "";
  child.stderr?.setEncoding("utf8").on("data", (chunk: string) => (stderr += chunk));
  /** Resolves when the program has printed this. */
  const printed = (pattern: RegExp): Promise<string> =>
    new Promise((resolve, reject) => {
      const look = (): void => {
        const [, found] = pattern.exec(stdout) ?? [];
        if (found !== undefined) resolve(found);
      };
      child.stdout?.on("data", look);
      child.once("close", () => reject(new Error(`the program has ended:\n${stdout}${stderr}`)));
      look();
    });
  child.stdout?.setEncoding("utf8").on("data", (chunk: string) => (stdout += chunk));
  const port = Number(await printed(/^port (\d+)\n/m));
  const delivery = await deliveries.next();
  expect(await attack(port, delivery)).toEqual(refusals);
  expect(await deliver(port, delivery)).toBe(204);
  expect(await printed(/^iam\.roles\.created (\S+)\n/m)).toBe(delivery.headers["ce-subject"]);
  expect({ ended: child.exitCode, token: stderr.includes(delivery.headers["authorization"] ?? "") }).toEqual({
    ended: null,
    token: false,
  });
});
