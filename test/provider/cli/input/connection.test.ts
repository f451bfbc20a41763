import { openConnection } from "../../../../provider/cli/input/connection";

test("a command without a stack and without an address names both ways to give it", async () => {
  await expect(openConnection({ env: { PLATFORM_TOKEN: "token" } })).rejects.toThrow(
    "the address of the API is missing: set PLATFORM_BASE_URL, or name a stack that has it with --stack",
  );
});

test("a stack whose configuration cannot be read is named", async () => {
  const env = { PLATFORM_TOKEN: "token", PATH: "/nowhere" };
  await expect(openConnection({ env, stack: "acme/access/prod" })).rejects.toMatchObject({
    errorCode: "PP2005",
    message: expect.stringContaining('the configuration of stack "acme/access/prod" cannot be read'),
  });
});
