import { Progress } from "../../../../provider/cli/output/log";

/** A terminal that takes what is written; `columns` is 0 where it does not say how wide it is. */
function terminal(isTTY: boolean, columns: number) {
  const written: string[] = [];
  const write = (text: string) => written.push(text);
  return { written, stream: { isTTY, columns, write } as unknown as NodeJS.WriteStream };
}

const CLEAR = "\r\x1b[K";

test("one line shows the sum of all kinds, at most ten times a second, and is cleared at the end", () => {
  const { written, stream } = terminal(true, 80);
  const now = jest.spyOn(performance, "now").mockReturnValue(100);
  const progress = new Progress("reading", stream);
  progress.report("Group", 2);
  now.mockReturnValue(199);
  progress.report("Role", 1);
  now.mockReturnValue(200);
  progress.report("Role", 3);
  progress.done();
  now.mockRestore();
  expect(written).toEqual([`${CLEAR}reading 2 (Group 2)`, `${CLEAR}reading 5 (Role 3)`, CLEAR]);
});

test.each([
  [10, 9],
  [0, 79],
])("a line on a terminal of %d columns has at most %d characters", (columns, length) => {
  const { written, stream } = terminal(true, columns);
  new Progress("x".repeat(100), stream).report("Group", 1);
  expect(written).toEqual([`${CLEAR}${"x".repeat(length)}`]);
});

test("nothing is written where standard error is no terminal, nor to clear what was not shown", () => {
  const [file, shown] = [terminal(false, 80), terminal(true, 80)];
  const progress = new Progress("reading", file.stream);
  progress.report("Group", 1);
  progress.done();
  new Progress("reading", shown.stream).done();
  expect([file.written, shown.written]).toEqual([[], []]);
});
