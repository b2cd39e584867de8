import { createHook } from "node:async_hooks";
import { readdirSync, readlinkSync } from "node:fs";
import { Server } from "node:net";
import { dirname } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { FRAME } from "../errors.ts";
import type { Leftover, LeftoverKind } from "../protocol.ts";

/** Node's resources that go on until somebody closes them, by their names in async_hooks. */
const KINDS: ReadonlyMap<string, LeftoverKind> = new Map([
  ["Timeout", "timer"],
  ["TCPWRAP", "socket"],
  ["PIPEWRAP", "pipe"],
  ["UDPWRAP", "socket"],
  ["TCPSERVERWRAP", "server"],
  ["PIPESERVERWRAP", "server"],
  ["FSEVENTWRAP", "watcher"],
  ["STATWATCHER", "watcher"],
  ["PROCESSWRAP", "child process"],
  ["WORKER", "thread"],
]);

/** Deep enough to reach an author's line below those of Node and of a package. */
const STACK_DEPTH = 24;
const FIRST_SWEEP = 256;
const MAX_TOLD = 50;
const MAX_FRAMES = 8;
/** What was closed last needs some turns of the loop until it is. */
const GRACE_MS = 20;
const TURN_MS = 4;

const MADE = Symbol("made");

/** How a resource came to be. */
interface Making {
  readonly id: number;
  readonly kind: LeftoverKind;
  /** The resource in whose callback it was made, such as the server of a connection. */
  readonly trigger: number;
  /** V8 makes the text when it is first read, so that nothing is paid for what gets closed. */
  readonly stack: string;
}

/** What Node hands to a hook: the thing itself. Of timers Node says only in `_` whether they have ended. */
interface Resource {
  [MADE]?: Making;
  hasRef?(): boolean;
  readonly fd?: number;
  readonly _destroyed?: boolean;
  readonly _repeat?: number | null;
}

/** Weak, so that what a plugin lets go of can go; swept whenever it has doubled. */
const opened = new Set<WeakRef<Resource>>();
let nextSweep = FIRST_SWEEP;

/** Node makes the handle of a server in a later turn than that of `listen`; the server has it as `_handle`. */
type Listening = Server & { readonly _handle?: Resource | null; [MADE]?: Making };
const servers = new Set<WeakRef<Listening>>();

/**
 * Notes what is opened in this process from now on, and where. It costs about 5 µs for each timer or
 * socket, and 0.1 µs for each promise, because Node 20 has no hook that leaves promises out.
 */
export function watchLeftovers(): void {
  createHook({ init: note }).enable();
  const listen = Reflect.get(Server.prototype, "listen") as (...parts: unknown[]) => Server;
  Server.prototype.listen = function (this: Server, ...parts: unknown[]) {
    servers.add(
      new WeakRef(Object.assign(this, { [MADE]: makingOf({ id: 0, kind: "server", trigger: 0 }) })),
    );
    return listen.apply(this, parts);
  };
}

/**
 * What is open now, without what is the SDK's and what would not keep a process alive, such as the idle
 * connections of `fetch`. What is about to close gets a moment. Open files are found on Linux alone.
 */
export async function findLeftovers(): Promise<Leftover[]> {
  let left = findOpen();
  for (let waitedMs = 0; left.length > 0 && waitedMs < GRACE_MS; waitedMs += TURN_MS) {
    await delay(TURN_MS, undefined, { ref: false });
    left = findOpen();
  }
  return left.slice(0, MAX_TOLD);
}

function note(...[id, type, trigger, resource]: [number, string, number, Resource]): void {
  const kind = KINDS.get(type);
  if (kind === undefined || resource[MADE]) return; // a pooled connection was made once
  resource[MADE] = makingOf({ id, kind, trigger });
  opened.add(new WeakRef(resource));
  if (opened.size > nextSweep) sweep();
}

function makingOf(of: Omit<Making, "stack">): Making {
  const making = { ...of, stack: "" };
  const depth = Error.stackTraceLimit;
  Error.stackTraceLimit = STACK_DEPTH;
  Error.captureStackTrace(making, makingOf);
  Error.stackTraceLimit = depth;
  return making;
}

function sweep(): void {
  for (const weak of opened) {
    const resource = weak.deref();
    if (!resource || !isOpen(resource)) opened.delete(weak);
  }
  for (const weak of servers) if (!weak.deref()) servers.delete(weak);
  nextSweep = Math.max(FIRST_SWEEP, 2 * opened.size);
}

function isOpen(resource: Resource): boolean {
  const { _destroyed: hasEnded } = resource; // `hasRef` of a timer stays true
  return hasEnded !== true && resource.hasRef?.() === true; // undefined once it is closed
}

function findOpen(): Leftover[] {
  sweep();
  const resources = [...opened].flatMap((weak) => weak.deref() ?? []);
  // The process's own output is opened at its first use.
  const known = resources.filter(({ fd }) => fd !== 1 && fd !== 2);
  // Stacks cost a source map, so that they are read only when there is something to tell.
  return [...(known.length > 0 ? placesOf(known) : []), ...openFiles()];
}

function placesOf(resources: readonly Resource[]): Leftover[] {
  const byId = new Map(resources.map((resource) => [resource[MADE]?.id, resource]));
  const found = resources.map((resource): Leftover => {
    const { [MADE]: making, _repeat: everyMs } = resource;
    const own = framesOf(resource);
    return {
      kind: typeof everyMs === "number" ? "interval" : (making?.kind ?? "timer"),
      stack: own.length > 0 ? own : framesOf(byId.get(making?.trigger)),
    };
  });
  const sdk = `${dirname(dirname(ownFile()))}/`;
  return withoutPipesOfChildren(found.filter(({ stack }) => !stack[0]?.includes(sdk)));
}

/** The frames outside Node, in the lines of the sources. */
function framesOf(resource: Resource | undefined): string[] {
  const isOfHandle = (server: Listening): boolean => {
    const { _handle: handle } = server;
    return resource !== undefined && handle === resource;
  };
  const server = [...servers].flatMap((weak) => weak.deref() ?? []).find(isOfHandle);
  const stack = (server ?? resource)?.[MADE]?.stack ?? "";
  const lines = stack.split("\n").map((line) => line.trim());
  const own = ownFile();
  const places = lines.filter((line) => FRAME.test(line) && !/\(?node:/.test(line));
  return places.filter((line) => FRAME.exec(line)?.[1] !== own).slice(0, MAX_FRAMES);
}

/** This file as frames name it: after the source map, when there is one. */
function ownFile(): string {
  const lines = new Error("here").stack?.split("\n").map((line) => line.trim()) ?? [];
  return FRAME.exec(lines.find((line) => FRAME.test(line)) ?? "")?.[1] ?? "";
}

/** The three pipes of a child process say nothing that the process does not. */
function withoutPipesOfChildren(found: readonly Leftover[]): Leftover[] {
  const places = found
    .filter(({ kind }) => kind === "child process")
    .map(({ stack }) => stack.join());
  return found.filter(({ kind, stack }) => kind !== "pipe" || !places.includes(stack.join()));
}

/** Node does not say where a file was opened, but which. */
function openFiles(): Leftover[] {
  const paths = readdirOr("/proc/self/fd").map((fd) => readlinkOr(`/proc/self/fd/${fd}`));
  const files = paths.filter((path) => /^\/(?!dev\/|proc\/)/.test(path));
  return files.map((path) => ({ kind: "file", stack: [], path }));
}

function readdirOr(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch {
    return []; // this system has no /proc
  }
}

function readlinkOr(path: string): string {
  try {
    return readlinkSync(path);
  } catch {
    return ""; // it was the descriptor of the listing itself
  }
}
