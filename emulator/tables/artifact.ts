import type { FieldMaker, Message } from "../gateway/descriptor";
import { bool, enumOf, enumType, int32, int64, list, messageType, object, text } from "../gateway/descriptor";
import { invalidArgument, notFound } from "../gateway/status";
import { artifacts, artifactVersions } from "../data/libraries";
import type { Entry } from "../service/store";
import { times, uid } from "./common";
import type { KindTable, World } from "./kindTable";
import { pageFields } from "./methods";

const name = (suffix: string): string => `chainguard.platform.libraries.v2.${suffix}`;
const service = "libraries.v2.ArtifactsService";
const ecosystem = enumOf(enumType("ECOSYSTEM", "JAVA PYTHON"));

const described: Readonly<Record<string, FieldMaker>> = { uid, name: text(), description: text(), ...times };

const versionMessage = messageType(name("ArtifactVersion"), {
  ...described,
  version: text(),
  sizeBytes: int64(),
});

export const artifact: KindTable = {
  kind: "Artifact",
  prefix: "/libraries/v2",
  collection: "artifacts",
  service,
  message: messageType(name("Artifact"), {
    ...described,
    ecosystem,
    latestVersion: text(),
    versionCount: int32(),
  }),
  methods: ["list"],
  unscoped: true,
  alwaysCounted: true,
  filters: { ecosystems: list(ecosystem), query: text(), cudaVersion: text(), remediated: bool() },
  defaultOrder: "name asc",
  custom: [
    {
      rpc: `${service}/CountArtifacts`,
      verb: "GET",
      pattern: "/libraries/v2/artifacts/count",
      request: messageType(name("CountArtifactsRequest"), { ecosystems: list(ecosystem) }),
      response: messageType(name("CountArtifactsResponse"), {
        counts: list(object(messageType(name("ArtifactCount"), { ecosystem, totalCount: int64() }))),
      }),
    },
  ],
  rules: {
    parent: "",
    matches: {
      query: (entry, wanted) =>
        (entry.value.name as string).toLowerCase().includes((wanted as string).toLowerCase()),
      // Builds for a CUDA version say so in their version, `2.9.0+cu128`; repaired ones end in `+cgr.1`.
      cudaVersion: (entry, wanted, world) =>
        versionsOf(entry, world).some((version) =>
          version.includes(`+cu${(wanted as string).replace(".", "")}`),
        ),
      remediated: (entry, _, world) =>
        versionsOf(entry, world).some((version) => /\+cgr\.[0-9]+$/.test(version)),
    },
    custom: {
      ListArtifacts: ({ request }, world) => {
        const asked = askedEcosystems(request);
        return world.list("Artifact", request, ({ value }) => asked.includes(value.ecosystem as string));
      },
      CountArtifacts({ request }, { store }) {
        const all = [...store.all("Artifact")];
        return {
          counts: askedEcosystems(request).map((each) => ({
            ecosystem: each,
            totalCount: String(all.filter(({ value }) => value.ecosystem === each).length),
          })),
        };
      },
    },
    builtIn: artifacts,
  },
};

/** Has no address of its own: listed below its artifact. */
export const artifactVersion: KindTable = {
  kind: "ArtifactVersion",
  prefix: "/libraries/v2",
  collection: "artifactVersions",
  service,
  message: versionMessage,
  methods: [],
  unscoped: true,
  alwaysCounted: true,
  defaultOrder: "version desc",
  columns: { version: "version" },
  custom: [
    {
      rpc: `${service}/ListArtifactVersions`,
      verb: "GET",
      pattern: "/libraries/v2/artifacts/{artifactId}/versions",
      request: messageType(name("ListArtifactVersionsRequest"), { artifactId: text(), ...pageFields }),
      response: messageType(name("ListArtifactVersionsResponse"), {
        artifactVersions: list(object(versionMessage)),
        nextPageToken: text(),
        totalCount: int64(),
        skipped: int32(),
      }),
    },
  ],
  rules: {
    parent: "Artifact",
    custom: {
      ListArtifactVersions({ request }, world) {
        const of = request.artifactId as string;
        if (!world.store.find("Artifact", of)) throw notFound("Artifact", of);
        return world.list("ArtifactVersion", request, ({ parent }) => parent === of);
      },
    },
    builtIn: artifactVersions,
  },
};

function askedEcosystems({ ecosystems: asked }: Message): string[] {
  const known = [...new Set((asked ?? []) as string[])].filter((each) => each !== "ECOSYSTEM_UNSPECIFIED");
  if (known.length === 0) {
    throw invalidArgument([{ field: "ecosystems", description: "ecosystems is required" }]);
  }
  return known;
}

function versionsOf(entry: Entry, { store }: World): string[] {
  return store.childrenOf(entry).map(({ value }) => value.version as string);
}
