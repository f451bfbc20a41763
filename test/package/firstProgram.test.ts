import { expectedLife, live, programs, writeProgram } from "./packagePrograms";
import { endChildren, Project } from "../support/project";

afterAll(() => endChildren());

test("a TypeScript program of the packed package runs, from the first update to the destroy", async () => {
  const [program] = programs.filter(({ main }) => main.endsWith(".ts"));
  if (program === undefined) throw new Error("there is no TypeScript program");
  const project = await Project.with("npm");
  try {
    writeProgram(project, program, "");
    expect(await live(project)).toEqual(expectedLife);
  } finally {
    project.dispose();
  }
});
