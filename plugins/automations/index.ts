import { definePlugin } from "@mantel/plugin-sdk";

/** The automations of the home. */
export default definePlugin({ start() {} });
