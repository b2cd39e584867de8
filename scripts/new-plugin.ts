import { existsSync } from "node:fs";
import { mkdir, mkdtemp, readdir, readFile, rename, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { isPluginId, readManifest } from "../host/modules/manifest/manifest.ts";

const TEMPLATES = join(import.meta.dirname, "templates");
const SUFFIX = ".template";
const KINDS = ["bridge", "service", "widget"];
const USAGE = `Creates a working plugin with a manifest, README and test.

  npm run new-plugin <id> -- [--kind KIND]

  id        lower-case words joined by hyphens, such as garden-bridge
  --kind    ${KINDS.join(", ")}; default: bridge
`;

const { id, kind } = readArguments();
const plugin = `plugins/${id}`;
const tests = `test/${plugin}`;
for (const folder of [plugin, tests]) {
  if (existsSync(folder)) fail(1, `${folder} already exists`);
}
await writePlugin();
console.log(`created ${plugin}; a running host loads it now. Next:

  npm test ${tests}
  npm install     adds it to package-lock.json`);

function readArguments(): { id: string; kind: string } {
  try {
    const { values, positionals } = parseArgs({
      options: { kind: { type: "string", default: "bridge" }, help: { type: "boolean" } },
      allowPositionals: true,
    });
    if (values.help) {
      process.stdout.write(USAGE);
      process.exit(0);
    }
    const [name = "", ...more] = positionals;
    if (more.length > 0) throw new Error(`pass exactly one id; there is also ${more.join(" ")}`);
    if (!isPluginId(name)) {
      throw new Error(`invalid id "${name}": use lower-case words joined by hyphens`);
    }
    if (!KINDS.includes(values.kind))
      throw new Error(`unknown kind ${values.kind}; use one of ${KINDS.join(", ")}`);
    return { id: name, kind: values.kind };
  } catch (error) {
    return fail(2, `${(error as Error).message}\n\n${USAGE}`);
  }
}

/** Creates the plugin in one step, because a host may be watching the folder. */
async function writePlugin(): Promise<void> {
  const draft = await mkdtemp("plugins/.new-");
  try {
    const { "test.template": test = "", ...files } = await readTemplates();
    for (const [name, content] of Object.entries(files)) {
      await writeFile(join(draft, name.slice(0, -SUFFIX.length)), content);
    }
    await readManifest(draft);
    await rename(draft, plugin);
    await mkdir(tests, { recursive: true });
    await writeFile(join(tests, kind === "widget" ? "widget.test.ts" : "index.test.ts"), test);
  } catch (error) {
    await rm(draft, { recursive: true, force: true });
    fail(1, (error as Error).message.replace(draft, plugin));
  }
}

async function readTemplates(): Promise<Record<string, string>> {
  const values = await placeholders();
  const folder = join(TEMPLATES, kind);
  const names = await readdir(folder);
  const read = names.map(async (name) => {
    const text = await readFile(join(folder, name), "utf8");
    return [name, text.replace(/\{\{(\w+)\}\}/g, (_, key: string) => values[key] ?? "")] as const;
  });
  return Object.fromEntries(await Promise.all(read));
}

async function placeholders(): Promise<Record<string, string>> {
  const sdk = JSON.parse(await readFile("plugin-sdk/package.json", "utf8")) as { version: string };
  const words = id.replaceAll("-", " ");
  return {
    id,
    title: words.charAt(0).toUpperCase() + words.slice(1),
    /** One word, for the bridge kind in device ids. */
    word: id
      .replace(/-bridge$/, "")
      .replaceAll("-", "")
      .slice(0, 31),
    sdk: sdk.version,
  };
}

function fail(code: number, message: string): never {
  console.error(`new-plugin: ${message}`);
  process.exit(code);
}
