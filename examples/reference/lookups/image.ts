import {
  getGroupOutput,
  getImageArchitecturesOutput,
  getImageSizeOutput,
  getRepoOutput,
  getTagOutput,
} from "pulumi-platform";

const acme = getGroupOutput({ name: "acme" });
const api = getRepoOutput({ name: "api", parentUid: acme.uid });
const { digest } = getTagOutput({ name: "latest", parentUid: api.uid });

export const architectures = getImageArchitecturesOutput({ repoUid: api.uid, digest }).architectures;
export const bytes = getImageSizeOutput({ repoUid: api.uid, digest, architecture: "arm64" }).bytes;
