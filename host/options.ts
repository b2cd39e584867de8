import { join } from "node:path";
import { parseArgs } from "node:util";
import { MantelError } from "@mantel/plugin-sdk/errors";
import { PLUGIN_ID } from "@mantel/plugin-sdk/manifest";

export const USAGE = `usage: npm start -- [--port N] [--host ADDRESS] [--data DIR] [--plugins DIR[:DIR...]]
                 [--inspect MODULE[=PORT]]... [--consent-on-save]

  --port      port to listen on, 0 for a free one         (MANTEL_PORT, default 8470)
  --host      address to listen on                        (MANTEL_HOST, default 127.0.0.1)
  --data      folder for config, layout, keys and caches  (MANTEL_DATA, default ./data)
  --plugins   plugin folders, later ones win              (MANTEL_PLUGINS, default ./plugins)
  --inspect   a module a debugger may attach to, on loopback (default 9229 and up)
  --consent-on-save
              a changed plugin gets the permissions that it asks for, as in \`npm run dev\`
`;

/** The options of the host from the command line and the environment. */
export interface RunOptions {
  /** True for --help. */
  readonly help: boolean;
  readonly port: number;
  readonly address: string;
  readonly dataFolder: string;
  readonly pluginFolders: readonly string[];
  /** Debugger ports by module id. */
  readonly inspect: ReadonlyMap<string, number>;
  /** If true, a plugin that asks for more permissions needs no consent, because its author has saved it. */
  readonly consentOnSave?: boolean;
}

/** The default port of `node --inspect`. */
const FIRST_INSPECT_PORT = 9229;

const VARIABLES = {
  port: "MANTEL_PORT",
  host: "MANTEL_HOST",
  data: "MANTEL_DATA",
  plugins: "MANTEL_PLUGINS",
} as const;

/** The variables that are read here; all others belong to the config. */
export const RUN_VARIABLES: readonly string[] = Object.values(VARIABLES);

/**
 * Reads the flags, then the variables. An empty variable counts as absent; an empty flag
 * is an error. Default folders are in `root`.
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
    ...(flags["consent-on-save"] ? { consentOnSave: true } : {}),
  };
}

function parseFlags(args: readonly string[]) {
  const text = { type: "string" } as const;
  const texts = { type: "string", multiple: true } as const;
  const flag = { type: "boolean" } as const;
  const options = { port: text, host: text, data: text, plugins: text } as const;
  try {
    const { values } = parseArgs({
      args: [...args],
      options: { ...options, inspect: texts, "consent-on-save": flag, help: flag },
    });
    const empty = Object.entries(values).find(([, value]) => value === "");
    if (empty) throw new Error(`--${empty[0]} is empty; give it a value or leave it out`);
    return values;
  } catch (cause) {
    throw new MantelError("bad_request", (cause as Error).message, { cause });
  }
}

/** Parses `id` or `id=port`; flags without a port get ports from the default one on. */
function parseInspect(flags: readonly string[]): ReadonlyMap<string, number> {
  const ports = flags.map((flag, at): [string, number] => {
    const [id = "", port = String(FIRST_INSPECT_PORT + at)] = flag.split("=");
    if (new RegExp(PLUGIN_ID).test(id)) return [id, parsePort(port)];
    throw new MantelError(
      "bad_request",
      `--inspect needs a module id such as calendar, not "${id}"`,
    );
  });
  return new Map(ports);
}

function parsePort(text: string): number {
  const port = Number(text);
  if (/^\d{1,5}$/.test(text) && port <= 65_535) return port;
  throw new MantelError("bad_request", `the port must be a number from 0 to 65535, not ${text}`);
}
