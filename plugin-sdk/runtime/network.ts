import dgram from "node:dgram";
import dns from "node:dns";
import { syncBuiltinESMExports } from "node:module";
import net, { isIP } from "node:net";
import type { Denials } from "./denials.ts";
import type { Hosts } from "./hosts.ts";

type Method = (...args: unknown[]) => unknown;
type Callback = (error: unknown, ...results: unknown[]) => void;

const LOOKS_UP = /^(lookup|resolve|reverse)/;

/**
 * Checks each host before it is looked up, connected to or sent to, and each port before it is listened
 * on. TLS, HTTP, HTTP/2, fetch and WebSocket all pass through the sockets of `node:net`.
 */
export function guardNetwork(hosts: Hosts, mayListen: boolean, denials: Denials): void {
  guardConnections(hosts, denials);
  guardDatagrams(hosts, mayListen, denials);
  if (!mayListen) guardServers(denials);
  const resolvers = [dns.Resolver.prototype, dns.promises.Resolver.prototype];
  for (const owner of [dns, dns.promises, ...resolvers]) guardLookups(owner, hosts, denials);
  syncBuiltinESMExports();
}

/** A refused connection fails as one whose name cannot be looked up: late, by the event `error`. */
function guardConnections(hosts: Hosts, denials: Denials): void {
  replace(
    net.Socket.prototype,
    "connect",
    (connect) =>
      function (this: unknown, ...args) {
        const host = targetOf(args);
        if (hosts.allows(host)) return connect.apply(this, args);
        const error = denials.host(host, hosts.toDeclare(host));
        const lookup = (_name: string, _options: unknown, answer: Callback): void =>
          void setImmediate(answer, error);
        return connect.apply(this, [{ host: "refused", port: 1, lookup }]);
      },
  );
}

/** The host, or the path, of what `connect` was called with: it takes them in four ways. */
function targetOf([first, second]: readonly unknown[]): string {
  if (Array.isArray(first)) return targetOf(first); // how net.connect passes on what it was given
  if (typeof first === "object" && first !== null) {
    const { host, path } = first as Partial<net.TcpNetConnectOpts & net.IpcNetConnectOpts>;
    return path || host || "localhost";
  }
  if (isPath(first)) return first;
  return typeof second === "string" ? second : "localhost";
}

/** Ports may come as texts too. */
function isPath(target: unknown): target is string {
  return typeof target === "string" && !/^\d+$/.test(target);
}

function guardServers(denials: Denials): void {
  replace(
    net.Server.prototype,
    "listen",
    () =>
      function (on) {
        const options = typeof on === "object" && on !== null ? (on as net.ListenOptions) : {};
        const { port, path } = isPath(on) ? { path: on } : { port: on, ...options };
        throw denials.listening(path ?? `port ${Number(port ?? 0)}`);
      },
  );
}

function guardDatagrams(hosts: Hosts, mayListen: boolean, denials: Denials): void {
  const socket = dgram.Socket.prototype;
  const check = (host: unknown): void => {
    const name = typeof host === "string" ? host : "localhost";
    if (!hosts.allows(name)) throw denials.host(name, hosts.toDeclare(name));
  };
  replace(
    socket,
    "connect",
    (connect) =>
      function (this: unknown, ...args) {
        check(args[1]);
        return connect.apply(this, args);
      },
  );
  replace(
    socket,
    "send",
    (send) =>
      function (this: unknown, ...args) {
        const [, , length, port, address] = args;
        const isSlice = Boolean(address) || (Boolean(port) && typeof port !== "function");
        if (!isConnected(this as dgram.Socket)) check(isSlice ? address : length);
        return send.apply(this, args);
      },
  );
  // Port 0 is any port, which a socket takes by itself when it only sends.
  replace(
    socket,
    "bind",
    (bind) =>
      function (this: unknown, ...args) {
        const [on] = args;
        const port = typeof on === "object" && on !== null ? (on as dgram.BindOptions).port : on;
        if (!mayListen && typeof port === "number" && port !== 0)
          throw denials.listening(`UDP port ${port}`);
        return bind.apply(this, args);
      },
  );
}

function isConnected(socket: dgram.Socket): boolean {
  try {
    return socket.remoteAddress().port > 0;
  } catch {
    return false; // ERR_SOCKET_DGRAM_NOT_CONNECTED
  }
}

/** Refuses names, and remembers the addresses of those that are not refused. */
function guardLookups(owner: object, hosts: Hosts, denials: Denials): void {
  const names = Object.getOwnPropertyNames(owner).filter((name) => LOOKS_UP.test(name));
  for (const name of names) {
    replace(
      owner as Record<string, unknown>,
      name,
      (lookUp) =>
        function (this: unknown, ...args) {
          const [host] = args;
          const answer = args.at(-1);
          if (typeof host !== "string" || isIP(host) > 0 || host === "localhost") {
            return lookUp.apply(this, args); // it asks nobody: a server does this with its own address
          }
          const error = hosts.allows(host) ? undefined : denials.host(host, hosts.toDeclare(host));
          if (typeof answer !== "function") {
            return error ? Promise.reject(error) : found(hosts, lookUp.apply(this, args));
          }
          if (error) return void setImmediate(answer as Callback, error);
          const andRemember: Callback = (failure, ...results) => {
            remember(hosts, results);
            (answer as Callback)(failure, ...results);
          };
          return lookUp.apply(this, [...args.slice(0, -1), andRemember]);
        },
    );
  }
}

async function found(hosts: Hosts, answer: unknown): Promise<unknown> {
  const results = await answer;
  remember(hosts, results);
  return results;
}

/** Addresses come as texts, as objects, and as lists of both. */
function remember(hosts: Hosts, results: unknown): void {
  for (const each of [results].flat(3)) {
    const address = (each as { address?: unknown } | null)?.address ?? each;
    if (typeof address === "string") hosts.found(address);
  }
}

/** Puts a guarded method in the place of one of Node's, with all that the original carries. */
function replace<N extends string>(
  owner: { [K in N]: unknown },
  name: N,
  by: (original: Method) => Method,
): void {
  const original = owner[name] as Method;
  const guarded = by(original);
  Object.defineProperties(guarded, Object.getOwnPropertyDescriptors(original));
  Object.defineProperty(owner, name, { value: guarded });
}
