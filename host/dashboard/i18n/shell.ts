import { translated } from "./language.ts";

const english = {
  pages: "Pages",
  homeStatus: "Home",
  detailsFailed: "The details did not open",

  restart: "Restart",
  stopped: (reason: string) => `Stopped: ${reason}`,
  newCodeFailed: (reason: string) => `New code failed: ${reason}`,
  endlessLoop: "infinite loop",
  notInstalled: "The module is not installed.",
  noWidget: "The module has no widget.",
};

/**
 * Texts of the shell that the first paint may need: pages and tile notices. The German ones are in the language pack,
 * so that the first paint waits for one language only.
 */
export const words = translated("shell", english);
