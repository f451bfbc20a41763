// @ts-nocheck -- The packages of the site are not those of this repository.
import DefaultTheme from "vitepress/theme";
import Diagram from "./Diagram.vue";
import PictureLink from "./PictureLink.vue";
import Recording from "./Recording.vue";
import VersionLink from "./VersionLink.vue";
import "./style.css";

export default {
  extends: DefaultTheme,
  /** @param {import("vitepress").EnhanceAppContext} context */
  enhanceApp({ app }) {
    app.component("Diagram", Diagram);
    app.component("VersionLink", VersionLink);
    app.component("Recording", Recording);
    app.component("PictureLink", PictureLink);
  },
};
