import { join } from "node:path";
import { parseArgs } from "node:util";
import { MantelError } from "@mantel/plugin-sdk/errors";
import { PLUGIN_ID } from "@mantel/plugin-sdk/manifest";

export const USAGE = `usage: npm start -- [--port N] [--host ADDRESS] [--data DIR] [--plugins DIR[:DIR...]]
                 [--inspect MODULE[=PORT]]...

  --port      port to listen on, 0 for a free one         (MANTEL_PORT, default 8470)
  --host      address to listen on                        (MANTEL_HOST, default 127.0.0.1)
  --data      folder for config, layout, keys and caches  (MANTEL_DATA, default ./data)
  --plugins   plugin folders, later ones win              (MANTEL_PLUGINS, default ./plugins)
  --inspect   a module a debugger may attach to, on loopback (default 9229 and up)
`;

/** How the host is to run, as the command line and the environment say. */
export interface RunOptions {
  /** Only the usage was asked for. */
  readonly help: boolean;
  readonly port: number;
  readonly address: string;
  readonly dataFolder: string;
  readonly pluginFolders: readonly string[];
  /** Ports at which debuggers may attach, by module id. */
  readonly inspect: ReadonlyMap<string, number>;
}

/** What `node --inspect` takes. */
const FIRST_INSPECT_PORT = 9229;

const VARIABLES = {
  port: "MANTEL_PORT",
  host: "MANTEL_HOST",
  data: "MANTEL_DATA",
  plugins: "MANTEL_PLUGINS",
} as const;

/** The variables that are read here; all others are of the config. */
export const RUN_VARIABLES: readonly string[] = Object.values(VARIABLES);

/**
 * Reads the flags, then the variables; a variable that is empty counts as absent, and an empty flag
 * is a mistake. Folders that are not named lie in `root`.
 *
 * @throws MantelError `bad_request`
 */
export function readOptions(
  args: readonly string[],
  environment: NodeJS.ProcessEnv,
  root: string,
): RunOptions {
  const flags = parseFlags(args);
  const value = (name: keyof typeof VARIABLES, otherwise: string): string =>
    flags[name] ?? (environment[VARIABLES[name]] || otherwise);
  return {
    help: flags.help ?? false,
    port: parsePort(value("port", "8470")),
    address: value("host", "127.0.0.1"),
    dataFolder: value("data", join(root, "data")),
    pluginFolders: value("plugins", join(root, "plugins"))
      .split(":")
      .filter((folder) => folder !== ""),
    inspect: parseInspect(flags.inspect ?? []),
  };
}

function parseFlags(args: readonly string[]) {
  const text = { type: "string" } as const;
  const texts = { type: "string", multiple: true } as const;
  const options = { port: text, host: text, data: text, plugins: text } as const;
  try {
    const { values } = parseArgs({
      args: [...args],
      options: { ...options, inspect: texts, help: { type: "boolean" } },
    });
    const empty = Object.entries(values).find(([, value]) => value === "");
    if (empty) throw new Error(`--${empty[0]} is empty; give it a value or leave it out`);
    return values;
  } catch (cause) {
    throw new MantelError("bad_request", (cause as Error).message, { cause });
  }
}

/** `id` or `id=port` each; those without a port get the usual one and those after it. */
function parseInspect(flags: readonly string[]): ReadonlyMap<string, number> {
  const ports = flags.map((flag, at): [string, number] => {
    const [id = "", port = String(FIRST_INSPECT_PORT + at)] = flag.split("=");
    if (new RegExp(PLUGIN_ID).test(id)) return [id, parsePort(port)];
    throw new MantelError("bad_request", `--inspect names a module such as calendar, not "${id}"`);
  });
  return new Map(ports);
}

function parsePort(text: string): number {
  const port = Number(text);
  if (/^\d{1,5}$/.test(text) && port <= 65_535) return port;
  throw new MantelError("bad_request", `the port is a number from 0 to 65535, not ${text}`);
}
