// node --import tsx scripts/zigbee-definitions.ts: writes test/fixtures/zigbee2mqtt/definitions.json.gz, with what every
// device exposes that the newest zigbee-herdsman-converters knows. Installs that package, and a Node that runs it, into
// a temporary folder.

import { execFile } from "node:child_process";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { gzipSync } from "node:zlib";

const run = promisify(execFile);
const PACKAGE = "zigbee-herdsman-converters";
const OUT = join(import.meta.dirname, "../test/fixtures/zigbee2mqtt/definitions.json.gz");
/** The fields that the bridge reads. */
const FIELDS = new Set(
  "type name property endpoint access unit value_min value_max value_step value_on value_off values features category item_type length_min length_max".split(
    " ",
  ),
);
/** Runs under Node 24. A device that does not exist gives the exposes of definitions that depend on it. */
const LIST = `
  const { prepareDefinition } = require("${PACKAGE}");
  const { default: definitions } = require("${PACKAGE}/devices/index");
  const listed = definitions.map(prepareDefinition).map(({ vendor, model, exposes }) => ({
    vendor, model, exposes: typeof exposes === "function" ? exposes({ isDummyDevice: true }, {}) : exposes,
  }));
  require("node:fs").writeFileSync("definitions.json", JSON.stringify(listed));
`;

type Json = Readonly<Record<string, unknown>>;

interface Definition {
  readonly vendor: string;
  readonly model: string;
  readonly exposes: readonly Json[];
}

const folder = await mkdtemp(join(tmpdir(), "zigbee-definitions-"));
try {
  await run("npm", ["install", "--prefix", folder, PACKAGE, "node@24"]);
  await run(join(folder, "node_modules/node/bin/node"), ["-e", LIST], { cwd: folder });
  const definitions = JSON.parse(
    await readFile(join(folder, "definitions.json"), "utf8"),
  ) as Definition[];
  const manifest = join(folder, "node_modules", PACKAGE, "package.json");
  const { version } = JSON.parse(await readFile(manifest, "utf8")) as { version: string };
  await writeFile(OUT, gzipSync(JSON.stringify(packed(version, definitions)), { level: 9 }));
  console.log(`${definitions.length} definitions of ${PACKAGE} ${version}`);
} finally {
  await rm(folder, { recursive: true, force: true });
}

/** Each different expose once, and each definition as its models and the places of its exposes. */
function packed(version: string, definitions: readonly Definition[]): object {
  const places = new Map<string, number>();
  const models = new Map<string, string[]>();
  for (const { vendor, model, exposes } of definitions) {
    const row = exposes.map((each) => {
      const text = JSON.stringify(withUsedFields(each));
      if (!places.has(text)) places.set(text, places.size);
      return places.get(text);
    });
    const key = JSON.stringify(row);
    models.set(key, [...(models.get(key) ?? []), `${vendor} ${model}`]);
  }
  return {
    version,
    exposes: [...places.keys()].map((text) => JSON.parse(text) as unknown),
    definitions: [...models].map(([row, names]) => [names.join("|"), JSON.parse(row) as unknown]),
  };
}

function withUsedFields(expose: Json): Json {
  const fields = Object.entries(expose).filter(([name]) => FIELDS.has(name));
  return Object.fromEntries(
    fields.map(([name, value]) => {
      if (name === "features") return [name, (value as Json[]).map(withUsedFields)];
      return [name, name === "item_type" ? withUsedFields(value as Json) : value];
    }),
  );
}
