// @ts-check
import path from "node:path";
import { cacheRoot, fillFolder } from "../lib/files.mjs";
import { errorMessage, run, runToSuccess } from "../lib/processes.mjs";
import { isExecutable } from "../lib/pulumiCache.mjs";

/** As programs name it. */
export const PROVIDER = "mastercard/restapi";

/** Each carries its own go.sum, and the module proxy's contents are checked against Go's checksum database. */
const MODULES = [
  { module: "github.com/opentofu/opentofu", version: "v1.12.6", main: "./cmd/tofu", binary: "tofu" },
  {
    module: "github.com/Mastercard/terraform-provider-restapi",
    version: "v1.20.0",
    main: ".",
    binary: "terraform-provider-restapi",
  },
];

/** @type {Promise<{ tofu: string, folder: string } | string> | undefined} */
let found;

/**
 * The binaries in the cache, built there with Go where they are not.
 * @param {import("./subjects.mjs").BenchContext} at
 * @returns {Promise<{ tofu: string, folder: string } | string>} A text says why there are none.
 */
export function findOpenTofu({ log }) {
  found ??= obtain(log).catch((error) => errorMessage(error).split("\n")[0] ?? "");
  return found;
}

/** @param {(line: string) => void} log */
async function obtain(log) {
  const version = MODULES.map((one) => one.version.slice(1)).join("-");
  const folder = path.join(
    cacheRoot(process.env),
    `opentofu-restapi-${version}-${process.platform}-${process.arch}`,
  );
  const result = { tofu: path.join(folder, "tofu"), folder };
  if (MODULES.every(({ binary }) => isExecutable(path.join(folder, binary)))) return result;
  const go = await run("go", ["version"]).catch(() => undefined);
  if (go?.code !== 0) throw new Error("there is no Go to build them with");

  log("building OpenTofu and a generic REST provider with Go: about ten minutes, once");
  await fillFolder(folder, async (temporary) => {
    for (const module of MODULES) await build(module, temporary);
  });
  return result;
}

/** @param {typeof MODULES[number]} module @param {string} folder */
async function build({ module, version, main, binary }, folder) {
  const env = { ...process.env, GOWORK: "off", GOFLAGS: "-buildvcs=false", CGO_ENABLED: "0" };
  const download = ["mod", "download", "-json", `${module}@${version}`];
  const downloaded = await runToSuccess("go", download, { cwd: folder, env: { ...env, GO111MODULE: "on" } });
  const flags = ["-mod=readonly", "-trimpath", "-ldflags", "-s -w", "-o", path.join(folder, binary)];
  // As its own main module, so that the versions it names are what is built.
  await runToSuccess("go", ["build", ...flags, main], { cwd: JSON.parse(downloaded).Dir, env });
}
