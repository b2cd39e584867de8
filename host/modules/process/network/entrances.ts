import { mkdirSync, mkdtempSync, readdirSync, rmdirSync, rmSync } from "node:fs";
import { createServer, type Server, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** A process connects at once; an entrance that is not used closes after this time. */
const EXPIRES_MS = 5_000;
/** Systems limit the path of a socket to 103 bytes at least; our names below the folder take about 25. */
const LONGEST_FOLDER = 75;
const PREFIX = "mantel-net-";

/** The result of waiting at an entrance: a connection, or none. */
interface Visit {
  readonly entered: (near: Socket) => void;
  readonly expired: () => void;
}

/** An entrance that waits for one connection. */
export interface WaitingEntrance {
  readonly path: string;
  /** Closes it; a connection made through it is not affected. */
  discard(): void;
}

interface Entrance {
  readonly path: string;
  readonly server: Server;
  visit: Visit | undefined;
  timer?: NodeJS.Timeout;
}

/**
 * The Unix sockets through which one process connects to the connections opened by the host. Each takes one connection
 * at a time, so that connections cannot be mixed up and all bytes of one are its own; it is used again after that. Only
 * the user who runs the host can enter the folder.
 */
export class EntranceSockets {
  readonly folder: string;
  readonly #all = new Set<Entrance>();
  #idle: Entrance[] = [];
  #made = 0;

  constructor() {
    this.folder = makeFolder();
    this.#idle.push(this.#make()); // systems remove old empty folders from their temporary folder
  }

  open(visit: Visit): WaitingEntrance {
    const entrance = this.#idle.pop() ?? this.#make();
    entrance.visit = visit;
    entrance.timer = setTimeout(() => this.#expire(entrance), EXPIRES_MS);
    const discard = (): void => {
      if (entrance.visit === visit) this.#close(entrance);
    };
    return { path: entrance.path, discard };
  }

  close(): void {
    for (const entrance of this.#all) this.#close(entrance);
    removeFolder(this.folder);
  }

  #make(): Entrance {
    const path = join(this.folder, String(++this.#made));
    const server = createServer({ allowHalfOpen: true, pauseOnConnect: true });
    const entrance: Entrance = { path, server, visit: undefined };
    server.on("error", () => this.#expire(entrance));
    server.on("connection", (near) => this.#enter(entrance, near));
    server.listen({ path });
    this.#all.add(entrance);
    return entrance;
  }

  #enter(entrance: Entrance, near: Socket): void {
    const { visit } = entrance;
    if (!visit) return void near.destroy();
    clearTimeout(entrance.timer);
    entrance.visit = undefined;
    if (this.#idle.length === 0) this.#idle.push(entrance);
    else this.#close(entrance);
    visit.entered(near);
  }

  #expire(entrance: Entrance): void {
    const { visit } = entrance;
    this.#close(entrance);
    visit?.expired();
  }

  /** Closes an entrance. One that a process may be connecting to is not used again. */
  #close(entrance: Entrance): void {
    clearTimeout(entrance.timer);
    entrance.visit = undefined;
    this.#all.delete(entrance);
    this.#idle = this.#idle.filter((each) => each !== entrance);
    entrance.server.close();
  }
}

/** The folder of this host, with one folder for each process. */
let parent: string | undefined;
let foldersMade = 0;
const folders = new Set<string>();

function makeFolder(): string {
  parent ??= makeParent();
  const folder = join(parent, String(++foldersMade));
  mkdirSync(folder, { mode: 0o700 });
  folders.add(folder);
  return folder;
}

function removeFolder(folder: string): void {
  rmSync(folder, { recursive: true, force: true });
  folders.delete(folder);
  if (folders.size > 0 || parent === undefined) return;
  rmdirSync(parent);
  parent = undefined;
}

function makeParent(): string {
  const temporary = tmpdir().length <= LONGEST_FOLDER ? tmpdir() : "/tmp";
  for (const name of readdirSync(temporary))
    if (isLeftBehind(name)) tryToRemove(join(temporary, name));
  return mkdtempSync(join(temporary, `${PREFIX}${process.pid}-`));
}

/** True for the folder of a host that was killed and could not remove it. */
function isLeftBehind(name: string): boolean {
  const [, pid] = /^mantel-net-(\d+)-/.exec(name) ?? [];
  if (pid === undefined) return false;
  if (Number(pid) === process.pid) return true; // this process has no folder yet
  try {
    process.kill(Number(pid), 0);
    return false;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "ESRCH";
  }
}

function tryToRemove(folder: string): void {
  try {
    rmSync(folder, { recursive: true, force: true });
  } catch {
    // it belongs to another user
  }
}
