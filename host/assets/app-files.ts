import { createHash } from "node:crypto";
import { readFile } from "node:fs/promises";
import { basename, extname, join } from "node:path";

interface AppFile {
  readonly path: string;
  readonly base64: string;
}

/**
 * The files that make the dashboard installable as an app: the icons, and the manifest (W3C
 * Web Application Manifest) that names them. `inputs` are the source files.
 */
export async function appFiles(folder: string): Promise<{ files: AppFile[]; inputs: string[] }> {
  const [icon, appIcon] = [join(folder, "icon.svg"), join(folder, "app-icon.png")];
  const icons = await Promise.all(
    [icon, appIcon].map(async (path) => withHashInName(path, await readFile(path))),
  );
  const [sharp = "", full = ""] = icons.map(({ path }) => path);
  const manifest = Buffer.from(JSON.stringify(manifestWith(sharp, full)));
  return {
    files: [...icons, withHashInName("app.webmanifest", manifest)],
    inputs: [icon, appIcon, import.meta.filename],
  };
}

function manifestWith(sharp: string, full: string): object {
  return {
    name: "Mantel",
    id: "/",
    start_url: "/",
    display: "standalone",
    background_color: "#171311",
    theme_color: "#171311",
    icons: [
      { src: sharp, sizes: "any", type: "image/svg+xml" },
      { src: full, sizes: "512x512", type: "image/png", purpose: "any maskable" },
    ],
  };
}

/** A file whose name changes with its content, such as `/assets/icon.3f2a….svg`. */
export function withHashInName(file: string, contents: Buffer): AppFile {
  const hash = createHash("sha256").update(contents).digest("hex").slice(0, 8);
  const end = extname(file);
  return {
    path: `/assets/${basename(file, end)}.${hash}${end}`,
    base64: contents.toString("base64"),
  };
}
