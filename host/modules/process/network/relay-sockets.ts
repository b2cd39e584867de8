import { mkdirSync, mkdtempSync, readdirSync, rmdirSync, rmSync } from "node:fs";
import { createServer, type Server, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** A process connects at once; a relay socket that is not used closes after this time. */
const EXPIRES_MS = 5_000;
/** Systems limit the path of a socket to 103 bytes at least; our names below the folder take about 25. */
const LONGEST_FOLDER = 75;
const PREFIX = "mantel-net-";

/** The result of waiting at a relay socket: a connection, or none. */
interface Wait {
  readonly connected: (near: Socket) => void;
  readonly expired: () => void;
}

/** A relay socket that waits for one connection. */
export interface WaitingSocket {
  readonly path: string;
  /** Closes it; a connection made through it is not affected. */
  discard(): void;
}

interface RelaySocket {
  readonly path: string;
  readonly server: Server;
  wait: Wait | undefined;
  timer?: NodeJS.Timeout;
}

/**
 * The Unix sockets through which one process connects to the connections opened by the host. Each takes one connection
 * at a time, so that connections cannot be mixed up and all bytes of one are its own; it is used again after that. Only
 * the user who runs the host can enter the folder.
 */
export class RelaySockets {
  readonly folder: string;
  readonly #all = new Set<RelaySocket>();
  #idle: RelaySocket[] = [];
  #made = 0;

  constructor() {
    this.folder = makeFolder();
    this.#idle.push(this.#make()); // systems remove old empty folders from their temporary folder
  }

  open(wait: Wait): WaitingSocket {
    const socket = this.#idle.pop() ?? this.#make();
    socket.wait = wait;
    socket.timer = setTimeout(() => this.#expire(socket), EXPIRES_MS);
    const discard = (): void => {
      if (socket.wait === wait) this.#close(socket);
    };
    return { path: socket.path, discard };
  }

  close(): void {
    for (const socket of this.#all) this.#close(socket);
    removeFolder(this.folder);
  }

  #make(): RelaySocket {
    const path = join(this.folder, String(++this.#made));
    const server = createServer({ allowHalfOpen: true, pauseOnConnect: true });
    const socket: RelaySocket = { path, server, wait: undefined };
    server.on("error", () => this.#expire(socket));
    server.on("connection", (near) => this.#accept(socket, near));
    server.listen({ path });
    this.#all.add(socket);
    return socket;
  }

  #accept(socket: RelaySocket, near: Socket): void {
    const { wait } = socket;
    if (!wait) return void near.destroy();
    clearTimeout(socket.timer);
    socket.wait = undefined;
    if (this.#idle.length === 0) this.#idle.push(socket);
    else this.#close(socket);
    wait.connected(near);
  }

  #expire(socket: RelaySocket): void {
    const { wait } = socket;
    this.#close(socket);
    wait?.expired();
  }

  /** Closes a relay socket. One that a process may be connecting to is not used again. */
  #close(socket: RelaySocket): void {
    clearTimeout(socket.timer);
    socket.wait = undefined;
    this.#all.delete(socket);
    this.#idle = this.#idle.filter((each) => each !== socket);
    socket.server.close();
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
