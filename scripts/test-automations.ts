import { spawn } from "node:child_process";
import { mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { basename, join, resolve } from "node:path";
import { parseArgs } from "node:util";
import { build } from "../host/build-service.ts";

const USAGE = `Runs the tests of automations in <data>/automations with a virtual clock. Mantel need not run.

  npm run test-automations [-- hall-light.test.ts ...]

  --data  the data folder; default: MANTEL_DATA, or ./data
`;
const TEST = /\.test\.ts$/;

async function main(): Promise<number> {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: { data: { type: "string" } },
  });
  const folder = resolve(values.data ?? process.env["MANTEL_DATA"] ?? "data", "automations");
  const present = await readdir(folder).catch(() => []);
  const named = positionals.map((file) => basename(file));
  const names = named.length > 0 ? named : present.filter((name) => TEST.test(name));
  if (names.length === 0 || names.some((name) => !TEST.test(name))) {
    process.stderr.write(`${USAGE}\nno file *.test.ts in ${folder}\n`);
    return 2;
  }
  const built = await mkdtemp(join(tmpdir(), "mantel-tests-"));
  try {
    await bundle(folder, names, built);
    const files = names.map((name) => join(built, name.replace(/\.ts$/, ".mjs")));
    const given = [
      "--enable-source-maps",
      "--import",
      import.meta.resolve("tsx"),
      "--test",
      "--test-reporter=spec",
    ];
    const run = spawn(process.execPath, [...given, ...files], { cwd: folder, stdio: "inherit" });
    return await new Promise((ended, failed) => {
      run.once("error", failed).once("close", (code) => ended(code ?? 1));
    });
  } finally {
    await rm(built, { recursive: true, force: true });
  }
}

/** Compiles tests. Their module `mantel/testing` is the test kit, and `mantel` has the durations only. */
async function bundle(folder: string, names: readonly string[], to: string): Promise<void> {
  const kit = import.meta.resolve("./automation-tests/testing.ts");
  const durations = import.meta.resolve("./automation-tests/durations.ts");
  await build({
    entryPoints: names.map((name) => join(folder, name)),
    outdir: to,
    outbase: folder,
    outExtension: { ".js": ".mjs" },
    bundle: true,
    platform: "node",
    format: "esm",
    target: "node20",
    sourcemap: "inline",
    logLevel: "error",
    tsconfigRaw: {},
    plugins: [
      {
        name: "test-kit",
        setup(on) {
          on.onResolve({ filter: /^mantel\/testing$/ }, () => ({ path: kit, external: true }));
          on.onResolve({ filter: /^mantel$/ }, () => ({ path: durations, external: true }));
        },
      },
    ],
  });
}

process.exitCode = await main();
