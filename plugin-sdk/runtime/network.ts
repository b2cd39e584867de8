import dgram from "node:dgram";
import dns from "node:dns";
import { syncBuiltinESMExports } from "node:module";
import net from "node:net";
import type { Hosts } from "../hosts.ts";
import type { Network, NetworkFailure } from "../protocol.ts";
import type { PermissionErrors } from "./permission-errors.ts";
import {
  apply,
  create,
  inNextTurn,
  isArray,
  isIP,
  keys,
  matches,
  toNumber,
  toText,
} from "./primordials.ts";
import { type NetworkLink, ProxiedConnections } from "./proxied-connections.ts";
import { proxyLookups } from "./proxied-lookups.ts";
import { replace } from "./replace.ts";

type Callback = (error: unknown, ...results: unknown[]) => void;

const DIGITS = /^\d+$/;
const LOOKS_UP = /^(lookup|resolve|reverse)/;

/** The input of a network guard. */
interface NetworkDependencies {
  readonly network: Network;
  readonly hosts: Hosts;
  readonly mayListen: boolean;
  readonly permissionErrors: PermissionErrors;
  readonly link: NetworkLink;
}

/** Reports that the remote end broke a connection that the host had opened. */
export type ConnectionLost = (connection: number, failure: NetworkFailure) => void;

/** Closes the network, routes it through the host, or checks each use. */
export function guardNetwork(parts: NetworkDependencies): ConnectionLost {
  const { network, mayListen, permissionErrors } = parts;
  if (!mayListen) guardServers(permissionErrors);
  if (network !== "open") closeDatagrams(parts);
  const lost = network === "proxied" ? proxy(parts) : checkHosts(parts);
  syncBuiltinESMExports();
  return lost;
}

/** Guards `node:net`, because TLS, HTTP, HTTP/2, fetch and WebSocket all use its sockets. */
function proxy({ hosts, permissionErrors, link }: NetworkDependencies): ConnectionLost {
  const refuse = ({ reached, toDeclare }: { reached: string; toDeclare: string }): Error =>
    permissionErrors.host(reached, hosts.manifestEntryFor(toDeclare));
  const connections = new ProxiedConnections(link, refuse);
  proxyLookups({ link, refuse, unsupported: (what) => permissionErrors.openNetwork(what) });
  return (connection, failure) => connections.lost(connection, failure);
}

/** Checks each host before a look-up, connection or datagram, and each port before it is bound. */
function checkHosts({
  network,
  hosts,
  mayListen,
  permissionErrors,
}: NetworkDependencies): ConnectionLost {
  guardConnections(hosts, permissionErrors);
  if (network === "open") guardDatagrams(hosts, mayListen, permissionErrors);
  const resolvers = [dns.Resolver.prototype, dns.promises.Resolver.prototype];
  for (const owner of [dns, dns.promises, ...resolvers])
    guardLookups(owner, hosts, permissionErrors);
  return () => undefined;
}

/** A refused connection fails like an unknown host name: asynchronously, with the event `error`. */
function guardConnections(hosts: Hosts, permissionErrors: PermissionErrors): void {
  replace(
    net.Socket.prototype,
    "connect",
    (connect) =>
      function (this: unknown, ...args) {
        const { host, checked } = targetOf(args);
        if (hosts.allows(host)) return apply(connect, this, checked);
        const error = permissionErrors.host(host, hosts.manifestEntryFor(host));
        const lookup = (_name: string, _options: unknown, answer: Callback): void =>
          void inNextTurn(answer, error);
        return apply(connect, this, [{ host: "refused", port: 1, lookup }]);
      },
  );
}

/**
 * The host or path in the arguments of `connect`, which accepts four forms. Getters may return other values at a
 * second read, so `checked` contains the values that were read.
 */
function targetOf(args: readonly unknown[]): { host: string; checked: readonly unknown[] } {
  const first = args[0];
  if (isArray(first)) return targetOf([first[0], first[1]]); // the form in which net.connect passes its arguments
  if (typeof first === "object" && first !== null) {
    const { host, path } = first as Partial<net.TcpNetConnectOpts & net.IpcNetConnectOpts>;
    const fixed = { host: textOrNone(host), path: textOrNone(path) };
    const options = create(first, {
      host: { value: fixed.host, enumerable: true },
      path: { value: fixed.path, enumerable: true },
    }) as object;
    return { host: fixed.path || fixed.host || "localhost", checked: [options, args[1]] };
  }
  if (isPath(first)) return { host: first, checked: args };
  return { host: typeof args[1] === "string" ? args[1] : "localhost", checked: args };
}

/** Converts a value to text once, because an object may convert differently each time. */
function textOrNone(value: unknown): string | undefined {
  return value === undefined || value === null ? undefined : toText(value);
}

/** Ports may be given as text. */
function isPath(target: unknown): target is string {
  return typeof target === "string" && !matches(DIGITS, target);
}

function guardServers(permissionErrors: PermissionErrors): void {
  replace(
    net.Server.prototype,
    "listen",
    () =>
      function (on) {
        const options = typeof on === "object" && on !== null ? (on as net.ListenOptions) : {};
        const { port, path } = isPath(on) ? { path: on } : { port: on, ...options };
        throw permissionErrors.listening(path ?? `port ${toNumber(port ?? 0)}`);
      },
  );
}

function guardDatagrams(
  hosts: Hosts,
  mayListen: boolean,
  permissionErrors: PermissionErrors,
): void {
  const socket = dgram.Socket.prototype;
  const denialOf = (host: unknown): Error | undefined => {
    const name = typeof host === "string" ? host : "localhost";
    return hosts.allows(name)
      ? undefined
      : permissionErrors.host(name, hosts.manifestEntryFor(name));
  };
  replace(
    socket,
    "connect",
    (connect) =>
      function (this: unknown, ...args) {
        const error = denialOf(args[1]);
        if (error) throw error;
        return apply(connect, this, args);
      },
  );
  replace(
    socket,
    "send",
    (send) =>
      function (this: unknown, ...args) {
        const error = isConnected(this as dgram.Socket) ? undefined : denialOf(receiverIn(args));
        return error ? failSending(args, error) : apply(send, this, args);
      },
  );
  // Port 0 is any free port. A socket that only sends binds to it implicitly.
  replace(
    socket,
    "bind",
    (bind) =>
      function (this: unknown, ...args) {
        const on = args[0];
        const port = typeof on === "object" && on !== null ? (on as dgram.BindOptions).port : on;
        if (!mayListen && typeof port === "number" && port !== 0)
          throw permissionErrors.listening(`UDP port ${port}`);
        return apply(bind, this, args);
      },
  );
}

/** The host in the arguments of `send`, which come with and without a part of the buffer. */
function receiverIn({ 2: length, 3: port, 4: address }: readonly unknown[]): unknown {
  const isSlice = Boolean(address) || (Boolean(port) && typeof port !== "function");
  return isSlice ? address : length;
}

/** Gives the error to the callback of `send`, as Node does for a host that it does not find, or else throws it. */
function failSending(args: readonly unknown[], error: Error): void {
  const answer = args[args.length - 1];
  if (typeof answer !== "function") throw error;
  inNextTurn(answer as Callback, error);
}

/** Denies datagrams, because the host does not relay them. */
function closeDatagrams({ hosts, permissionErrors }: NetworkDependencies): void {
  const socket = dgram.Socket.prototype;
  const denial = (host?: unknown): Error => {
    const isMissing = typeof host === "string" && !hosts.allows(host);
    return permissionErrors.datagrams(isMissing ? hosts.manifestEntryFor(host) : undefined);
  };
  replace(
    socket,
    "send",
    () =>
      (...args) =>
        failSending(args, denial(receiverIn(args))),
  );
  const receivers = { connect: 1, addMembership: 0, addSourceSpecificMembership: 1 } as const;
  for (const name of keys(receivers) as (keyof typeof receivers)[]) {
    replace(socket, name, () => (...args) => {
      throw denial(args[receivers[name]]);
    });
  }
  replace(socket, "bind", () => (on) => {
    const port = typeof on === "object" && on !== null ? (on as dgram.BindOptions).port : on;
    throw typeof port === "number" && port !== 0
      ? permissionErrors.listening(`UDP port ${port}`)
      : denial();
  });
}

function isConnected(socket: dgram.Socket): boolean {
  try {
    return socket.remoteAddress().port > 0;
  } catch {
    return false; // it threw ERR_SOCKET_DGRAM_NOT_CONNECTED
  }
}

/** Denies look-ups of undeclared names and remembers the addresses of declared ones. */
function guardLookups(owner: object, hosts: Hosts, permissionErrors: PermissionErrors): void {
  const names = Object.getOwnPropertyNames(owner).filter((name) => LOOKS_UP.test(name));
  for (const name of names) {
    replace(
      owner as Record<string, unknown>,
      name,
      (lookUp) =>
        function (this: unknown, ...args) {
          const host = args[0];
          const answer = args[args.length - 1];
          if (typeof host !== "string" || isIP(host) > 0 || host === "localhost") {
            return apply(lookUp, this, args); // needs no network; a server does this with its own address
          }
          const error = hosts.allows(host)
            ? undefined
            : permissionErrors.host(host, hosts.manifestEntryFor(host));
          if (typeof answer !== "function") {
            return error ? Promise.reject(error) : found(hosts, apply(lookUp, this, args));
          }
          if (error) return void inNextTurn(answer as Callback, error);
          const andRemember: Callback = (failure, ...results) => {
            remember(hosts, results);
            (answer as Callback)(failure, ...results);
          };
          args[args.length - 1] = andRemember;
          return apply(lookUp, this, args);
        },
    );
  }
}

async function found(hosts: Hosts, answer: unknown): Promise<unknown> {
  const results = await answer;
  remember(hosts, results);
  return results;
}

/** Addresses are texts, objects, or lists of both. */
function remember(hosts: Hosts, results: unknown): void {
  if (isArray(results)) {
    for (let at = 0; at < results.length; at++) remember(hosts, results[at]);
    return;
  }
  const address = (results as { address?: unknown } | null)?.address ?? results;
  if (typeof address === "string") hosts.allowAddress(address);
}
