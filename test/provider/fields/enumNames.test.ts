import { adviseOnNames } from "../../../provider/fields/enumNames";
import { specs } from "../../../provider/access/documents/specs";

const fieldOf = (kind: string, key: string) => {
  const field = specs[kind]?.fields[key];
  if (field === undefined) throw new Error(`${kind} has no ${key}`);
  return field;
};

test.each([
  ["the rest of it", "Repo", "catalogTier", "CATALOG_TIER_APP", /did you mean "CATALOG_TIER_APPLICATION"\?$/],
  ["a short list", "Repo", "catalogTier", "CATALOG_TIER_GOLD", /; known are CATALOG_TIER_.*, CATALOG_TIER_/],
  [
    "the nearest of its family that reads",
    "Role",
    "capabilities",
    ["CAP_REPOSITORY_LISTING"],
    /; did you mean "CAP_REPO_LIST"\?$/,
  ],
  [
    "the same with the service, in the plural",
    "Role",
    "capabilities",
    ["CAP_GROUP_LIST"],
    /; did you mean "CAP_IAM_GROUPS_LIST"\?$/,
  ],
  [
    "none that the list has already",
    "Role",
    "capabilities",
    ["CAP_IAM_GROUPS_LIST", "CAP_GROUP_LIST"],
    /^(?!.*"CAP_IAM_GROUPS_LIST")/,
  ],
])("a wrong name is answered with %s", (_, kind, key, value, message) => {
  expect(adviseOnNames(fieldOf(kind, key), value)).toEqual([expect.stringMatching(message)]);
});

test("many unknown names are all named, and only the first ones get a proposal", () => {
  const field = fieldOf("Role", "capabilities");
  const many = Array.from({ length: 5_000 }, (_, i) => `CAP_REPO_LISTING_${i}`);
  const lines = adviseOnNames(field, many);
  expect(lines).toHaveLength(5_000);
  expect(lines.filter((line) => line.includes("did you mean"))).toHaveLength(10);
  expect(adviseOnNames(field, [...many, "CAP_REPO_LISTS_ALL"], many)).toEqual([
    expect.stringMatching(/^CAP_REPO_LISTS_ALL is not a name/),
  ]);
});

test.each(["CAP_VULN_READ", "CAP_SIGSTORE_CERTIFICATE_GET", "CAP_SIGSTORE_VIEW", "CAP_IAM_SCIM"])(
  "whoever writes %s is offered no capability that writes",
  (value) => {
    const [line = "", ...others] = adviseOnNames(fieldOf("Role", "capabilities"), [value]);
    expect(others).toEqual([]);
    expect(line).toContain(`${value} is not a name that this version knows`);
    expect(line).not.toMatch(/did you mean "\w+(?<!_GET|_LIST)"/);
  },
);
