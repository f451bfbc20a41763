// @ts-check
import DefaultTheme from "vitepress/theme";
import PictureLink from "./PictureLink.vue";
import Recording from "./Recording.vue";
import VersionLink from "./VersionLink.vue";
import "./style.css";

export default {
  extends: DefaultTheme,
  /** @param {import("vitepress").EnhanceAppContext} context */
  enhanceApp({ app }) {
    app.component("VersionLink", VersionLink);
    app.component("Recording", Recording);
    app.component("PictureLink", PictureLink);
  },
};
