// @ts-check
import { accessSync, constants, mkdirSync, mkdtempSync, renameSync } from "node:fs";
import path from "node:path";
import { excerpt, messageOf, onEarlyEnd, remove, run } from "../lib/processes.mjs";
import { cacheRoot } from "../lib/pulumi.mjs";

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

/** @param {string} file */
function isExecutable(file) {
  try {
    accessSync(file, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

/** @type {Promise<{ tofu: string, folder: string } | string> | undefined} */
let found;

/**
 * The binaries in the cache, built there with Go where they are not.
 * @param {import("./subjects.mjs").BenchContext} at
 * @returns {Promise<{ tofu: string, folder: string } | string>} A text says why there are none.
 */
export function findOpenTofu({ log }) {
  found ??= obtain(log).catch((error) => messageOf(error).split("\n")[0] ?? "");
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
  mkdirSync(path.dirname(folder), { recursive: true });
  const temporary = mkdtempSync(path.join(path.dirname(folder), `tmp-${process.pid}-`));
  const discard = onEarlyEnd(() => remove(temporary));
  try {
    for (const { module, version: wanted, main, binary } of MODULES) {
      const env = { ...process.env, GOWORK: "off", GOFLAGS: "-buildvcs=false", CGO_ENABLED: "0" };
      const download = await run("go", ["mod", "download", "-json", `${module}@${wanted}`], {
        cwd: temporary,
        env: { ...env, GO111MODULE: "on" },
      });
      if (download.code !== 0) throw new Error(`${module} cannot be downloaded: ${excerpt(download.output)}`);
      // As its own main module, so that the versions it names are what is built.
      const build = await run(
        "go",
        [
          "build",
          "-mod=readonly",
          "-trimpath",
          "-ldflags",
          "-s -w",
          "-o",
          path.join(temporary, binary),
          main,
        ],
        { cwd: JSON.parse(download.stdout).Dir, env },
      );
      if (build.code !== 0) throw new Error(`${module} cannot be built: ${excerpt(build.output)}`);
    }
    renameSync(temporary, folder);
  } finally {
    discard();
  }
  return result;
}
