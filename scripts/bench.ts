// npm run bench <name> [-- arguments]: runs one benchmark of scripts/bench.
import { readdirSync } from "node:fs";
import { join } from "node:path";

const FOLDER = join(import.meta.dirname, "bench");
/** Shared code, which is not a benchmark. */
const SHARED = ["bench-home.ts", "shared"];

const names = readdirSync(FOLDER)
  .filter((file) => file.endsWith(".ts") && !SHARED.includes(file))
  .map((file) => file.replace(/\.ts$/, ""));
const [name = ""] = process.argv.splice(2, 1);
if (names.includes(name)) {
  await import(`./bench/${name}.ts`);
} else {
  process.stderr.write(`usage: npm run bench <${names.join(" | ")}> [-- arguments]\n`);
  process.exitCode = 2;
}
