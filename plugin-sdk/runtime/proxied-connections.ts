import net, { isIP, type Socket } from "node:net";
import { resolve } from "node:path";
import type tls from "node:tls";
import type {
  Address,
  ConnectionAnswer,
  Endpoint,
  NetworkApi,
  NetworkFailure,
} from "../protocol.ts";
import type { Peer } from "../rpc/peer.ts";
import { apply, create, inNextTurn, isArray } from "./primordials.ts";
import { replace } from "./replace.ts";

/** Longer than the host's own deadlines. */
const OPEN_MS = 60_000;
/** A placeholder path for sockets under TLS. It makes Node prepare a Unix socket. */
const OF_TLS = "mantel-connection:tls";

/** The channel for requesting connections and look-ups from the host. */
export type NetworkLink = Pick<Peer<NetworkApi, object>, "call" | "notify">;

/** Creates the error for a refused access. */
export type Refuse = (refusal: { reached: string; toDeclare: string }) => Error;

/** Node's handle of a Unix socket. */
interface PipeHandle {
  connect: (this: PipeHandle, request: object, path: string) => number;
  close: (this: PipeHandle, done?: () => void) => void;
  getpeername?(into: Partial<Endpoint>): number;
  getsockname?(into: Partial<Endpoint>): number;
}
type Handled = Socket & {
  readonly _handle?: (PipeHandle & { readonly _parent?: PipeHandle }) | null;
};
type Connect = (this: Socket, ...args: unknown[]) => Socket;
type Lookup = NonNullable<net.TcpNetConnectOpts["lookup"]>;

type Target =
  | { readonly path: string }
  | {
      readonly host: string;
      readonly port: number;
      readonly family: 0 | 4 | 6;
      readonly localAddress?: string;
      readonly lookup?: Lookup;
    };

interface Connection {
  readonly number: number;
  readonly socket: Handled;
  readonly target: Target;
  isReset: boolean;
}

const normalizeArgs = Reflect.get(net, "_normalizeArgs") as (
  args: readonly unknown[],
) => [options: object, listener: unknown];

/** The handles of proxied connections. To async_hooks they look like pipes. */
const handles = new WeakMap<object, Connection>();

/** True for the handle of a connection that the host opened or is opening. */
export function isProxied(handle: object): boolean {
  return handles.has(handle);
}

/**
 * Routes each connection of this process through the host. Node prepares a Unix socket without connecting it. The
 * host connects to the target and returns the path of a Unix socket that relays the bytes; Node connects to that.
 * Sockets, TLS, HTTP, fetch and WebSocket therefore keep Node's own behaviour.
 */
export class ProxiedConnections {
  readonly #link: NetworkLink;
  readonly #refuse: Refuse;
  /** Prepared connections, by the placeholder path that Node connects to. */
  readonly #prepared = new Map<string, Connection>();
  readonly #open = new Map<number, Handled>();
  #last = 0;

  constructor(link: NetworkLink, refuse: Refuse) {
    this.#link = link;
    this.#refuse = refuse;
    this.#replaceConnect();
    this.#replaceTls();
    this.#replaceReset();
  }

  /** Marks a connection as broken by the remote end: its next end of stream becomes this error. */
  lost(number: number, failure: NetworkFailure): void {
    const socket = this.#open.get(number);
    if (!socket) return;
    const push = Reflect.get(socket, "push") as (...parts: unknown[]) => boolean;
    socket.push = (chunk: unknown, encoding?: BufferEncoding) => {
      if (chunk !== null) return push.call(socket, chunk, encoding);
      socket.destroy(errorOf(failure));
      return false;
    };
  }

  #replaceConnect(): void {
    // oxlint-disable-next-line typescript/no-this-alias -- each socket has a `this` of its own
    const proxied = this;
    const original = Reflect.get(net.Socket.prototype, "connect") as Connect;
    const pipe = pipeOf(original);
    const connectPipe = pipe.connect;
    pipe.connect = function (this: PipeHandle, request, path) {
      const connection = proxied.#prepared.get(path);
      if (!connection) return apply(connectPipe, this, [request, path]) as number;
      proxied.#prepared.delete(path);
      proxied.#follow(this, connection);
      void proxied.#connect(
        this,
        connection,
        (to) => apply(connectPipe, this, [request, to]) as number,
      );
      return 0;
    };
    replace(
      net.Socket.prototype,
      "connect",
      (connect) =>
        function (this: unknown, ...args) {
          const socket = this as Handled;
          const given = args[0];
          const normal = isArray(given) ? (given as [object, unknown]) : normalizeArgs(args);
          const options = normal[0];
          const target = targetIn(options);
          if (!target) return apply(connect, this, [nowhere(options)]); // Node throws the right error
          const transport = transportOf(socket);
          if (transport && !Object.prototype.isPrototypeOf.call(pipe, transport)) {
            return socket.destroy(
              new Error(
                "unsupported socket: the host opens only sockets from net.connect and tls.connect",
              ),
            );
          }
          const number = ++proxied.#last;
          const path = `mantel-connection:${number}`;
          proxied.#prepared.set(path, { number, socket, target, isReset: false });
          return apply(connect, this, [{ path }, normal[1]]);
        },
    );
  }

  /**
   * TLS creates its handle before it connects, so it needs a path to create one of a pipe. `node:tls` is loaded here,
   * because it takes half a megabyte and 6 ms of CPU, which processes without connections save.
   */
  #replaceTls(): void {
    replace(
      process.getBuiltinModule("node:tls"),
      "connect",
      (connect) =>
        function (this: unknown, ...args) {
          const [first, listener] = normalizeArgs(args);
          const more = args.slice(1, 3).find((each) => typeof each === "object" && each !== null);
          const options = { ...first, ...more } as tls.ConnectionOptions;
          if (options.socket || options.path) return connect.apply(this, args);
          return connect.call(this, { ...options, path: OF_TLS }, listener);
        },
    );
  }

  #replaceReset(): void {
    replace(
      net.Socket.prototype,
      "resetAndDestroy",
      (reset) =>
        function (this: unknown, ...args) {
          const socket = this as Handled;
          const connection = handles.get(transportOf(socket) ?? {});
          if (!connection) return reset.apply(this, args);
          connection.isReset = true;
          return socket.destroy();
        },
    );
  }

  /** Notifies the host when this end is closed, also while the connection is being opened. */
  #follow(handle: PipeHandle, connection: Connection): void {
    handles.set(handle, connection);
    const { close } = handle;
    const { number } = connection;
    handle.close = (done) => {
      this.#open.delete(number);
      this.#link.notify("closeConnection", { connection: number, reset: connection.isReset });
      handle.close = close;
      close.call(handle, done);
    };
  }

  async #connect(
    handle: PipeHandle,
    { number, socket, target }: Connection,
    connect: (path: string) => number,
  ): Promise<void> {
    const fail = (error: unknown): void => {
      if (transportOf(socket) === handle) socket.destroy(error as Error);
    };
    try {
      const answer = await this.#ask(number, target);
      if (transportOf(socket) !== handle) return; // it was closed meanwhile
      if ("refusal" in answer) return fail(this.#refuse(answer.refusal));
      if ("failure" in answer) return fail(errorOf(answer.failure));
      const { path, ends } = answer.opened;
      if (ends) {
        handle.getpeername = (into) => (Object.assign(into, ends.remote), 0);
        handle.getsockname = (into) => (Object.assign(into, ends.local), 0);
        if ("host" in target && isIP(target.host) === 0) {
          const { address, family } = ends.remote;
          socket.emit("lookup", null, address, family === "IPv6" ? 6 : 4, target.host);
        }
      }
      this.#open.set(number, socket);
      const status = connect(path);
      if (status !== 0) fail(new Error(`the host's socket ${path} cannot be reached (${status})`));
    } catch (error) {
      fail(error);
    }
  }

  async #ask(connection: number, target: Target): Promise<ConnectionAnswer> {
    if ("path" in target) {
      return this.#link.call("openConnection", { connection, path: target.path }, OPEN_MS);
    }
    const { lookup, ...asked } = target;
    const hosts = lookup ? await addressesBy(lookup, target) : [asked.host];
    let answer: ConnectionAnswer | undefined;
    for (const host of hosts) {
      answer = await this.#link.call("openConnection", { ...asked, connection, host }, OPEN_MS);
      if ("opened" in answer) return answer;
    }
    if (answer) return answer;
    throw new Error(`the option "lookup" of connect returned no address for ${target.host}`);
  }
}

/** Converts a failure from the host to the error that Node would create. */
export function errorOf({ message, errors, ...rest }: NetworkFailure): Error {
  const error = errors ? new AggregateError(errors.map(errorOf), message) : new Error(message);
  return Object.assign(error, rest);
}

/** Resolves a host with the plugin's own `lookup` option, which may return addresses that it has checked. */
function addressesBy(lookup: Lookup, { host, family }: { host: string; family: number }) {
  return new Promise<string[]>((found, fail) => {
    lookup(host, { family, all: true }, (error, answer: string | Address[] | readonly object[]) => {
      if (error) return fail(error);
      const all = typeof answer === "string" ? [answer] : (answer as Address[]);
      found(all.map((each) => (typeof each === "string" ? each : each.address)));
    });
  });
}

/** The target in the options of `connect`; `undefined` for options that Node rejects. */
function targetIn(
  options: Partial<net.IpcNetConnectOpts & net.TcpNetConnectOpts>,
): Target | undefined {
  const { path } = options;
  if (path && path !== OF_TLS)
    return typeof path === "string" ? { path: resolve(path) } : undefined;
  if (path) Reflect.deleteProperty(options, "path");
  const host = options.host || "localhost";
  const port = portIn(options.port);
  if (typeof host !== "string" || port === undefined) return undefined;
  const { family, localAddress, lookup } = options;
  return {
    host,
    port,
    family: familyIn(family),
    ...(typeof localAddress === "string" ? { localAddress } : {}),
    ...(typeof lookup === "function" && isOwnLookup(lookup, host) ? { lookup } : {}),
  };
}

function familyIn(family: unknown): 0 | 4 | 6 {
  return family === 4 || family === 6 ? family : 0;
}

/** Options with the same faults, for Node to reject. If Node accepts them, the look-up fails. */
function nowhere(options: Partial<net.IpcNetConnectOpts & net.TcpNetConnectOpts>): object {
  const { path } = options;
  const lookup = (_name: string, _options: unknown, answer: (error: Error) => void): void =>
    void inNextTurn(answer, new Error("invalid host or port"));
  return create(options, {
    path: { value: typeof path === "string" ? undefined : path },
    host: { value: "nowhere" },
    lookup: { value: lookup },
  }) as object;
}

/** Ports may be given as text. */
function portIn(port: unknown): number | undefined {
  const number = typeof port === "string" && port.trim() !== "" ? Number(port) : port;
  const isPort = Number.isInteger(number) && Number(number) >= 0 && Number(number) <= 65_535;
  return isPort ? Number(number) : undefined;
}

/** False for Node's own look-up, which asks the host; opening a connection does that anyway. */
function isOwnLookup(lookup: Lookup, host: string): boolean {
  return isIP(host) === 0 && Reflect.get(lookup, OF_HOST) !== true;
}

/** Marks look-ups that ask the host; opening a connection does that anyway. */
export const OF_HOST = Symbol("of the host");

/** The connected handle. Under TLS it is the wrapped one. */
function transportOf({ _handle: handle }: Handled): PipeHandle | undefined {
  if (!handle) return undefined;
  const { _parent: wrapped = handle } = handle;
  return wrapped;
}

/** Finds the class of these handles through a socket, because Node does not export it. */
function pipeOf(connect: Connect): PipeHandle {
  const socket = new net.Socket() as Handled;
  socket.on("error", () => undefined); // the connection attempt fails, because no server listens
  connect.call(socket, { path: "/" });
  const pipe = Object.getPrototypeOf(transportOf(socket)) as PipeHandle;
  socket.destroy();
  return pipe;
}
