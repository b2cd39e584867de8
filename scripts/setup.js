// node scripts/setup.js [--start | --test]: installs what is missing before the host or the tests run,
// and compiles the host before it starts.
//
// Plain JavaScript, because nothing is installed when it runs first. It prints to standard error, and
// nothing at all when nothing is missing.

import { spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { missingPackages, nodeFault } from "./installed.js";

const ROOT = fileURLToPath(new URL("..", import.meta.url));
const PROGRESS_EVERY_MS = 5_000;

/** Debian packages the tests use, each with what is not tested without it. */
const TEST_PROGRAMS = {
  mosquitto: "the tests against a real MQTT broker",
  chromium: "the tests of the dashboard in a browser",
  radicale: "the tests against a real CalDAV and CardDAV server",
  nginx: "the tests against a real web server",
};
/** Folders of system programs that are missing from the PATH of ordinary users. */
const SYSTEM_FOLDERS = ["/usr/sbin", "/usr/local/sbin"];

const forTests = process.argv.includes("--test");
const forStart = process.argv.includes("--start");
const fault = nodeFault(process.versions.node);
if (fault) fail(fault);
if (missing().length > 0 || (forTests && missingPrograms().length > 0)) {
  await takeTurn();
  await installPackages();
  if (forTests) await installPrograms();
}
if (forStart) await compile();

function missing() {
  return missingPackages(ROOT, { dev: true });
}

async function installPackages() {
  if (missing().length === 0) return;
  say("installing npm packages");
  const fresh = !existsSync(join(ROOT, "node_modules/.package-lock.json"));
  const installed = (fresh && (await npm("ci"))) || (await npm("install"));
  // A plugin that cannot be installed is the host's to report: it keeps no other from starting.
  const left = missing().filter((path) => !path.startsWith("plugins"));
  if (left.length > 0) fail(`npm did not install ${left.slice(0, 5).join(", ")}; see above`);
  say(installed ? "npm packages are installed" : "npm failed, and some plugins may not start");
}

/** Runs npm without install scripts, which nothing here needs. */
function npm(command) {
  const args = [command, "--include=dev", "--ignore-scripts", "--no-audit", "--no-fund"];
  // Set by the npm that runs this script; it may be another one than the first on the PATH.
  const cli = process.env.npm_execpath;
  return cli ? run(process.execPath, [cli, ...args]) : run("npm", args);
}

function missingPrograms() {
  const folders = [...(process.env.PATH ?? "").split(delimiter), ...SYSTEM_FOLDERS];
  return Object.keys(TEST_PROGRAMS).filter(
    (program) => !folders.some((folder) => existsSync(join(folder, program))),
  );
}

async function installPrograms() {
  const programs = missingPrograms();
  if (programs.length === 0) return;
  const able = existsSync("/usr/bin/apt-get") && process.getuid?.() === 0;
  if (able) {
    say(`installing the Debian packages ${programs.join(" and ")}`);
    await withoutStartingServices(async () => {
      await run("apt-get", ["update", "-qq"]);
      await run("apt-get", ["install", "-y", "-qq", "--no-install-recommends", ...programs]);
    });
  }
  for (const program of missingPrograms()) {
    const reason = able ? "apt-get did not install it" : "only root on Debian can install it here";
    say(`${TEST_PROGRAMS[program]} are skipped: ${program} is missing, and ${reason}`);
  }
}

/** Keeps packages from starting their services, such as a broker on port 1883 (invoke-rc.d(8)). */
async function withoutStartingServices(install) {
  const policy = "/usr/sbin/policy-rc.d";
  if (existsSync(policy)) return install();
  writeFileSync(policy, "#!/bin/sh\nexit 101\n", { mode: 0o755 });
  try {
    await install();
  } finally {
    rmSync(policy);
  }
}

/** Runs a program with its output on standard error, and says when it takes long. */
async function run(program, args) {
  const started = Date.now();
  const ticking = setInterval(() => {
    say(`still installing (${Math.round((Date.now() - started) / 1000)} s)`);
  }, PROGRESS_EVERY_MS);
  const child = spawn(program, args, {
    cwd: ROOT,
    env: { ...process.env, DEBIAN_FRONTEND: "noninteractive" },
    stdio: ["ignore", 2, 2],
  });
  const code = await new Promise((resolve) => child.on("error", resolve).on("exit", resolve));
  clearInterval(ticking);
  return code === 0;
}

/** A host that cannot be compiled says so itself when it starts. */
async function compile() {
  const { compileHost } = await import("../host/compiled.js");
  await compileHost().catch(() => undefined);
}

/** Waits until no other setup of this folder runs, and keeps others waiting until this one ends. */
async function takeTurn() {
  const name = createHash("sha256").update(ROOT).digest("hex").slice(0, 16);
  const lock = join(tmpdir(), `mantel-setup-${name}.lock`);
  for (let waiting = false; !takeLock(lock); waiting = true) {
    if (!waiting) say("waiting for another setup of this folder");
    await delay(200);
  }
  process.once("exit", () => rmSync(lock, { force: true }));
}

/** A lock whose holder has ended is taken over. */
function takeLock(lock) {
  try {
    writeFileSync(lock, String(process.pid), { flag: "wx" });
    return true;
  } catch (error) {
    if (error.code !== "EEXIST") throw error;
  }
  try {
    process.kill(Number(readFileSync(lock, "utf8")), 0);
  } catch (error) {
    if (error.code === "ESRCH") rmSync(lock, { force: true });
  }
  return false;
}

function say(sentence) {
  process.stderr.write(`setup: ${sentence}\n`);
}

function fail(sentence) {
  say(sentence);
  process.exit(1);
}
