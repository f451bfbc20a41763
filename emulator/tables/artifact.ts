import type { FieldSpec, Message } from "../gateway/fields";
import { bool, enumeration, int32, int64, list, messageType, object, text } from "../gateway/fields";
import { invalidField, notFound } from "../gateway/status";
import { artifacts, artifactVersions } from "../data/libraries";
import type { PlatformService } from "../service/platformService";
import type { Entry } from "../service/store";
import { times, uid } from "./common";
import type { KindTable } from "./kindTable";
import { pageFields, pageOf } from "./methods";

const service = "libraries.v2.ArtifactsService";
const ecosystem = enumeration("ECOSYSTEM", "JAVA PYTHON");

const commonFields: Readonly<Record<string, FieldSpec>> = {
  uid,
  name: text(),
  description: text(),
  ...times,
};

const versionMessage = messageType({
  ...commonFields,
  version: text(),
  sizeBytes: int64(),
});

export const artifact: KindTable = {
  kind: "Artifact",
  prefix: "/libraries/v2",
  collection: "artifacts",
  message: messageType({
    ...commonFields,
    ecosystem,
    latestVersion: text(),
    versionCount: int32(),
  }),
  methods: ["list"],
  capabilities: "LIBRARIES_ARTIFACTS",
  isUnscoped: true,
  isAlwaysCounted: true,
  isListed: ({ value }, request) => requestedEcosystems(request).includes(value.ecosystem as string),
  filters: {
    ecosystems: list(ecosystem),
    query: {
      ...text(),
      matches: ({ value }, wanted) =>
        (value.name as string).toLowerCase().includes((wanted as string).toLowerCase()),
    },
    // Builds for a CUDA version say so in their version, `2.9.0+cu128`; repaired ones end in `+cgr.1`.
    cudaVersion: {
      ...text(),
      matches: (entry, wanted, _, platform) =>
        listVersions(entry, platform).some((version) =>
          version.includes(`+cu${(wanted as string).replace(".", "")}`),
        ),
    },
    remediated: {
      ...bool(),
      matches: (entry, _wanted, _, platform) =>
        listVersions(entry, platform).some((version) => /\+cgr\.[0-9]+$/.test(version)),
    },
  },
  defaultOrder: "name asc",
  custom: [
    {
      rpc: `${service}/CountArtifacts`,
      capabilities: ["LIBRARIES_ARTIFACTS_LIST"],
      verb: "GET",
      pattern: "/libraries/v2/artifacts/count",
      request: messageType({ ecosystems: list(ecosystem) }),
      response: messageType({
        counts: list(object({ ecosystem, totalCount: int64() })),
      }),
      run({ request }, { store }) {
        const all = [...store.all("Artifact")];
        return {
          counts: requestedEcosystems(request).map((each) => ({
            ecosystem: each,
            totalCount: String(all.filter(({ value }) => value.ecosystem === each).length),
          })),
        };
      },
    },
  ],
  parent: "",
  builtIn: artifacts,
};

/** Has no address of its own: listed below its artifact. */
export const artifactVersion: KindTable = {
  kind: "ArtifactVersion",
  prefix: "/libraries/v2",
  collection: "artifactVersions",
  message: versionMessage,
  methods: [],
  isAlwaysCounted: true,
  defaultOrder: "version desc",
  columns: { version: "version" },
  custom: [
    {
      rpc: `${service}/ListArtifactVersions`,
      capabilities: ["LIBRARIES_ARTIFACTS_LIST"],
      verb: "GET",
      pattern: "/libraries/v2/artifacts/{artifactId}/versions",
      request: messageType({ artifactId: text(), ...pageFields }),
      response: pageOf("artifactVersions", versionMessage, true),
      run({ request }, platform) {
        const of = request.artifactId as string;
        if (!platform.store.find("Artifact", of)) throw notFound("Artifact", of);
        return platform.list("ArtifactVersion", request, ({ parent }) => parent === of);
      },
    },
  ],
  parent: "Artifact",
  builtIn: artifactVersions,
};

function requestedEcosystems({ ecosystems }: Message): string[] {
  const known = [...new Set((ecosystems ?? []) as string[])].filter(
    (each) => each !== "ECOSYSTEM_UNSPECIFIED",
  );
  if (known.length === 0) {
    throw invalidField("ecosystems", "ecosystems is required");
  }
  return known;
}

function listVersions(entry: Entry, { store }: PlatformService): string[] {
  return store.childrenOf(entry).map(({ value }) => value.version as string);
}
