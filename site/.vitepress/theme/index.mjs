// @ts-check
import DefaultTheme from "vitepress/theme";
import VersionLink from "./VersionLink.vue";
import "./style.css";

export default {
  extends: DefaultTheme,
  /** @param {import("vitepress").EnhanceAppContext} context */
  enhanceApp({ app }) {
    app.component("VersionLink", VersionLink);
  },
};
