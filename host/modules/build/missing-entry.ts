import { existsSync } from "node:fs";
import { join, relative } from "node:path";
import { MantelError } from "@mantel/plugin-sdk/errors";
import { locationOfText } from "../errors/code-frame.ts";

/** Refuses a file that the manifest names and that does not exist. @throws MantelError `reload_failed`, with its line there */
export function refuseMissingEntry(side: "server" | "widget", entry: string, folder: string): void {
  if (existsSync(entry)) return;
  const location = locationOfText(join(folder, "package.json"), `"${side}":`, folder);
  throw new MantelError(
    "reload_failed",
    `${relative(folder, entry)} does not exist; create it, or change mantel.${side} in package.json`,
    location ? { location } : {},
  );
}
