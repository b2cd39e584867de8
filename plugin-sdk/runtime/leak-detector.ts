import { createHook } from "node:async_hooks";
import { Server } from "node:net";
import { dirname } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { FRAME } from "../errors.ts";
import type { Leftover, LeftoverKind } from "../protocol.ts";
import { isProxied } from "./proxied-connections.ts";

/** Node's resources that stay open until they are closed, by their async_hooks types. */
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

/** Deep enough to include the plugin's own line below the frames of Node and packages. */
const STACK_DEPTH = 24;
const FIRST_SWEEP = 256;
const MAX_TOLD = 50;
const MAX_FRAMES = 8;
/** Time for closing resources, which takes some turns of the event loop. */
const GRACE_MS = 20;
const TURN_MS = 4;

const MADE = Symbol("made");

/** The origin of a resource. */
interface Making {
  readonly id: number;
  readonly kind: LeftoverKind;
  /** The resource in whose callback it was created, such as the server of a connection. */
  readonly trigger: number;
  /** V8 formats the text at the first read, so a resource that gets closed costs little. */
  readonly stack: string;
}

/** The resource object that Node passes to a hook. Timers report their end only in `_destroyed`. */
interface Resource {
  [MADE]?: Making;
  hasRef?(): boolean;
  readonly fd?: number;
  readonly _destroyed?: boolean;
  readonly _repeat?: number | null;
}

/** Weak references, so that resources can be garbage-collected. Swept whenever the number has doubled. */
const opened = new Set<WeakRef<Resource>>();
let nextSweep = FIRST_SWEEP;

/** Node creates a server's handle after `listen` has returned and stores it in `_handle`. */
type Listening = Server & { readonly _handle?: Resource | null; [MADE]?: Making };
const servers = new Set<WeakRef<Listening>>();

/**
 * Records all resources that are opened from now on, with their stacks. Costs about 5 µs per timer or socket and
 * 0.1 µs per promise, because Node 20 cannot exclude promises from the hook.
 */
export function watchLeaks(): void {
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
 * Finds open resources of the plugin. Excludes the SDK's own and those that do not keep a process alive, such as
 * idle connections of `fetch`. Waits a moment for resources that are closing. The host itself finds open files.
 */
export async function findLeaks(): Promise<Leftover[]> {
  let left = findOpen();
  for (let waitedMs = 0; left.length > 0 && waitedMs < GRACE_MS; waitedMs += TURN_MS) {
    await delay(TURN_MS, undefined, { ref: false });
    left = findOpen();
  }
  return left.slice(0, MAX_TOLD);
}

function note(...[id, type, trigger, resource]: [number, string, number, Resource]): void {
  const kind = KINDS.get(type);
  if (kind === undefined || resource[MADE]) return; // a pooled connection is reported again at each use
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
  // Standard output and error are opened at their first use.
  const known = resources.filter(({ fd }) => fd !== 1 && fd !== 2);
  // Reading a stack loads a source map, so stacks are read only if something is open.
  return known.length > 0 ? placesOf(known) : [];
}

function placesOf(resources: readonly Resource[]): Leftover[] {
  const byId = new Map(resources.map((resource) => [resource[MADE]?.id, resource]));
  const found = resources.map((resource): Leftover => {
    const { [MADE]: making, _repeat: everyMs } = resource;
    const own = framesOf(resource);
    return {
      kind: typeof everyMs === "number" ? "interval" : kindOf(resource, making?.kind),
      stack: own.length > 0 ? own : framesOf(byId.get(making?.trigger)),
    };
  });
  const sdk = `${dirname(dirname(ownFile()))}/`;
  return withoutPipesOfChildren(found.filter(({ stack }) => !stack[0]?.includes(sdk)));
}

function kindOf(resource: Resource, kind: LeftoverKind = "timer"): LeftoverKind {
  return isProxied(resource) ? "socket" : kind;
}

/** The stack frames outside Node, in source lines. */
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

/** The path of this file in stack frames, which a source map may change. */
function ownFile(): string {
  const lines = new Error("here").stack?.split("\n").map((line) => line.trim()) ?? [];
  return FRAME.exec(lines.find((line) => FRAME.test(line)) ?? "")?.[1] ?? "";
}

/** Omits the three pipes of a child process, because the process itself is already reported. */
function withoutPipesOfChildren(found: readonly Leftover[]): Leftover[] {
  const places = found
    .filter(({ kind }) => kind === "child process")
    .map(({ stack }) => stack.join());
  return found.filter(({ kind, stack }) => kind !== "pipe" || !places.includes(stack.join()));
}
