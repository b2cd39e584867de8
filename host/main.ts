// The entry: reads arguments, starts the host, stops it on a signal.
import { readFile } from "node:fs/promises";
import { isIPv4 } from "node:net";
import { join, resolve } from "node:path";
import { MantelError } from "@mantel/plugin-sdk/errors";
import { takeEnvironment } from "./environment.ts";
import type { Host } from "./host.ts";
import { openLog } from "./log.ts";
import { readOptions, type RunOptions, USAGE } from "./options.ts";
import { openServiceManager } from "./service-manager.ts";

const FIRST_TOKEN_SECONDS = 365 * 24 * 3600;
const STOP_DEADLINE_MS = 9_000;
const ROOT = resolve(import.meta.dirname, "..");

const environment = takeEnvironment();
const log = openLog("info", process.stderr.isTTY);
const manager = openServiceManager(environment, log);
/** Once the host is on its way, whether it is ready or not. */
let starting: Promise<Host> | undefined;
let isStopping = false;

process.stdout.on("error", () => undefined); // whoever reads the output may go: the home stays
process.on("SIGTERM", stop);
process.on("SIGINT", stop);
main().catch((error: unknown) => {
  if (!isStopping) giveUp(error);
});

async function main(): Promise<void> {
  const options = readOptions(process.argv.slice(2), environment, ROOT);
  if (options.help) {
    process.stdout.write(USAGE);
    return;
  }
  const host = await start(options);
  await host.settled;
  if (isStopping) return;
  await inviteFirstVisitor(host);
  process.stdout.write(`mantel ready ${host.url}\n`);
  await manager.ready(host.healthUrl);
}

async function start(options: RunOptions): Promise<Host> {
  const { address } = options;
  if (!isLoopback(address)) {
    log.warn("the host listens beyond this machine, as it was asked to", { address });
  }
  const { version } = JSON.parse(await readFile(join(ROOT, "package.json"), "utf8")) as {
    version: string;
  };
  // Loaded here, because that takes most of the start, and a signal is heard by now.
  const { startHost } = await import("./host.ts");
  starting = startHost({
    ...options,
    ...{ version, log },
    layoutFolder: join(ROOT, "layouts"),
    environment,
  });
  return starting;
}

function isLoopback(address: string): boolean {
  const isOfNet127 = isIPv4(address) && address.startsWith("127.");
  return isOfNet127 || ["::1", "localhost"].includes(address);
}

/** A house without a token is new: its first visitor gets a link. The fragment never reaches a server. */
async function inviteFirstVisitor({ tokens, url }: Host): Promise<void> {
  if (tokens.list().length > 0) return;
  const token = await tokens.issue({
    name: "first-visit",
    scope: ["admin"],
    ttlSeconds: FIRST_TOKEN_SECONDS,
  });
  process.stderr.write(`\nOpen your home: ${url}/#token=${token}\n\n`);
}

/** A host that is only starting is stopped when it stands: it has processes to end and files to close. */
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

/** Ends with a sentence that says what to do; the debug log has the stack of what nobody expected. */
function giveUp(error: unknown): never {
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
    return `the disk is full (${error.message}); free some space, or name another folder with --data`;
  }
  return error.message;
}
