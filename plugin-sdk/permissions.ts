import { Type, type Static } from "typebox";
import { HomePermissions } from "./home-permissions.ts";
import { Strict } from "./schema.ts";

const HOST = [
  "\\*", // everything
  "config:[A-Za-z]\\w*", // the hosts that a user writes into one option
  "network:local", // the addresses of the home's own network
  "service:[a-z][a-z0-9-]*(\\.[a-z][a-z0-9-]*)+(@[1-9][0-9]{0,3})?", // the hosts that a service answers with
  "(\\*\\.)?[a-z0-9_]([a-z0-9_.-]*[a-z0-9_])?", // a name, an IPv4 address, the names below a name
  "[0-9a-f:.]*:[0-9a-f:.]*", // an IPv6 address
  "/[^*]+", // the socket of another program
].join("|");

export const OPEN_NETWORK = ["setup", "always"] as const;

/** The permissions of a plugin's process. Everything absent is denied. Services are listed under `uses`. */
export const Permissions = Type.Object(
  {
    /**
     * Hosts that it connects to or looks up, in lower case and without a port. Special forms:
     * `*.example.org` allows all subdomains; `config:url` the hosts in the plugin's option `url`;
     * `service:mqtt.broker` the hosts in that service's answers; `network:local` every private address, for
     * devices whose address changes, and `ctx.discover`; with `openNetwork` also local multicast. `127.0.0.1` allows
     * this machine under all its names, `*` every host, a path a Unix socket.
     */
    hosts: Type.Optional(
      Type.Array(Type.String({ pattern: `^(${HOST})$`, maxLength: 253 }), { uniqueItems: true }),
    ),
    /**
     * Direct network access. Normally the host makes a plugin's connections and look-ups (TCP, TLS, HTTP,
     * WebSocket and Unix sockets). Declare this for datagrams (UDP), also to hosts under `hosts` and to local
     * multicast, and for child processes and threads that use the network. `hosts` is then enforced only inside the plugin's own process.
     * `setup` grants it to setups and tests, `always` also to the running module.
     */
    openNetwork: Type.Optional(Type.Enum([...OPEN_NETWORK])),
    /** Permits listening for connections or datagrams on a port. */
    listen: Type.Optional(Type.Boolean()),
    /**
     * Additional folders and files. A name is a folder below the data folder, to read and write; `ctx.folder`
     * returns its path. An absolute path is a folder or file of this machine, to read. The plugin's own folder
     * and its storage need no entry.
     */
    folders: Type.Optional(
      Type.Array(Type.String({ pattern: "^([a-z][a-z0-9-]{0,60}|/[^*]+)$", maxLength: 1_000 }), {
        uniqueItems: true,
      }),
    ),
    /** Permits child processes. They run with all rights of the user who runs Mantel. */
    childProcesses: Type.Optional(Type.Boolean()),
    /**
     * Permits Node's worker threads. Host checks do not apply inside a thread, so it can reach any host. A thread
     * that another thread starts with its own `execArgv` has all rights of the user who runs Mantel. Where the
     * kernel sandboxes plugins, the sandbox includes their threads.
     */
    workerThreads: Type.Optional(Type.Boolean()),
    /** Permits native addons. Compiled code has all rights of the user who runs Mantel. */
    nativeAddons: Type.Optional(Type.Boolean()),
    /**
     * Permits the module `node:sqlite` (Node 22.5 and later). SQLite can open any file that the user who runs
     * Mantel can open, because Node's permission model does not check `ATTACH` statements. Where the kernel
     * sandboxes plugins, only the plugin's own folders are visible to it.
     */
    sqlite: Type.Optional(Type.Boolean()),
    /** The parts of the home that it reads and controls with `ctx.home`. */
    home: Type.Optional(HomePermissions),
  },
  Strict,
);
export type Permissions = Static<typeof Permissions>;
