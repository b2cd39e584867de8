// npm run check: types, lint, boundaries, cycles, plain English, format, language packs and dead code. Prints failures, and
// the functions and files that are furthest above the limits of size, which is not a failure.
//
// A repeated check looks only at what may have changed since it passed. `npm run check -- --fresh` looks at everything.

import { spawn } from "node:child_process";
import { rm } from "node:fs/promises";
import { availableParallelism } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { Semaphore } from "../plugin-sdk/semaphore.ts";
import { digestOf, digestsWithImports } from "./check/digests.ts";
import { findUnplainEnglish } from "./check/english.ts";
import { findFolderCycles, LAYERED_FOLDERS } from "./check/folder-cycles.ts";
import { PassedChecks } from "./check/passed-checks.ts";
import { sizeReport } from "./check/size-report.ts";
import { CODE_FOLDERS, readSources } from "./check/source-files.ts";

interface Step {
  readonly command: string;
  readonly args: readonly string[];
  readonly failure: string;
  /** Names and digests that have passed when this step has. */
  readonly checks?: readonly (readonly [name: string, digest: string])[];
  /** Called with the output of a step that has passed. */
  readonly onPassed?: (output: string) => void;
}

const CACHE = "node_modules/.cache/mantel-check";
if (process.argv.includes("--fresh")) await rm(CACHE, { recursive: true, force: true });
const passed = new PassedChecks(join(CACHE, "passed.json"));
const sources = await readSources();

const slots = new Semaphore(availableParallelism());
const failures = await Promise.all([...steps()].map(carryOut));
const english = [...sources].flatMap(([path, source]) => findUnplainEnglish(path, source));
if (english.length > 0) failures.push(`# English that is not plain\n${english.join("\n")}`);
const cycles = LAYERED_FOLDERS.flatMap((root) => findFolderCycles(root, sources));
if (cycles.length > 0) failures.push(`# Folders that import each other\n${cycles.join("\n")}`);
passed.save();
const found = failures.filter((failure) => failure !== undefined);
if (found.length > 0) {
  console.error(found.join("\n\n"));
  process.exitCode = 1;
}

/** The steps, the longest first. */
function* steps(): Generator<Step> {
  yield compile(".", "the server code");
  yield* lint();
  yield compile("test/host/dashboard", "the tests of the browser code");
  yield compile("host/dashboard", "the browser code");
  yield {
    command: "knip",
    args: [
      "--no-progress",
      "--no-config-hints",
      "--cache",
      "--cache-location",
      join(CACHE, "knip"),
    ],
    failure: "dead code",
  };
  yield* unlessPassed(/^(?:host\/(?:api|dashboard|languages)|plugin-sdk|plugins|scripts)\//, {
    command: "tsx",
    args: ["scripts/languages.ts", "--faults"],
    failure: "language packs with faults",
  });
  yield* unlessPassed(/^(?:docs|host\/dashboard|plugin-sdk|scripts)\//, {
    command: "tsx",
    args: ["scripts/plugin-reference.ts", "--check"],
    failure: "the reference for plugins is not up to date; run `npm run plugin-reference`",
  });
  yield {
    command: "oxfmt",
    args: ["-c", ".ci/oxfmt.json", "--list-different"],
    failure: "not formatted; run `npm run format`",
  };
}

function compile(project: string, code: string): Step {
  const memory = join(CACHE, `${project.replaceAll("/", "-")}.tsbuildinfo`);
  return {
    command: "tsc",
    // Several checkers take twice the CPU time: each checks the types that they share.
    args: ["-p", project, "--incremental", "--tsBuildInfoFile", memory, "--checkers", "1"],
    failure: `type errors in ${code}`,
  };
}

/** The rules that need types, for files that may have other faults than before; the other rules, for all files. */
function* lint(): Generator<Step> {
  const checks = [...digestsWithImports(sources)]
    .filter(([path]) => CODE_FOLDERS.some((folder) => path.startsWith(`${folder}/`)))
    .filter(([path, digest]) => !passed.has(path, digest));
  const files = checks.map(([path]) => path);
  const failure = "lint";
  if (files.length > 0) {
    const args = ["-c", ".ci/oxlint.json", "--quiet", ...files];
    yield { command: "oxlint", args, failure, checks };
  }
  yield {
    command: "oxlint",
    args: ["-c", ".ci/oxlint-untyped.json", "-f", "unix", ...CODE_FOLDERS],
    failure,
    onPassed: (output) => console.log(sizeReport(output)),
  };
}

/** The step, unless it passed with the same files below these folders and the same packages. */
function* unlessPassed(folders: RegExp, step: Step): Generator<Step> {
  const files = [...sources].filter(([path]) => folders.test(path) || !path.includes("/"));
  const check = [step.failure, digestOf(files.flat())] as const;
  if (!passed.has(...check)) yield { ...step, checks: [check] };
}

/** Runs a step. Returns its failure with the output, or `undefined`. */
async function carryOut(step: Step): Promise<string | undefined> {
  const { command, args, failure, checks = [], onPassed } = step;
  await slots.take();
  const child = spawn(`node_modules/.bin/${command}`, args, { stdio: ["ignore", "pipe", "pipe"] });
  const [code, output, errors] = await Promise.all([
    new Promise<number | null>((resolve, reject) => child.on("error", reject).on("close", resolve)),
    text(child.stdout),
    text(child.stderr),
  ]);
  slots.giveBack();
  if (code !== 0) return `# ${failure}\n${output}${errors}`.trimEnd();
  passed.add(checks);
  onPassed?.(output);
  return undefined;
}
