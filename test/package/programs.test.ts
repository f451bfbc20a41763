import {
  compilers,
  expectedLife,
  live,
  programs,
  tsconfig,
  typeScript,
  writeProgram,
} from "./packagePrograms";
import { isThorough } from "../support/properties";
import { endChildren, Project } from "../support/project";
import type { PackageManager } from "../support/project";

const managers = ["npm", "pnpm"] as const satisfies readonly PackageManager[];

/** Each pair of a manager and a kind of program, at a place. `firstProgram.test.ts` is one of them. */
const pairs = managers.flatMap((manager, i) =>
  programs.map((program, j) => ({
    manager,
    program,
    title: program.title,
    folder: (i + j) % 2 === 0 ? "" : "infrastructure/",
  })),
);
const isFirstProgram = ({ manager, program, folder }: (typeof pairs)[number]): boolean =>
  manager === "npm" && program.main.endsWith(".ts") && folder === "";
/** Each kind of program, and each manager; at night each pair. */
const lives = pairs.filter((pair) => (isThorough ? !isFirstProgram(pair) : pair.folder !== ""));

describe("the packed package, in a project of npm and in one of pnpm,", () => {
  const projects = new Map<PackageManager, Project>();
  const projectOf = (manager: PackageManager): Project => {
    const project = projects.get(manager);
    if (project === undefined) throw new Error(`${manager} has no project`);
    return project;
  };

  beforeAll(async () => {
    for (const manager of managers) projects.set(manager, await Project.with(manager));
  });

  afterAll(() => {
    endChildren();
    for (const project of projects.values()) project.dispose();
  });

  test("lies in the project itself, where the package manager puts it", () => {
    expect(projectOf("npm").location()).toBe("node_modules/pulumi-platform");
    expect(projectOf("pnpm").location()).toMatch(
      /^node_modules\/\.pnpm\/pulumi-platform@[^/]+\/node_modules\/pulumi-platform$/,
    );
  });

  test.each(lives)(
    "$title runs, from the first up to the destroy ($manager, in $folder.)",
    async ({ manager, program, folder }) => {
      const project = projectOf(manager);
      writeProgram(project, program, folder);
      expect(await live(project)).toEqual(expectedLife);
    },
  );

  // Each with one manager: each manager has an old resolution and a new one.
  test.each(managers)(
    "a strict TypeScript program compiles with each module resolution (%s)",
    async (manager) => {
      const project = projectOf(manager);
      project.describe({ type: "commonjs" });
      const own = Object.entries(compilers).filter((_, i) => managers[i % managers.length] === manager);
      project.write({
        ...typeScript,
        ...Object.fromEntries(own.map(([name, options]) => [`${name}.json`, tsconfig(options)])),
      });
      for (const [name] of own) {
        const { output } = await project.tsc(`${name}.json`);
        // Of declarations those of this package alone: the rest is not ours.
        const ours = output
          .split("\n")
          .filter((line) => !/^node_modules\/(?!.*\bpulumi-platform\/dist)/.test(line));
        expect({ name, ours }).toEqual({ name, ours: [""] });
      }
    },
  );
});
