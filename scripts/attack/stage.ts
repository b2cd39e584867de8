import { randomBytes } from "node:crypto";
import { once } from "node:events";
import {
  cp,
  mkdir,
  mkdtemp,
  readdir,
  readFile,
  rename,
  rm,
  stat,
  writeFile,
} from "node:fs/promises";
import { connect } from "node:net";
import { getPriority, setPriority } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { Tokens } from "../../host/auth/tokens.ts";
import { openLog } from "../../host/log.ts";
import { readProcess } from "../../host/modules/process/procfs.ts";
import { freePort } from "../../test/helpers/free-port.ts";
import { type BenchHome, openHome, type Served, serveHost } from "../bench/bench-home.ts";
import { AnswerTimes } from "./answer-times.ts";
import { type Listeners, openListeners } from "./listeners.ts";
import { type MarkedProcess, processesOf, stateOf } from "./marked-processes.ts";
import type { Target } from "./target.ts";

/** For what must happen, also on a busy machine. */
export const EVENT_TIMEOUT_MS = 20_000;
const POLL_MS = 50;
/** So many looks in a row tell a loop from a moment of work. */
const LOOKS = 3;
const PATIENCE_MS = 5_000;
const ANSWER_MS = 2_000;
const TOKEN_SECONDS = 86_400;
const SHIPPED = join(import.meta.dirname, "../../plugins");

/** A plugin that does nothing, whose process and storage are attacked. */
const BYSTANDER = {
  "package.json": JSON.stringify({
    name: "bystander",
    type: "module",
    mantel: { id: "bystander", kinds: ["service"], server: "index.ts" },
  }),
  "index.ts": `import { definePlugin } from "@mantel/plugin-sdk";\nexport default definePlugin({ start() {} });\n`,
};

/** The addresses and paths that a hostile plugin attacks. */
export interface Facts extends Omit<Listeners, "visits" | "close"> {
  /** Process ids as this machine counts them. */
  readonly host: number;
  readonly bystander: number;
  readonly data: string;
  /** The folder of packages that plugins find. */
  readonly modules: string;
  /** A folder that stays empty, and a file that stays unread. */
  readonly target: string;
  readonly outside: string;
  /** The port at which the host's debugger would open. */
  readonly inspector: number;
}

/** A module as `GET /modules/<id>` shows it. */
export interface ModuleState {
  readonly state: string;
  readonly restarts: number;
  readonly error: { readonly message: string } | null;
}

/** The Node that runs a stage, and whether its host finds bubblewrap. */
export interface StageOptions {
  readonly program: string;
  readonly withoutKernel: boolean;
}

/** Where a stage keeps its things. */
interface Place {
  readonly home: BenchHome;
  readonly listeners: Listeners;
  readonly canary: string;
  readonly inspector: number;
}

/** A real compiled host with a bystander, for attacks one after the other. */
export class Stage {
  /** The register of tokens as it was before this attack. */
  registerBefore = "";
  readonly #place: Place;
  readonly #options: StageOptions;
  #host: Served;
  readonly #token: string;
  #times: AnswerTimes;
  #cpuMsBefore = 0;
  #hostile = "";

  private constructor(place: Place, options: StageOptions, host: Served, token: string) {
    this.#place = place;
    this.#options = options;
    this.#host = host;
    this.#token = token;
    this.#times = new AnswerTimes(host.url);
  }

  static async open(options: StageOptions): Promise<Stage> {
    const home = await openHome();
    const folder = join(home.data, "..");
    const canary = randomBytes(16).toString("hex");
    for (const [name, text] of Object.entries(BYSTANDER))
      await home.write(`bystander/${name}`, text);
    await mkdir(join(folder, "target"), { mode: 0o777 });
    await writeFile(join(folder, "outside.txt"), `OUTSIDE=${canary}\n`, { mode: 0o644 });
    const listeners = await openListeners(join(folder, "socket"), `mantel-${canary}`);
    const place = { home, listeners, canary, inspector: await freePort() };
    const host = await startHost(place, options);
    const stage = new Stage(place, options, host, await issueToken(home.data));
    await stage.#settle();
    await writeFile(join(home.data, "plugins/bystander/secret.json"), canary, { mode: 0o600 });
    return stage;
  }

  async close(): Promise<void> {
    this.#times.close();
    this.#place.listeners.close();
    await this.#host.stop();
    await this.#place.home.remove();
  }

  get facts(): Facts {
    const { home, inspector, listeners } = this.#place;
    const folder = join(home.data, "..");
    const { web, datagrams, socket, abstractSocket } = listeners;
    return {
      web,
      datagrams,
      socket,
      abstractSocket,
      inspector,
      host: this.#host.pid,
      bystander: this.#processes("bystander").at(-1)?.pid ?? 0,
      data: home.data,
      modules: join(folder, "node_modules"),
      target: join(folder, "target"),
      outside: join(folder, "outside.txt"),
    };
  }

  /** Where attacks over HTTP go. */
  get target(): Target {
    const { url, pid } = this.#host;
    return { url, pid, token: this.#token, data: this.#place.home.data };
  }

  get canary(): string {
    return this.#place.canary;
  }

  /** The servers that somebody came to in this attack. */
  get visits(): readonly string[] {
    return this.#place.listeners.visits;
  }

  /**
   * The longest time for which the host did not answer in this attack, as far as it was at work itself: a
   * machine that has no time for it is not its fault.
   */
  get stalledMs(): number {
    const workedMs = readProcess(this.#host.pid).cpuMs - this.#cpuMsBefore;
    return Math.round(Math.min(this.#times.slowestMs, workedMs));
  }

  /** Forgets the attack before. */
  async begin(): Promise<void> {
    const { home, listeners } = this.#place;
    const { target } = this.facts;
    for (const name of await readdir(target)) await rm(join(target, name), { recursive: true });
    listeners.visits.length = 0;
    this.#times.reset();
    this.#cpuMsBefore = readProcess(this.#host.pid).cpuMs;
    this.registerBefore = await readFile(join(home.data, "tokens.jsonl"), "utf8");
  }

  /** Installs a plugin; the one before is gone. */
  async install(id: string, files: Readonly<Record<string, string>>): Promise<void> {
    const { home } = this.#place;
    this.#hostile = id;
    const folder = await mkdtemp(join(home.plugins, "../new-"));
    for (const [name, text] of Object.entries(files)) await writeFile(join(folder, name), text);
    await rename(folder, join(home.plugins, id)); // whole at once
  }

  /** Installs a plugin that ships with Mantel, and waits until it runs. It stays until the stage closes. */
  async installShipped(id: string): Promise<void> {
    const { home } = this.#place;
    if (await exists(join(home.plugins, id))) return;
    const folder = await mkdtemp(join(home.plugins, "../new-"));
    await cp(join(SHIPPED, id), folder, { recursive: true });
    await rename(folder, join(home.plugins, id)); // whole at once
    await this.waitUntil(
      async () => (await this.moduleState(id))?.state === "active",
      EVENT_TIMEOUT_MS,
    );
  }

  /** The state of a module as the API shows it; `undefined` when it is not there. */
  async moduleState(id: string): Promise<ModuleState | undefined> {
    return (await this.get(`/modules/${id}`)) as ModuleState | undefined;
  }

  /** Takes the plugin away, and waits until its processes are gone. */
  async uninstall(): Promise<void> {
    await rm(join(this.#place.home.plugins, this.#hostile), { recursive: true, force: true });
    await this.waitUntil(async () => this.#processes(this.#hostile).length === 0);
    for (const { pid } of this.#processes(this.#hostile)) signal(pid, "SIGKILL");
  }

  /** The API's answer to a GET; `undefined` without one. */
  async get(path: string): Promise<unknown> {
    const headers = { authorization: `Bearer ${this.#token}` };
    const request = { headers, signal: AbortSignal.timeout(ANSWER_MS) };
    return fetch(`${this.#host.url}/api/v1${path}`, request).then(
      async (answer) => (answer.ok ? answer.json() : undefined),
      () => undefined,
    );
  }

  /** True if the host's process is there, whether it answers or not. */
  get isHostRunning(): boolean {
    return this.isRunning(this.#host.pid);
  }

  readonly isRunning = (pid: number): boolean => !["", "Z"].includes(stateOf(pid).state);

  /** True if something listens at a port of this machine. */
  async answersAt(port: number): Promise<boolean> {
    const socket = connect(port, "127.0.0.1");
    try {
      await once(socket, "connect");
      return true;
    } catch {
      return false;
    } finally {
      socket.destroy();
    }
  }

  /** True if the hostile plugin has a file of this name in its storage. */
  hasStored(name: string): Promise<boolean> {
    return exists(join(this.#place.home.data, "plugins", this.#hostile, name));
  }

  /** The state of the hostile plugin's module. */
  hostileState(): Promise<ModuleState | undefined> {
    return this.moduleState(this.#hostile);
  }

  /** Says which process was stopped or slowed down, and lets it continue. */
  findStopped(): string | undefined {
    const harmed: string[] = [];
    const all = [{ name: "the host", pid: this.#host.pid }];
    all.push(...this.#processes("bystander").map(({ pid }) => ({ name: "another plugin", pid })));
    for (const { name, pid } of all) {
      if (stateOf(pid).state === "T") harmed.push(`${name} was stopped`);
      if (getPriority(pid) !== getPriority()) harmed.push(`${name} was slowed down`);
      signal(pid, "SIGCONT");
      setPriority(pid, getPriority());
    }
    return harmed.length > 0 ? harmed.join(", ") : undefined;
  }

  /** True while the hostile plugin's process does nothing but run. */
  readonly isHostileBusy = async (): Promise<boolean> => {
    for (let look = 0; look < LOOKS; look++) {
      if (!this.#processes(this.#hostile).some(({ state }) => state === "R")) return false;
      await delay(POLL_MS);
    }
    return true;
  };

  /** The processes of the hostile plugin that run a program of this name. */
  countProcesses(program: string): number {
    return this.#processes(this.#hostile).filter((each) => each.program === program).length;
  }

  /** Ends the host at once, and gives the processes that the hostile plugin had then. */
  async killHost(): Promise<number[]> {
    const pids = this.#processes(this.#hostile).map(({ pid }) => pid);
    const { pid } = this.#host;
    signal(pid, "SIGKILL");
    await this.waitUntil(async () => !this.isRunning(pid));
    return pids;
  }

  /** Starts the next host over the same data, without the hostile plugin. */
  async restart(): Promise<void> {
    await rm(join(this.#place.home.plugins, this.#hostile), { recursive: true, force: true });
    this.#times.close();
    await this.#host.stop();
    this.#host = await startHost(this.#place, this.#options);
    this.#times = new AnswerTimes(this.#host.url);
    await this.#settle();
  }

  /** True once `condition` holds; false when it does not in time. */
  async waitUntil(condition: () => Promise<boolean>, withinMs = PATIENCE_MS): Promise<boolean> {
    const endsAt = performance.now() + withinMs;
    while (!(await condition())) {
      if (performance.now() > endsAt) return false;
      await delay(POLL_MS);
    }
    return true;
  }

  async #settle(): Promise<void> {
    await this.waitUntil(async () => this.#processes("bystander").length > 0);
  }

  #processes(id: string): MarkedProcess[] {
    return processesOf(join(this.#place.home.data, "plugins", id));
  }
}

function exists(path: string): Promise<boolean> {
  return stat(path).then(
    () => true,
    () => false,
  );
}

function startHost(
  { home, canary, inspector }: Place,
  { program, withoutKernel }: StageOptions,
): Promise<Served> {
  const env = {
    MANTEL_CANARY: canary,
    NODE_OPTIONS: `--inspect-port=${inspector}`, // where a debugger would open
    ...(withoutKernel ? { PATH: "/nowhere" } : {}), // where bubblewrap would be found
  };
  return serveHost(home, 0, env, program);
}

async function issueToken(dataFolder: string): Promise<string> {
  const tokens = await Tokens.open({ dataFolder, log: openLog("error", false) });
  return tokens.issue({ name: "attack", scope: ["admin"], ttlSeconds: TOKEN_SECONDS });
}

function signal(pid: number, name: NodeJS.Signals): void {
  try {
    process.kill(pid, name);
  } catch {
    // ESRCH: it has ended
  }
}
