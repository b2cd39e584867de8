import { existsSync } from "node:fs";
import { mkdir, mkdtemp, readFile, rename, rm } from "node:fs/promises";
import { basename, join, resolve } from "node:path";
import { parseArgs } from "node:util";
import { readManifest } from "../host/modules/manifest/manifest.ts";
import {
  checkId,
  checkKind,
  createPackage,
  type Kind,
  KINDS,
  repositoryFiles,
  writeFiles,
} from "../plugin-sdk/create/scaffold.ts";
import { packSdk, versionsOfTools } from "./pack-sdk/pack.ts";

const ROOT = resolve(import.meta.dirname, "..");
const TEMPLATES = join(ROOT, "plugin-sdk/create/templates");
const USAGE = `Creates a working plugin with a manifest, README and test.

  npm run new-plugin <id> -- [--kind KIND]
  npm run new-plugin -- --to FOLDER [--kind KIND] [--sdk SOURCE]

  id        lower-case words joined by hyphens, such as garden-bridge
  --kind    ${KINDS.join(", ")}; default: bridge
  --to      a folder outside, for a package of its own; its name is the id
  --sdk     where npm finds the SDK for it; default: a copy of this one in its folder \`vendor\`
`;

const { id, kind, to, sdk } = readArguments();
try {
  if (to === undefined) await inRepository(id, kind);
  else await outside(resolve(to), kind, sdk);
} catch (error) {
  fail(1, (error as Error).message);
}

function readArguments(): { id: string; kind: Kind; to?: string; sdk?: string } {
  try {
    const text = { type: "string" } as const;
    const { values, positionals } = parseArgs({
      options: {
        kind: { type: "string", default: "bridge" },
        to: text,
        sdk: text,
        help: { type: "boolean" },
      },
      allowPositionals: true,
    });
    if (values.help) {
      process.stdout.write(USAGE);
      process.exit(0);
    }
    const [name = basename(values.to ?? ""), ...more] = positionals;
    if (more.length > 0) throw new Error(`pass exactly one id; there is also ${more.join(" ")}`);
    checkId(name);
    return { ...values, id: name, kind: checkKind(values.kind) };
  } catch (error) {
    return fail(2, `${(error as Error).message}\n\n${USAGE}`);
  }
}

/** Creates the plugin in one step, because a host may be watching the folder. */
async function inRepository(name: string, of: Kind): Promise<void> {
  const plugin = `plugins/${name}`;
  const testFolder = `test/${plugin}`;
  for (const folder of [plugin, testFolder]) {
    if (existsSync(folder)) throw new Error(`${folder} already exists`);
  }
  const { own, tests } = await repositoryFiles({
    id: name,
    kind: of,
    templates: TEMPLATES,
    sdk: await versionOfSdk(),
  });
  const draft = await mkdtemp("plugins/.new-");
  try {
    await writeFiles(draft, own);
    await readManifest(draft);
    await rename(draft, plugin);
    await mkdir(testFolder, { recursive: true });
    await writeFiles(testFolder, tests);
  } catch (error) {
    await rm(draft, { recursive: true, force: true });
    throw new Error((error as Error).message.replace(draft, plugin), { cause: error });
  }
  console.log(`created ${plugin}; a running host loads it now. Next:

  npm test ${testFolder}
  npm install     adds it to package-lock.json`);
}

async function outside(folder: string, of: Kind, source: string | undefined): Promise<void> {
  const [version, versions] = [await versionOfSdk(), await versionsOfTools()];
  const vendored = `vendor/mantel-plugin-sdk-${version}.tgz`;
  await createPackage(folder, {
    kind: of,
    templates: TEMPLATES,
    sdk: version,
    versions,
    sdkSource: source ?? `file:${vendored}`,
  });
  if (source === undefined) await packSdk(join(folder, "vendor"));
  console.log(`created ${folder}. Next:

  cd ${folder}
  npm install
  npm test

To run it, here: npm run dev -- --plugins plugins:${resolve(folder, "..")}`);
}

async function versionOfSdk(): Promise<string> {
  const { version } = await readJson<{ version: string }>("plugin-sdk/package.json");
  return version;
}

async function readJson<T>(path: string): Promise<T> {
  return JSON.parse(await readFile(join(ROOT, path), "utf8")) as T;
}

function fail(code: number, message: string): never {
  console.error(`new-plugin: ${message}`);
  process.exit(code);
}
