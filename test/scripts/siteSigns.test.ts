import { readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import { evaluate } from "./support";

const golden = path.resolve(__dirname, "../provider/access/report/render/golden");
const comments = readdirSync(golden).filter((name) => name.endsWith(".md"));
const EMOJI = /\p{Emoji_Presentation}|\p{Extended_Pictographic}\uFE0F/u;

const drawSigns = (html: string): Promise<unknown> =>
  evaluate("site/build.mjs", `m.drawSigns(${JSON.stringify(html)})`);

test.each(comments)("each emoji of %s is drawn, and named for those who do not see it", async (name) => {
  const text = readFileSync(path.join(golden, name), "utf8");
  expect(text).toMatch(EMOJI);
  const drawn = (await drawSigns(text)) as string;
  expect(drawn.replace(/<svg role="img" aria-label="[^"]+"/g, "")).not.toMatch(EMOJI);
  expect(drawn.replace(/<svg role="img" aria-label="([^"]+)".*?<\/svg>/g, "$1")).toBe(text);
});
