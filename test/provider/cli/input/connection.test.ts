import { connect } from "../../../../provider/cli/input/connection";

test("a command without a stack and without an address names both ways to give it", async () => {
  await expect(connect({ env: { PLATFORM_TOKEN: "token" } })).rejects.toThrow(
    "the address of the API is missing: set PLATFORM_BASE_URL, or name a stack that has it with --stack",
  );
});
