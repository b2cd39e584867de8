// npm create mantel-plugin FOLDER [-- --kind KIND]: writes a plugin into a folder of its own. Published as one bundled
// file, `create.js`, beside its templates.

import { join, relative, resolve } from "node:path";
import { parseArgs } from "node:util";
import { checkKind, createPackage, KINDS, type Versions } from "./scaffold.ts";

/** Set when the package is made. */
declare const BUILT_FOR: { readonly sdk: string; readonly versions: Versions };

const USAGE = `Writes a Mantel plugin with tests, types, lint and CI, in a folder of its own.

  npm create mantel-plugin FOLDER [-- --kind KIND]

  FOLDER    its last name is the id of the plugin: lower-case words joined by hyphens
  --kind    ${KINDS.join(", ")}; default: all
  --sdk     where npm finds @mantel/plugin-sdk, such as a file; default: the registry
`;

try {
  await create();
} catch (error) {
  console.error(`create-mantel-plugin: ${(error as Error).message}`);
  process.exitCode = 1;
}

async function create(): Promise<void> {
  const { values, positionals } = parseArgs({
    options: {
      kind: { type: "string", default: "all" },
      sdk: { type: "string" },
      help: { type: "boolean" },
    },
    allowPositionals: true,
  });
  const [given = "", ...more] = positionals;
  if (values.help || given === "") return void process.stdout.write(USAGE);
  if (more.length > 0) throw new Error(`pass exactly one folder; there is also ${more.join(" ")}`);
  const folder = resolve(given);
  await createPackage(folder, {
    kind: checkKind(values.kind),
    templates: join(import.meta.dirname, "templates"),
    sdk: BUILT_FOR.sdk,
    versions: BUILT_FOR.versions,
    ...(values.sdk === undefined ? {} : { sdkSource: values.sdk }),
  });
  console.log(`created ${given}. Next:

  cd ${relative(process.cwd(), folder)}
  npm install
  npm test`);
}
