import fc from "../../support/properties";
import { encodeUid, isUid } from "../../../provider/text/uid";
import { CHILD_UID, GROUP_UID, ROOT_UID } from "../support/samples";

const hex = (length: number) =>
  fc
    .array(fc.constantFrom(..."0123456789abcdef".split("")), { minLength: length, maxLength: length })
    .map((all) => all.join(""));
const uids = fc
  .tuple(hex(40), fc.array(hex(16), { maxLength: 4 }))
  .map(([root, rest]) => [root, ...rest].join("/"));

test("a uid is forty hex digits and sixteen more for each level", () => {
  for (const uid of [ROOT_UID, GROUP_UID, CHILD_UID]) expect(isUid(uid)).toBe(true);
  for (const other of [
    undefined,
    null,
    5,
    [ROOT_UID],
    "",
    "viewer",
    ROOT_UID.toUpperCase(),
    `${ROOT_UID}/`,
    `/${ROOT_UID}`,
    `${ROOT_UID}//0123456789abcdef`,
    `${ROOT_UID}/0123`,
    `${ROOT_UID} `,
    `${ROOT_UID}\n`,
  ]) {
    expect(isUid(other)).toBe(false);
  }
  fc.assert(fc.property(uids, (uid) => isUid(uid)));
});

test("in a path slashes stay, and each segment is encoded on its own", () => {
  fc.assert(fc.property(uids, (uid) => encodeUid(uid) === uid));
  expect(encodeUid("a b/c?d/e#f/g%2Fh/i+j/k:l")).toBe("a%20b/c%3Fd/e%23f/g%252Fh/i%2Bj/k%3Al");
});

test.each(["", "/", "a/", "/a", "a//b", ".", "..", "a/../b", "./a"])("%j is never sent", (uid) => {
  expect(() => encodeUid(uid)).toThrow(`"${uid}" is not a uid: it has an empty or dotted segment`);
});

test("an encoded uid decodes to itself, segment by segment", () => {
  const segment = fc.string({ unit: "grapheme", minLength: 1 }).filter((text) => !/^\.{1,2}$|\//.test(text));
  fc.assert(
    fc.property(fc.array(segment, { minLength: 1, maxLength: 4 }), (segments) => {
      const encoded = encodeUid(segments.join("/"));
      expect(encoded.split("/").map(decodeURIComponent)).toEqual(segments);
      expect(new URL(`http://x/a/${encoded}`).pathname.split("/").slice(2).map(decodeURIComponent)).toEqual(
        segments,
      );
    }),
  );
});
