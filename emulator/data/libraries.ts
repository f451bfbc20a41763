import type { BuiltIn } from "../tables/kindTable";
import libraries from "./libraries.json";

/** Made-up data: versions by library and ecosystem. A release with a fix ends in `+cgr.1`, one for CUDA 12.6 in `+cu126`. */
const all = Object.entries(libraries).flatMap(([prefix, versions]) =>
  Object.entries(versions).map(([name, versionsOfOne]) => ({
    name,
    uid: `${prefix}-${name.replace(":", "-")}`,
    ecosystem: prefix === "maven" ? "ECOSYSTEM_JAVA" : "ECOSYSTEM_PYTHON",
    versions: versionsOfOne,
  })),
);

/** The libraries were added on one day each. */
const timesOf = (index: number): { createTime: string; updateTime: string } => {
  const time = new Date(Date.UTC(2025, 0, 1 + index)).toISOString();
  return { createTime: time, updateTime: time };
};

export function artifacts(): BuiltIn[] {
  return all.map(({ uid, name, ecosystem, versions }, index) => ({
    uid,
    value: {
      name,
      description: `Library ${name}`,
      ecosystem,
      latestVersion: versions.at(-1),
      versionCount: versions.length,
      ...timesOf(index),
    },
  }));
}

export function artifactVersions(): BuiltIn[] {
  return all.flatMap(({ uid, name, versions }, libraryIndex) =>
    versions.map((version, index) => ({
      uid: `${uid}/${version}`,
      parent: uid,
      value: {
        name,
        description: `Release ${version} of ${name}`,
        version,
        // Some exceed the safe integers of JavaScript, so that a client that rounds them fails a test.
        sizeBytes: String(name === "torch" ? 9_007_199_254_740_993n + BigInt(index) : 100_000 + index * 17),
        ...timesOf(libraryIndex),
      },
    })),
  );
}
