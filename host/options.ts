import { join } from "node:path";
import { parseArgs } from "node:util";
import { MantelError } from "@mantel/plugin-sdk/errors";

export const USAGE = `usage: npm start -- [--port N] [--host ADDRESS] [--data DIR] [--plugins DIR[:DIR...]]

  --port      port to listen on, 0 for a free one         (MANTEL_PORT, default 8470)
  --host      address to listen on                        (MANTEL_HOST, default 127.0.0.1)
  --data      folder for config, layout, keys and caches  (MANTEL_DATA, default ./data)
  --plugins   plugin folders, later ones win              (MANTEL_PLUGINS, default ./plugins)
`;

/** How the host is to run, as the command line and the environment say. */
export interface RunOptions {
  /** Only the usage was asked for. */
  readonly help: boolean;
  readonly port: number;
  readonly address: string;
  readonly dataFolder: string;
  readonly pluginFolders: readonly string[];
}

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
  };
}

function parseFlags(args: readonly string[]) {
  const text = { type: "string" } as const;
  const options = { port: text, host: text, data: text, plugins: text } as const;
  try {
    const { values } = parseArgs({
      args: [...args],
      options: { ...options, help: { type: "boolean" } },
    });
    const empty = Object.entries(values).find(([, value]) => value === "");
    if (empty) throw new Error(`--${empty[0]} is empty; give it a value or leave it out`);
    return values;
  } catch (cause) {
    throw new MantelError("bad_request", (cause as Error).message, { cause });
  }
}

function parsePort(text: string): number {
  const port = Number(text);
  if (/^\d{1,5}$/.test(text) && port <= 65_535) return port;
  throw new MantelError("bad_request", `the port is a number from 0 to 65535, not ${text}`);
}
