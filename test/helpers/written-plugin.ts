import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { TestContext } from "node:test";
import { emptyFolder } from "./folder.ts";

export const ICON =
  '<svg xmlns="http://www.w3.org/2000/svg" width="2" height="2"><circle r="1"/></svg>';

/** The folder of a plugin `echo` that somebody else has made. */
export async function writePlugin(t: TestContext): Promise<string> {
  const folder = join(await emptyFolder(t), "echo");
  await mkdir(folder);
  const mantel = {
    id: "echo",
    title: "Echo",
    kinds: ["service"],
    server: "index.ts",
    permissions: { hosts: ["a.test"] },
  };
  const files = {
    "package.json": JSON.stringify({ name: "echo", version: "1.0.0", type: "module", mantel }),
    "index.ts": `import { definePlugin } from "@mantel/plugin-sdk";
export default definePlugin({ start() {} });`,
    "README.md": "# Echo",
    "icon.svg": ICON,
  };
  for (const [name, text] of Object.entries(files)) await writeFile(join(folder, name), text);
  return folder;
}
