// node scripts/setup.js [--packages | --start | --test]: installs missing npm packages before the host or the tests
// run; without --packages also the programs that they use, and with --start it compiles the host.
//
// Plain JavaScript, because no packages are installed at its first run. It prints only to standard error, and nothing
// if nothing is missing.

import { spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, isAbsolute, join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { missingPackages, nodeFault } from "./installed.js";

const ROOT = fileURLToPath(new URL("..", import.meta.url));
const PROGRESS_EVERY_MS = 5_000;

/**
 * Programs, or absolute paths, any one of each group, with the Debian packages that have them, and the consequence if none of those can
 * be installed. The first is installed if possible.
 */
const START_PROGRAMS = [
  { programs: { bwrap: "bubblewrap" }, consequence: "plugins run without the kernel's sandbox" },
];
const TEST_PROGRAMS = [
  ...START_PROGRAMS,
  {
    programs: { mosquitto: "mosquitto" },
    consequence: "the tests against a real MQTT broker are skipped",
  },
  {
    // The first is smaller, and pages take a third less CPU time in it.
    programs: { "chromium-headless-shell": "chromium-headless-shell", chromium: "chromium" },
    consequence: "the browser tests of the dashboard are skipped",
  },
  {
    programs: { radicale: "radicale" },
    consequence: "the tests against a real CalDAV and CardDAV server are skipped",
  },
  {
    programs: { nginx: "nginx" },
    consequence: "the tests against a real web server are skipped",
  },
  ...[
    "python3-icalendar",
    "python3-dateutil",
    "python3-gi",
    "gir1.2-ical-3.0",
    "php-cli",
    "php-sabre-vobject",
  ].map((name) => ({
    programs: { [`/usr/share/doc/${name}`]: name },
    consequence: "random calendars are not compared with other engines",
  })),
];
/** Exists once programs were installed, or could not be. */
const TRIED = "node_modules/.cache/mantel-setup";
/** Folders of system programs that are not in the PATH of ordinary users. */
const SYSTEM_FOLDERS = ["/usr/sbin", "/usr/local/sbin"];

const forTests = process.argv.includes("--test");
const forStart = process.argv.includes("--start");
const onlyPackages = process.argv.includes("--packages");
const fault = nodeFault(process.versions.node);
if (fault) fail(fault);
if (missing().length > 0 || missingPrograms(wantedPrograms()).length > 0) {
  await takeTurn();
  const lacking = missingPrograms(wantedPrograms());
  const started = Date.now();
  const ticking = setInterval(() => {
    say(`still installing (${Math.round((Date.now() - started) / 1000)} s)`);
  }, PROGRESS_EVERY_MS);
  const [failure] = await Promise.all([installPackages(), installPrograms(lacking)]);
  clearInterval(ticking);
  if (lacking.length > 0) mkdirSync(join(ROOT, TRIED), { recursive: true });
  if (failure) fail(failure);
}
if (forStart) await compile();

function missing() {
  return missingPackages(ROOT, { dev: true });
}

/** Returns what failed, if nothing can run without it. */
async function installPackages() {
  if (missing().length === 0) return undefined;
  say("installing npm packages");
  const fresh = !existsSync(join(ROOT, "node_modules/.package-lock.json"));
  const installed = (fresh && (await npm("ci"))) || (await npm("install"));
  // The host reports plugins that cannot be installed; the others still start.
  const missingPaths = missing().filter((path) => !path.startsWith("plugins"));
  if (missingPaths.length > 0)
    return `npm did not install ${missingPaths.slice(0, 5).join(", ")}; see its output above`;
  say(installed ? "npm packages are installed" : "npm failed; some plugins may not start");
  return undefined;
}

/** Runs npm without install scripts, which no package here needs. */
function npm(command) {
  const args = [command, "--include=dev", "--ignore-scripts", "--no-audit", "--no-fund"];
  // Set by the npm that runs this script, which may not be the first npm in the PATH.
  const cli = process.env.npm_execpath;
  return cli ? run(process.execPath, [cli, ...args]) : run("npm", args);
}

function missingPrograms(wanted) {
  const folders = [...(process.env.PATH ?? "").split(delimiter), ...SYSTEM_FOLDERS];
  const isInstalled = (program) =>
    isAbsolute(program)
      ? existsSync(program)
      : folders.some((each) => existsSync(join(each, program)));
  return wanted.filter(({ programs }) => !Object.keys(programs).some(isInstalled));
}

function wantedPrograms() {
  if (onlyPackages) return [];
  if (forTests) return TEST_PROGRAMS;
  return existsSync(join(ROOT, TRIED)) ? [] : START_PROGRAMS; // a start does not retry those that failed
}

async function installPrograms(lacking) {
  if (lacking.length === 0) return;
  const able = existsSync("/usr/bin/apt-get") && process.getuid?.() === 0;
  if (able) await withoutStartingServices(() => installWithApt(lacking));
  for (const { programs, consequence } of missingPrograms(lacking)) {
    const reason = able ? "apt-get did not install it" : "only root on Debian can install it here";
    say(`${consequence}: ${Object.keys(programs)[0]} is missing, and ${reason}`);
  }
}

/** Installs all at once, which is faster, or one by one: apt-get installs none if it does not know one of them. */
async function installWithApt(lacking) {
  await run("apt-get", ["update", "-qq"]);
  const names = lacking.map(({ programs }) => Object.values(programs));
  if (names.length > 1 && (await installDebian(names.map(([first]) => first)))) return;
  for (const alternatives of names) {
    for (const name of alternatives) if (await installDebian([name])) break;
  }
}

function installDebian(names) {
  say(`installing from Debian: ${names.join(", ")}`);
  return run("apt-get", ["install", "-y", "-qq", "--no-install-recommends", ...names]);
}

/** Prevents packages from starting services, such as a broker on port 1883 (invoke-rc.d(8)). */
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

/** Runs a program with its output on standard error. Returns true if it succeeded. */
async function run(program, args) {
  const child = spawn(program, args, {
    cwd: ROOT,
    env: { ...process.env, DEBIAN_FRONTEND: "noninteractive" },
    stdio: ["ignore", 2, 2],
  });
  const code = await new Promise((resolve) => child.on("error", resolve).on("exit", resolve));
  return code === 0;
}

/** Compiles the host. Errors are ignored here, because the host reports them when it starts. */
async function compile() {
  const { compileHost } = await import("../host/compiled.js");
  await compileHost().catch(() => undefined);
}

/** Takes the lock of this folder's setup, waiting for another setup to end. */
async function takeTurn() {
  const name = createHash("sha256").update(ROOT).digest("hex").slice(0, 16);
  const lock = join(tmpdir(), `mantel-setup-${name}.lock`);
  for (let waiting = false; !takeLock(lock); waiting = true) {
    if (!waiting) say("waiting for another setup of this folder");
    await delay(200);
  }
  process.once("exit", () => rmSync(lock, { force: true }));
}

/** Tries to take the lock. Takes over the lock of a process that has ended. */
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
