import * as access from "../../../../provider/access";

test("a review loads the kinds without the Automation API and the closures of Pulumi's library", () => {
  expect(access).toHaveProperty("review");
  const loaded = Object.keys(require.cache);
  expect(loaded.filter((path) => /@pulumi.pulumi.output\.js$/.test(path))).toHaveLength(1);
  expect(loaded.filter((path) => /@pulumi.pulumi.(automation|runtime.closure)/.test(path))).toEqual([]);
});
