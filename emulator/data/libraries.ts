import type { BuiltIn } from "../tables/kindTable";

/** Made-up data, the same in every run, enough for several small pages of each ecosystem. */
const java =
  "ch.qos.logback:logback-classic com.fasterxml.jackson.core:jackson-databind com.google.guava:guava " +
  "com.h2database:h2 com.squareup.okhttp3:okhttp commons-io:commons-io io.netty:netty-all " +
  "io.projectreactor:reactor-core jakarta.servlet:jakarta.servlet-api junit:junit " +
  "org.apache.commons:commons-lang3 org.apache.kafka:kafka-clients org.apache.logging.log4j:log4j-core " +
  "org.bouncycastle:bcprov-jdk18on org.mockito:mockito-core org.postgresql:postgresql " +
  "org.slf4j:slf4j-api org.springframework:spring-core org.yaml:snakeyaml redis.clients:jedis";
const python =
  "aiohttp boto3 certifi cryptography django fastapi flask idna jinja2 numpy pandas pillow pydantic pyyaml " +
  "requests scipy sqlalchemy torch urllib3 werkzeug";

/** Packages whose releases have a CUDA version. */
const cudaPackages = ["numpy", "torch"];

interface Library {
  readonly uid: string;
  readonly name: string;
  readonly ecosystem: string;
  readonly versions: readonly string[];
  readonly createTime: string;
}

function inventLibraries(): Library[] {
  const all = [
    ...java.split(" ").map((name) => ({ name, prefix: "maven", ecosystem: "ECOSYSTEM_JAVA" })),
    ...python.split(" ").map((name) => ({ name, prefix: "pypi", ecosystem: "ECOSYSTEM_PYTHON" })),
  ];
  return all.map(({ name, prefix, ecosystem }, index) => ({
    uid: `${prefix}-${name.replace(":", "-")}`,
    name,
    ecosystem,
    versions: inventVersions(name, index),
    createTime: new Date(Date.UTC(2025, 0, 1 + index)).toISOString(),
  }));
}

/** Invents the versions of a library: plain releases, one with a fix (`+cgr.1`), and CUDA builds. */
function inventVersions(name: string, index: number): string[] {
  const plain = Array.from({ length: 2 + (index % 4) }, (_, minor) => `${1 + (index % 3)}.${minor * 4}.0`);
  const remediated = index % 3 === 0 ? [`${plain.at(-1) ?? ""}+cgr.1`] : [];
  const cudaBuilds = cudaPackages.includes(name) ? ["126", "128"].map((cuda) => `3.0.0+cu${cuda}`) : [];
  return [...plain, ...remediated, ...cudaBuilds];
}

export function artifacts(): BuiltIn[] {
  return inventLibraries().map(({ uid, name, ecosystem, versions, createTime }) => ({
    uid,
    value: {
      name,
      description: `Library ${name}`,
      ecosystem,
      latestVersion: versions.at(-1),
      versionCount: versions.length,
      createTime,
      updateTime: createTime,
    },
  }));
}

export function artifactVersions(): BuiltIn[] {
  return inventLibraries().flatMap(({ uid, name, versions, createTime }) =>
    versions.map((version, index) => ({
      uid: `${uid}/${version}`,
      parent: uid,
      value: {
        name,
        description: `Release ${version} of ${name}`,
        version,
        // Some exceed the safe integers of JavaScript, so that a client that rounds them fails a test.
        sizeBytes: String(name === "torch" ? 9_007_199_254_740_993n + BigInt(index) : 100_000 + index * 17),
        createTime,
        updateTime: createTime,
      },
    })),
  );
}
