// The entry: reads arguments, starts the host, stops it on a signal.
import { readFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import { parseArgs } from "node:util";
import { MantelError } from "@mantel/plugin-sdk/errors";
import { type Host, startHost } from "./host.ts";
import { openLog } from "./log.ts";

const USAGE = `usage: npm start -- [--port N] [--host ADDRESS] [--data DIR] [--plugins DIR[:DIR...]]

  --port      port to listen on, 0 for a free one         (MANTEL_PORT, default 8470)
  --host      address to listen on                        (MANTEL_HOST, default 127.0.0.1)
  --data      folder for config, layout, keys and caches  (MANTEL_DATA, default ./data)
  --plugins   plugin folders, later ones win              (MANTEL_PLUGINS, default ./plugins)
`;
const FIRST_TOKEN_SECONDS = 365 * 24 * 3600;
const STOP_DEADLINE_MS = 9_000;
const ROOT = resolve(import.meta.dirname, "..");

const log = openLog("info", process.stderr.isTTY);

try {
  const { version } = JSON.parse(await readFile(join(ROOT, "package.json"), "utf8")) as {
    version: string;
  };
  const { port, address, dataFolder, pluginFolders } = readOptions();
  if (!["127.0.0.1", "::1", "localhost"].includes(address)) {
    log.warn("the host listens beyond this machine, as it was asked to", { address });
  }
  const host = await startHost({
    ...{ version, address, port, dataFolder, pluginFolders, log },
    layoutFolder: join(ROOT, "layouts"),
    environment: process.env,
  });
  stopOnSignal(host);
  await host.settled;
  await inviteFirstVisitor(host);
  process.stdout.write(`mantel ready ${host.url}\n`);
} catch (error) {
  giveUp(error);
}

interface Options {
  readonly port: number;
  readonly address: string;
  readonly dataFolder: string;
  readonly pluginFolders: readonly string[];
}

/** @throws MantelError `bad_request` */
function readOptions(): Options {
  const flag = { type: "string" } as const;
  const { values } = parseArgs({
    options: { port: flag, host: flag, data: flag, plugins: flag, help: { type: "boolean" } },
  });
  if (values.help) {
    process.stdout.write(USAGE);
    process.exit(0);
  }
  const { env } = process;
  return {
    port: parsePort(values.port ?? env["MANTEL_PORT"] ?? "8470"),
    address: values.host ?? env["MANTEL_HOST"] ?? "127.0.0.1",
    dataFolder: values.data ?? env["MANTEL_DATA"] ?? join(ROOT, "data"),
    pluginFolders: (values.plugins ?? env["MANTEL_PLUGINS"] ?? join(ROOT, "plugins"))
      .split(":")
      .filter((folder) => folder !== ""),
  };
}

function parsePort(text: string): number {
  const port = Number(text);
  if (/^\d{1,5}$/.test(text) && port <= 65_535) return port;
  throw new MantelError("bad_request", `the port is a number from 0 to 65535, not ${text}`);
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

function stopOnSignal(host: Host): void {
  let isStopping = false;
  const stop = (signal: NodeJS.Signals): void => {
    if (isStopping) return;
    isStopping = true;
    log.info("the host stops", { signal });
    setTimeout(() => process.exit(0), STOP_DEADLINE_MS).unref();
    void host.close().then(() => process.exit(0));
  };
  process.on("SIGTERM", stop);
  process.on("SIGINT", stop);
}

/** Ends with a sentence that says what to do; what nobody expected keeps its stack. */
function giveUp(error: unknown): never {
  const code = (error as { code?: string }).code ?? "";
  if (code.startsWith("ERR_PARSE_ARGS")) {
    process.stderr.write(`mantel: ${(error as Error).message}\n\n${USAGE}`);
    process.exit(2);
  }
  if (error instanceof MantelError || error instanceof Error) {
    process.stderr.write(`mantel cannot start: ${error.message}\n`);
    if (!(error instanceof MantelError)) log.debug("the cause", { error });
  }
  process.exit(1);
}
