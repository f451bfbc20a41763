import { join } from "node:path";
import { printable } from "../../text/printable";
import { ownVersion } from "../../text/packageVersion";
import { defineCommand } from "../framework/defineCommand";
import { exitCodes, UsageError } from "../framework/exitCodes";
import { execPulumi, PulumiError } from "../input/pulumi";
import { ownCommand } from "../input/packageManager";
import { installedFolder } from "../output/packageSource";

async function install(folder: string): Promise<string> {
  const version = ownVersion();
  const args = ["plugin", "install", "resource", "platform", version, "--file", folder, "--reinstall"];
  try {
    await execPulumi(args);
  } catch (error) {
    const { message, stderr } = error as { message: string; stderr?: unknown };
    const said = typeof stderr === "string" && stderr.trim() !== "" ? stderr.trim() : message;
    throw new PulumiError(`pulumi ${args.slice(0, 2).join(" ")} failed: ${printable(said, 500)}`, 1);
  }
  return `installed the plugin platform ${version}`;
}

export const command = defineCommand(
  {
    name: "plugin",
    usage: ["install", "path"],
    about:
      "install: installs the native plugin of this package into the Pulumi CLI, for programs that import " +
      "pulumi-platform/native and for programs in YAML, Python and Go. path: prints the folder of the plugin.",
    arguments: ["install|path"],
    flags: {},
    exitCodes: ["clean", "error", "usage"],
  },
  async ({ positionals: [action, ...more] }) => {
    if ((action !== "install" && action !== "path") || more.length > 0) {
      throw new UsageError("PP5004", `plugin takes install or path: write ${ownCommand()} plugin install`);
    }
    const folder = join(installedFolder(), "dist", "plugin");
    process.stdout.write(`${action === "path" ? folder : await install(folder)}\n`);
    return exitCodes.clean;
  },
);
export const { main } = command;
