import * as access from "../../../provider/access";

test("a review loads the kinds without the Automation API and the closures of Pulumi's library", () => {
  expect(access).toHaveProperty("review");
  const loaded = Object.keys(require.cache);
  expect(loaded.filter((path) => /@pulumi.pulumi.output\.js$/.test(path))).toHaveLength(1);
  // The Automation API is loaded by the index alone, and the configuration of jest leaves it out.
  expect(loaded.filter((path) => /@pulumi.pulumi.(index\.js$|runtime.closure)/.test(path))).toEqual([]);
});
