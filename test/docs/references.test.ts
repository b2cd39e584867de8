import assert from "node:assert/strict";
import { readdir, readFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { test } from "node:test";
import { REPOSITORY } from "./guide-home.ts";

const NOT_OURS = new Set([".git", "node_modules", "coverage", "data"]);
/** Code of a language is not prose: it may name what its reader is about to write. */
const CODE_BLOCK = /^```\w[^]*?^```$/gm;
const CODE = /```[^]*?```|`[^`\n]+`/g;
/** `code/compile.ts`, `test/long/at-*.test.ts`, `plugin-sdk/ui/`: a file, or a folder at the top. */
const NAMED =
  /(?<![\w/@.-])(?:(?:[\w.*-]+\/)*[\w*-][\w.*-]*\.(?:ts|js|sh|css|md|conf)\b|(?:host|plugin-sdk|plugins|scripts|test|docs)\/[\w/*-]+(?:\.json)?)/g;
/** A file that a reader writes, with its content. */
const WRITTEN_HERE = /^`([^`\n]+)`:\n\n```/gm;
/** The plugin and the automations that readers write for themselves, and the file that Mantel writes beside these. */
const WRITTEN_BY_READERS = /garden-|^automations\/[\w-]+(?:\.test)?\.ts$|^home\.d\.ts$/;
const LINK = /(?:\]\(|src=")(?!\w+:)([^)#"\s]*)(?:#([^)\s]+))?[)"]/g;
const HEADING = /^#+ (.+)$/gm;
const COMMAND = /\bnpm run (?:--silent )?([\w-]+)/g;

test("every file, folder and command that a document names exists", async () => {
  const paths = await pathsBelow("");
  const { scripts } = JSON.parse(await readText("package.json")) as { scripts: object };
  const missing: string[] = [];

  for (const document of paths.filter(isDocument)) {
    const text = await readText(document);
    const code = text.replaceAll(CODE_BLOCK, "").match(CODE)?.join("\n") ?? "";
    const names = [...code.matchAll(NAMED)].map(([name]) => name);
    const commands = [...text.matchAll(COMMAND)].map(([, name = ""]) => name);
    const written = Array.from(text.matchAll(WRITTEN_HERE), ([, name = ""]) => name);
    missing.push(
      ...names
        .filter((name) => !written.includes(name) && !isThere(name, paths))
        .map((name) => `${document}: ${name}`),
      ...commands
        .filter((name) => !(name in scripts))
        .map((name) => `${document}: npm run ${name}`),
    );
  }

  assert.deepEqual(missing, []);
});

test("every link in a document points to an existing file and heading", async () => {
  const paths = await pathsBelow("");
  const broken: string[] = [];

  for (const document of paths.filter(isDocument)) {
    for (const [link, path = "", heading] of (await readText(document)).matchAll(LINK)) {
      const target = path === "" ? document : join(dirname(document), path);
      const leads = paths.includes(target) && (await hasHeading(target, heading));
      if (!leads) broken.push(`${document}: ${link}`);
    }
  }

  assert.deepEqual(broken, []);
});

/** Every file and folder of the repository, by its path from the top. */
async function pathsBelow(folder: string): Promise<string[]> {
  const entries = await readdir(join(REPOSITORY, folder), { withFileTypes: true });
  const found = entries
    .filter(({ name }) => !NOT_OURS.has(name))
    .map(async (entry) => {
      const path = join(folder, entry.name);
      return entry.isDirectory() ? [path, ...(await pathsBelow(path))] : [path];
    });
  return (await Promise.all(found)).flat();
}

const isDocument = (path: string) => path.endsWith(".md");

const readText = (path: string) => readFile(join(REPOSITORY, path), "utf8");

/** True if a path is the name or ends with it. In the name, `*` stands for part of a name. */
function isThere(name: string, paths: readonly string[]): boolean {
  if (WRITTEN_BY_READERS.test(name)) return true;
  const pattern = name.replace(/\/$/, "").replaceAll(".", "\\.").replaceAll("*", "[^/]*");
  const end = new RegExp(`(?:^|/)${pattern}$`);
  return paths.some((path) => end.test(path));
}

/** True if a heading of the document has this anchor on the page that Git hosts show. */
async function hasHeading(document: string, anchor: string | undefined): Promise<boolean> {
  if (anchor === undefined) return true;
  const headings = [...(await readText(document)).matchAll(HEADING)].map(([, text = ""]) => text);
  return headings.map(anchorOf).includes(anchor);
}

const anchorOf = (heading: string): string =>
  heading
    .toLowerCase()
    .replaceAll(/[^\w\s-]/g, "")
    .replaceAll(/\s/g, "-");
