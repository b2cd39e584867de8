import { existsSync } from "node:fs";
import { resolve } from "node:path";
import { createInterface } from "node:readline/promises";
import { parseArgs } from "node:util";
import type { PluginView } from "../host/api/plugin.ts";
import { ConfigStore } from "../host/config/store.ts";
import { findRunningHost } from "../host/data-lock.ts";
import { openDataFolder } from "../host/folders.ts";
import { openLog } from "../host/log.ts";
import type { Changed, PluginHome } from "./plugin/home.ts";
import { openRunningHome } from "./plugin/running-home.ts";
import { openStoppedHome } from "./plugin/stopped-home.ts";

const USAGE = `Installs, updates and removes plugins. Mantel may be running.

  npm run plugin -- search [WORDS]        finds packages with the keyword mantel-plugin
  npm run plugin -- add SOURCE [--version V] [--link] [--scripts NAMES] [--yes]
  npm run plugin -- update [ID] [--version V] [--scripts NAMES] [--yes]
  npm run plugin -- remove ID [--purge]
  npm run plugin -- pin ID [--release]
  npm run plugin -- list
  npm run plugin -- outdated              exits with 1 if there is a newer version

  SOURCE     an npm package, the address of a .tgz file, a git address, or a folder
  --version  a version, range or tag of an npm package
  --link     use a folder where it is, for development
  --scripts  dependencies, joined by commas, whose install scripts may run, with your rights
  --yes      consent to the permissions that are shown, without a question
  --purge    also delete its options, secrets and storage
  --release  end the pin
  --data     the data folder; default: MANTEL_DATA, or ./data
  --port     the port of the running host; default: MANTEL_PORT, or 8470
  --plugins  plugin folders; default: MANTEL_PLUGINS, or ./plugins
`;

type Options = ReturnType<typeof readOptions>;

/** The commands by name. Each returns the exit code. */
const COMMANDS: Readonly<Record<string, (home: PluginHome, options: Options) => Promise<number>>> =
  {
    search: async (home, { operands }) => {
      const found = await home.search(operands.join(" "));
      for (const { name, version, description, installed } of found) {
        print(`${name}\t${version}\t${installed === null ? "" : "installed"}\t${description}`);
      }
      if (found.length === 0) process.stderr.write("plugin: nothing found\n");
      return 0;
    },
    add: async (home, options) => {
      const source = sourceOf(only(options, "the source"), options.link);
      const { version, scripts } = options;
      return finish(home, await home.install({ source, version, scripts }), options);
    },
    update: async (home, options) => {
      const { version, scripts, operands } = options;
      if (operands.length > 0) {
        const id = only(options, "the id");
        return finish(home, await home.update(id, { version, scripts }), options);
      }
      return updateAll(home, options);
    },
    remove: async (home, options) => {
      const id = only(options, "the id");
      await home.remove(id, options.purge);
      print(`removed ${id}${options.purge ? " with its options, secrets and storage" : ""}`);
      return 0;
    },
    pin: async (home, options) => {
      const { id, version } = await home.pin(only(options, "the id"), !options.release);
      print(options.release ? `${id} follows its source again` : `${id} stays at ${version}`);
      return 0;
    },
    list: async (home) => {
      for (const plugin of (await home.list(false)).plugins) print(lineOf(plugin));
      return 0;
    },
    outdated: async (home) => {
      const { plugins, unknown } = await home.list(true);
      const outdated = plugins.filter((plugin) => plugin.outdated);
      for (const { id, version, latest, pinned } of outdated) {
        print(`${id}\t${version}\t${latest}${pinned ? "\tpinned" : ""}`);
      }
      for (const [id, reason] of Object.entries(unknown))
        process.stderr.write(`plugin: ${id}: ${reason}\n`);
      return outdated.length > 0 ? 1 : 0;
    },
  };

async function main(): Promise<number> {
  const options = readOptions();
  const command = COMMANDS[options.command];
  if (!command) return usageError(`unknown command "${options.command}"`);
  const data = await openDataFolder(options.data);
  const log = openLog("warn", Boolean(process.stderr.isTTY));
  const config = await ConfigStore.open({ dataFolder: data, environment: {}, log });
  try {
    const tell = (step: string) => void (process.stderr.isTTY && process.stderr.write(`${step}\n`));
    const isRunning = (await findRunningHost(data)) !== undefined;
    const parts = { data, config, log, tell };
    const home = await (isRunning
      ? openRunningHome({ ...parts, port: options.port })
      : openStoppedHome({ ...parts, roots: options.plugins }));
    try {
      return await command(home, options);
    } finally {
      await home.close();
    }
  } finally {
    await config.close();
  }
}

/** Shows the result and the permissions, and asks for consent. */
async function finish(
  home: PluginHome,
  { plugin, result }: Changed,
  options: Options,
): Promise<number> {
  const { id, version, state, error, scripts } = plugin;
  print(`${id} ${version}: ${result}`);
  const blocked = scripts.wanted.filter((name) => !scripts.allowed.includes(name));
  if (blocked.length > 0) {
    print(`Install scripts did not run: ${blocked.join(", ")}. Allow them with --scripts`);
  }
  const needed = home.needed(plugin);
  if (needed.length === 0) {
    if (state === "failed") process.stderr.write(`plugin: it does not start: ${error?.message}\n`);
    return state === "failed" ? 1 : 0;
  }
  print(`It may, once you consent:\n${needed.map((each) => `  - ${each}`).join("\n")}`);
  if (!options.yes && !(await agrees())) {
    print("Not started. Consent in Settings → Plugins, or repeat the command with --yes");
    return 0;
  }
  await home.consent(plugin);
  print("Consent given");
  return 0;
}

async function updateAll(home: PluginHome, options: Options): Promise<number> {
  let code = 0;
  for (const { id, pinned } of (await home.list(false)).plugins) {
    if (pinned) print(`${id}: pinned`);
    else {
      const { scripts } = options;
      const done = await home.update(id, { scripts }).catch((error: Error) => {
        process.stderr.write(`plugin: ${error.message}\n`);
        code = 1;
      });
      if (done) code ||= await finish(home, done, options);
    }
  }
  return code;
}

async function agrees(): Promise<boolean> {
  if (!process.stdin.isTTY) return false;
  const terminal = createInterface({ input: process.stdin, output: process.stderr });
  const answer = await terminal.question("Consent? [y/N] ");
  terminal.close();
  return /^y(es)?$/i.test(answer.trim());
}

function lineOf({ id, version, source, state, running, consent, pinned }: PluginView): string {
  const notes = [
    state,
    ...(running !== null && running !== version ? [`runs ${running}`] : []),
    ...(consent ? ["waits for consent"] : []),
    ...(pinned ? ["pinned"] : []),
  ];
  return [id, version, source, notes.join(", ")].join("\t");
}

/** A folder is given as the user sees it; the host needs its whole path. */
function sourceOf(text: string, isLink: boolean): string {
  const isPath = /^(\.{0,2}\/|\.{1,2}$)/.test(text) || (isLink && existsSync(text));
  if (isPath) return `${isLink ? "link:" : ""}${resolve(text)}`;
  if (isLink) return usageError("--link needs a folder");
  return text;
}

function only({ operands }: Options, what: string): string {
  const [operand, ...more] = operands;
  if (operand !== undefined && more.length === 0) return operand;
  return usageError(`pass exactly ${what}`);
}

function readOptions() {
  const text = { type: "string" } as const;
  const flag = { type: "boolean", default: false } as const;
  const options = {
    version: text,
    scripts: text,
    data: text,
    port: text,
    plugins: text,
    link: flag,
    yes: flag,
    purge: flag,
    release: flag,
    help: flag,
  } as const;
  const { values, positionals } = parse(() => parseArgs({ options, allowPositionals: true }));
  if (values.help) {
    process.stdout.write(USAGE);
    process.exit(0);
  }
  const { scripts, link, yes, purge, release, version } = values;
  const [command = "", ...operands] = positionals;
  const port = values.port ?? (process.env["MANTEL_PORT"] || "8470");
  if (!/^\d{1,5}$/.test(port)) usageError(`invalid port ${port}: use a number`);
  const folders = values.plugins ?? (process.env["MANTEL_PLUGINS"] || "./plugins");
  return {
    command,
    operands,
    version,
    scripts: scripts?.split(",").filter((name) => name !== ""),
    data: values.data ?? (process.env["MANTEL_DATA"] || "./data"),
    port: Number(port),
    plugins: folders.split(":").filter((folder) => folder !== ""),
    link,
    yes,
    purge,
    release,
  };
}

function parse<T>(read: () => T): T {
  try {
    return read();
  } catch (error) {
    return usageError((error as Error).message);
  }
}

const print = (line: string): void => void process.stdout.write(`${line}\n`);

/** Ends the process after an invalid command line. */
function usageError(message: string): never {
  process.stderr.write(`plugin: ${message}\n\n${USAGE}`);
  process.exit(2);
}

try {
  process.exitCode = await main();
} catch (error) {
  process.stderr.write(`plugin: ${(error as Error).message}\n`);
  process.exitCode = 1;
}
