import assert from "node:assert/strict";
import { type ChildProcess, spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { mkdir, mkdtemp, readdir, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { delimiter, dirname, join, resolve } from "node:path";
import type { TestContext } from "node:test";
import { setTimeout as delay } from "node:timers/promises";
import { Audit } from "../../host/auth/audit.ts";
import { DEFAULT_TTL_SECONDS } from "../../host/auth/token-request.ts";
import { Tokens } from "../../host/auth/tokens.ts";
import { openLog } from "../../host/log.ts";
import { copyInto } from "./copy-into.ts";
import { removeFolder } from "./folder.ts";
import { processTreeOf, type RunningProcess, runningProcesses } from "./processes.ts";
import { loadNow, until } from "./until.ts";
import { copyWarmCache } from "./warm-cache.ts";

const REPOSITORY = resolve(import.meta.dirname, "../..");
const START_DEADLINE_MS = 30_000;
const STOP_DEADLINE_MS = 10_000;
const PROGRAM = ["sh", "host/start.sh"];
/** As the token command names itself in the audit log. */
const OPERATOR = { sub: "token command", jti: "" };
const READY = /^mantel ready (https?:\S+)$/m;

export type Scope = "read" | "control" | "edit" | "admin";

export interface HostOptions {
  /** A copy of the repository that is run. Absent: this one. */
  readonly repository?: string;
  /** Plugin folders, relative to the repository; the host runs copies. Absent: all of `plugins/`. */
  readonly plugins?: readonly string[];
  /** A data folder that the caller owns, such as that of a host that ran before. */
  readonly data?: string;
  /**
   * Modules whose widgets run in the page and not in a frame, because the test looks into them there. `all`
   * means every plugin that is copied.
   */
  readonly trusted?: "all" | readonly string[];
  /** Written to the data folder's `config.json` before the start. */
  readonly config?: object;
  readonly env?: Readonly<Record<string, string>>;
  readonly args?: readonly string[];
  /** A program with its arguments that becomes the host, such as one that enters a namespace first. */
  readonly through?: readonly string[];
}

export interface ApiRequest extends RequestInit {
  /** Scope of the token that is sent, `admin` when absent; `null` sends none. */
  readonly scope?: Scope | null;
  /** Sent as the JSON body. */
  readonly json?: unknown;
}

export interface TestHost {
  readonly url: string;
  readonly pid: number;
  readonly data: string;
  /** The folder with the host's own copies of the plugins: a test may edit them. */
  readonly plugins: string;
  /** All that the host has written to standard error. */
  readonly log: () => string;
  /** A token of this scope, made as the token command makes it. */
  readonly token: (scope: Scope) => Promise<string>;
  /** A link that signs one browser in, with a token of its own; `url` when it is reached another way. */
  readonly link: (scope: Scope, url?: string) => Promise<string>;
  /** Requests `/api/v1<path>`. */
  readonly api: (path: string, request?: ApiRequest) => Promise<Response>;
  /**
   * Asks the host to end, and checks that it does within 10 s and leaves no process behind. Gives its
   * exit code, or `null` when a signal from the test had ended it.
   */
  readonly stop: () => Promise<number | null>;
}

/** The real host as a process of its own, started as `npm start` does it, and ready. It is stopped and checked when the test ends. */
export async function startHost(t: TestContext, options: HostOptions = {}): Promise<TestHost> {
  const home = await mkdtemp(join(tmpdir(), "mantel-test-"));
  const data = options.data ?? join(home, "data");
  const { repository = REPOSITORY } = options;
  await symlink(join(repository, "node_modules"), join(home, "node_modules"));
  const plugins = await copyPlugins(home, options.plugins ?? (await shippedPlugins()));
  await mkdir(data, { recursive: true, mode: 0o700 });
  await copyWarmCache(data, { hasPackages: true, ...(repository === REPOSITORY && { plugins }) });
  const config = await configOf(options, plugins);
  if (config) await writeFile(join(data, "config.json"), JSON.stringify(config));

  const flags = ["--port", "0", "--data", data, "--plugins", plugins, ...(options.args ?? [])];
  const command = [...(options.through ?? []), ...PROGRAM, ...flags];
  const host = new HostProcess(repository, command, { ...options.env });
  t.after(async () => {
    try {
      assert.ok(!(await host.stop()), `the host failed:\n${host.log}`);
    } finally {
      await removeFolder(home);
    }
  });
  const url = await host.ready();

  const tokens = new Map<Scope, Promise<string>>();
  const token = (scope: Scope) => {
    const issued = tokens.get(scope) ?? issueToken(scope, data);
    tokens.set(scope, issued);
    return issued;
  };
  const api: TestHost["api"] = async (path, { scope = "admin", ...request } = {}) =>
    fetch(`${url}/api/v1${path}`, toFetch(request, scope === null ? null : await token(scope)));
  return {
    url,
    data,
    plugins,
    token,
    api,
    pid: host.pid,
    log: () => host.log,
    async link(scope, base = url) {
      const json = { name: `browser ${scope}`, scope: [scope] };
      const made = (await (await api("/tokens", { method: "POST", json })).json()) as {
        token: string;
      };
      return `${base}/#token=${made.token}`;
    },
    stop: () => host.stop(),
  };
}

class HostProcess {
  readonly #child: ChildProcess;
  readonly #exited: Promise<unknown[]>;
  #output = "";
  #log = "";

  constructor(
    repository: string,
    [program = "", ...args]: readonly string[],
    env: Readonly<Record<string, string>>,
  ) {
    this.#child = spawn(
      program,
      args,
      // A process group of its own, so that what the host leaves behind can be found.
      { cwd: repository, env: { ...cleanEnvironment(), ...env }, detached: true },
    );
    this.#exited = once(this.#child, "exit");
    this.#child.stdout?.setEncoding("utf8").on("data", (text: string) => (this.#output += text));
    this.#child.stderr?.setEncoding("utf8").on("data", (text: string) => (this.#log += text));
  }

  get pid(): number {
    assert(this.#child.pid, "the host did not start");
    return this.#child.pid;
  }

  get log(): string {
    return this.#log;
  }

  async ready(): Promise<string> {
    const url = await until(() => this.#ended || READY.exec(this.#output)?.[1], {
      withinMs: START_DEADLINE_MS,
    });
    assert(typeof url === "string", `the host ended before it was ready:\n${this.#log}`);
    return url;
  }

  async stop(): Promise<number | null> {
    const family = processTreeOf(this.pid); // modules have groups of their own
    if (!this.#ended) this.#child.kill("SIGTERM");
    const stopped = await Promise.race([
      this.#exited,
      delay(STOP_DEADLINE_MS * loadNow(), "late", { ref: false }),
    ]);
    if (stopped === "late") this.#endGroup();
    assert.notEqual(stopped, "late", `the host did not stop:\n${this.#log}`);
    await this.#assertNothingLeft(family);
    return this.#child.exitCode;
  }

  get #ended(): boolean {
    return this.#child.exitCode !== null || this.#child.signalCode !== null;
  }

  async #assertNothingLeft(family: readonly RunningProcess[]): Promise<void> {
    const isOfFamily = ({ pid, startedAt, group }: RunningProcess) =>
      group === this.pid || family.some((each) => each.pid === pid && each.startedAt === startedAt);
    const left = () => runningProcesses().filter(isOfFamily);
    try {
      await until(() => left().length === 0, { withinMs: 5_000 });
    } catch {
      const names = left().map(({ line }) => line);
      this.#endGroup();
      assert.fail(`the host left processes behind:\n${names.join("\n")}\n${this.#log}`);
    }
  }

  #endGroup(): void {
    try {
      process.kill(-this.pid, "SIGKILL");
    } catch {
      // its processes ended in the meantime
    }
  }
}

/** The environment without settings of a Mantel that the developer runs, and with the Node of this process. */
function cleanEnvironment(): NodeJS.ProcessEnv {
  const kept = Object.entries(process.env).filter(([name]) => !name.startsWith("MANTEL_"));
  return {
    ...Object.fromEntries(kept),
    PATH: `${dirname(process.execPath)}${delimiter}${process.env["PATH"]}`,
  };
}

async function shippedPlugins(): Promise<string[]> {
  const names = await readdir(join(REPOSITORY, "plugins"));
  return names.filter((name) => !name.includes(".")).map((name) => `plugins/${name}`);
}

/** Copies plugins to where a test may edit them and their imports still find the installed packages. */
async function copyPlugins(home: string, folders: readonly string[]): Promise<string> {
  const plugins = join(home, "plugins");
  await mkdir(plugins);
  await copyInto(
    plugins,
    folders.map((folder) => join(REPOSITORY, folder)),
  );
  return plugins;
}

async function configOf(
  { config, trusted = [] }: HostOptions,
  plugins: string,
): Promise<object | undefined> {
  const ids = trusted === "all" ? await readdir(plugins) : trusted;
  if (ids.length === 0) return config;
  const modules = Object.fromEntries(ids.map((id) => [id, { trusted: true }]));
  return { ...config, modules: { ...modules, ...(config as { modules?: object })?.modules } };
}

async function issueToken(scope: Scope, data: string): Promise<string> {
  const tokens = await Tokens.open({ dataFolder: data, log: openLog("warn", false) });
  const name = `test-${randomBytes(3).toString("hex")}`;
  const request = { scope: [scope], name, ttlSeconds: DEFAULT_TTL_SECONDS };
  const token = await tokens.issue(request);
  await new Audit(data).record(OPERATOR, { action: "token.issue", ...request });
  return token;
}

function toFetch(
  { json, ...request }: Omit<ApiRequest, "scope">,
  token: string | null,
): RequestInit {
  const headers = new Headers(request.headers);
  if (token) headers.set("authorization", `Bearer ${token}`);
  if (json === undefined) return { ...request, headers };
  headers.set("content-type", "application/json");
  return { ...request, headers, body: JSON.stringify(json) };
}
