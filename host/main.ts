// The entry: reads arguments, starts the host, stops it on a signal.
import { readFile } from "node:fs/promises";
import { isIPv4 } from "node:net";
import { join, resolve } from "node:path";
import { MantelError } from "@mantel/plugin-sdk/errors";
import { hasSignedIn } from "./auth/token-register.ts";
import { takeEnvironment } from "./environment.ts";
import type { Host } from "./host.ts";
import { openLog, type ProcessLog } from "./log.ts";
import { readOptions, type RunOptions, USAGE } from "./options.ts";
import { openSystemd, type Systemd } from "./systemd.ts";

const FIRST_VISIT = "first-visit";
/** The link is in a log, which others may read: it is valid for a week, and the session for a year. */
const FIRST_LINK_SECONDS = 7 * 24 * 3600;
const FIRST_SESSION_SECONDS = 365 * 24 * 3600;
const STOP_DEADLINE_MS = 9_000;
const ROOT = resolve(import.meta.dirname, "..");

let reportReady = (): void => undefined;
/** Resolves after the ready line, if there is one. */
export const whenReady = new Promise<void>((report) => {
  reportReady = report;
});

let environment: NodeJS.ProcessEnv;
let log: ProcessLog;
let manager: Systemd;
/** The host, once it is starting or running. */
let starting: Promise<Host> | undefined;
let isStopping = false;
let isRestarting = false;

/** Starts the host with the arguments and the environment of this process. */
export function begin(): void {
  environment = takeEnvironment();
  log = openLog("info", process.stderr.isTTY);
  manager = openSystemd(environment, log);
  process.stdout.on("error", () => undefined); // the host continues when the reader of its output ends
  process.on("SIGUSR1", () => undefined); // Node would open a debugger, which any local program may use
  process.on("SIGTERM", stop);
  process.on("SIGINT", stop);
  main().catch(fail);
}

async function main(): Promise<void> {
  const options = readOptions(process.argv.slice(2), environment, ROOT);
  if (options.help) {
    process.stdout.write(USAGE);
    return;
  }
  await run(options);
}

/** Starts the host and reports that it is ready. */
async function run(options: RunOptions): Promise<void> {
  const host = await start(options);
  isRestarting = false;
  await host.settled;
  if (isStopping || isRestarting || host !== (await starting)) return; // another one is on its way, or runs
  await inviteFirstVisitor(host);
  process.stdout.write(`mantel ready ${host.url}\n`);
  reportReady();
  await manager.ready(host.healthUrl);
}

async function start(options: RunOptions): Promise<Host> {
  const { address } = options;
  if (!isLoopback(address)) {
    log.warn("the host listens beyond this machine, as configured", { address });
  }
  const { version } = JSON.parse(await readFile(join(ROOT, "package.json"), "utf8")) as {
    version: string;
  };
  const { startHost } = await import("./host.ts"); // here, because it takes long, and signals are handled by now
  starting = startHost({
    ...options,
    version,
    log,
    layoutFolder: join(ROOT, "layouts"),
    shippedFolder: join(ROOT, "plugins"),
    environment,
    restart: () => void restart(options).catch(fail),
  });
  return starting;
}

/** Closes the host and starts it again in this process, at the same address. */
async function restart(options: RunOptions): Promise<void> {
  if (isStopping || isRestarting) return;
  isRestarting = true;
  log.info("the host restarts, as requested");
  const host = await starting;
  await manager.restarting();
  await host?.close();
  if (isStopping || !host) return;
  // The system has chosen the port if none was given.
  const port = options.port === 0 ? Number(new URL(host.url).port) : options.port;
  await run({ ...options, port });
}

function isLoopback(address: string): boolean {
  const isOfNet127 = isIPv4(address) && address.startsWith("127.");
  return isOfNet127 || ["::1", "localhost"].includes(address);
}

/**
 * Prints a sign-in link at each start until somebody has signed in; it ends those of earlier starts.
 * `npm run token -- --link` prints another one.
 * The fragment never reaches a server.
 */
async function inviteFirstVisitor({ tokens, url, networkAddress }: Host): Promise<void> {
  if (hasSignedIn(tokens.list())) return;
  await tokens.revoke(FIRST_VISIT); // the unused links of earlier starts
  const token = await tokens.issue({
    name: FIRST_VISIT,
    scope: ["admin"],
    ttlSeconds: FIRST_LINK_SECONDS,
    sessionSeconds: FIRST_SESSION_SECONDS,
  });
  const elsewhere =
    networkAddress === undefined
      ? "Phones and other computers cannot open it: start with --host 0.0.0.0 for them"
      : `or on a phone or another computer: ${networkAddress}/#token=${token}`;
  process.stderr.write(`\nOpen your home: ${url}/#token=${token}\n${elsewhere}\n\n`);
}

/** Stops the host. One that is still starting is stopped afterwards: it has processes to end and files to close. */
function stop(signal: NodeJS.Signals): void {
  if (isStopping) return;
  isStopping = true;
  log.info("the host stops", { signal });
  setTimeout(() => process.exit(0), STOP_DEADLINE_MS).unref();
  void manager.stopping();
  void Promise.resolve(starting)
    .then((host) => host?.close())
    .catch(() => undefined) // it did not start, and has closed what it had opened
    .then(() => log.flushed())
    .then(() => process.exit(0));
}

/** Ends the process after a start that failed, unless it is being stopped anyway. */
function fail(error: unknown): void {
  if (!isStopping) exitWithError(error);
}

/** Exits with a sentence that says what to do; the debug log has the stack of unexpected errors. */
function exitWithError(error: unknown): never {
  if (error instanceof MantelError && error.code === "bad_request") {
    process.stderr.write(`mantel: ${error.message}\n\n${USAGE}`);
    process.exit(2);
  }
  process.stderr.write(`mantel cannot start: ${reasonOf(error)}\n`);
  if (!(error instanceof MantelError)) log.debug("the cause", { error });
  process.exit(1);
}

function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  if ((error as NodeJS.ErrnoException).code === "ENOSPC") {
    return `the disk is full (${error.message}); free some space, or choose another folder with --data`;
  }
  return error.message;
}
