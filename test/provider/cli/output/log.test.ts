import { withProgress } from "../../../../provider/cli/output/log";

/** A terminal that takes what is written; `columns` is 0 where it does not say how wide it is. */
function terminal(isTTY: boolean, columns: number) {
  const written: string[] = [];
  const write = (text: string) => written.push(text);
  return { written, stream: { isTTY, columns, write } as unknown as NodeJS.WriteStream };
}

const reportOne = (report: (kind: string, count: number) => void): Promise<void> => {
  report("Group", 1);
  return Promise.resolve();
};

const CLEAR = "\r\x1b[K";

test("one line shows the sum of all kinds, at most ten times a second, and is cleared at the end", async () => {
  const { written, stream } = terminal(true, 80);
  const now = jest.spyOn(performance, "now").mockReturnValue(100);
  const failed = withProgress(
    "reading",
    (report) => {
      report("Group", 2);
      now.mockReturnValue(199);
      report("Role", 1);
      now.mockReturnValue(200);
      report("Role", 3);
      return Promise.reject(new Error("lost"));
    },
    stream,
  );
  await expect(failed).rejects.toThrow("lost");
  now.mockRestore();
  expect(written).toEqual([`${CLEAR}reading 2 (Group 2)`, `${CLEAR}reading 5 (Role 3)`, CLEAR]);
});

test.each([
  [10, 9],
  [0, 79],
])("a line on a terminal of %d columns has at most %d characters", async (columns, length) => {
  const { written, stream } = terminal(true, columns);
  await withProgress("x".repeat(100), reportOne, stream);
  expect(written).toEqual([`${CLEAR}${"x".repeat(length)}`, CLEAR]);
});

test("nothing is written where standard error is no terminal, nor to clear what was not shown", async () => {
  const [file, shown] = [terminal(false, 80), terminal(true, 80)];
  await withProgress("reading", reportOne, file.stream);
  await withProgress("reading", () => Promise.resolve(), shown.stream);
  expect([file.written, shown.written]).toEqual([[], []]);
});
