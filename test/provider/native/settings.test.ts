import { settingDefinitions } from "../../../provider/settings/definitions";
import { PlatformProvider } from "../../../provider/native/provider";

/* The plugin tells every language of a misspelt setting; programs of Node, commands and doctor have tests of their own. */

const keys = Object.values(settingDefinitions).flatMap((definition) =>
  "key" in definition ? [definition.key] : [],
);

test.each(keys)(
  "the plugin names a letter that is missing in platform:%s, and is silent where it is right",
  (key) => {
    const told: unknown[] = [];
    const provider = new PlatformProvider((level, line) => told.push([level, line]));
    provider.configure({ [key]: "x" });
    expect(told).toEqual([]);
    const misspelt = key.slice(0, -1);
    provider.configure({ [misspelt]: "x" });
    expect(told).toEqual([
      ["warning", `platform:${misspelt} is no setting and has no effect; did you mean platform:${key}?`],
    ]);
  },
);
