import { Type, type Static } from "typebox";
import { Strict } from "./schema.ts";

const HOST = [
  "\\*", // everything
  "config:[A-Za-z]\\w*", // the hosts that people write into one option
  "network:local", // the addresses of the home's own network
  "service:[a-z]+(\\.[a-z]+)+", // the hosts that a service answers with
  "(\\*\\.)?[a-z0-9_]([a-z0-9_.-]*[a-z0-9_])?", // a name, an IPv4 address, the names below a name
  "[0-9a-f:.]*:[0-9a-f:.]*", // an IPv6 address
  "/[^*]+", // the socket of another program
].join("|");

/** Folders below the data folder that are the host's own, and that no plugin can ask for. */
export const HOST_FOLDERS: readonly string[] = ["cache", "layout-history", "plugins"];

/** What a plugin's process may reach; what is absent it may not. Services are under `uses`. */
export const Permissions = Type.Object(
  {
    /**
     * Hosts it connects to and looks up, in lower case and without a port. `*.example.org` covers the
     * names below, `config:url` the hosts in the plugin's option `url`, `service:mqtt.broker` those in
     * what that service answers, `network:local` every private address, for what moves from one to another
     * in a home, `127.0.0.1` this machine under each of its names, and `*` everything. A path is a socket of
     * this machine.
     */
    hosts: Type.Optional(
      Type.Array(Type.String({ pattern: `^(${HOST})$`, maxLength: 253 }), { uniqueItems: true }),
    ),
    /** True for a plugin that waits for connections or datagrams on a port of its own. */
    listen: Type.Optional(Type.Boolean()),
    /**
     * A name is a folder below the data folder, to read and write; `ctx.folder` gives its path. A path
     * is a folder or file of this machine, to read. Its own folder and its storage it always has.
     */
    folders: Type.Optional(
      Type.Array(Type.String({ pattern: "^([a-z][a-z0-9-]{0,60}|/[^*]+)$", maxLength: 1_000 }), {
        uniqueItems: true,
      }),
    ),
    /** Programs run with all the rights of the user who runs Mantel. */
    childProcesses: Type.Optional(Type.Boolean()),
    /** A thread started with `execArgv` of its own may have all the rights of the user who runs Mantel. */
    workerThreads: Type.Optional(Type.Boolean()),
    /** Compiled code has all the rights of the user who runs Mantel. */
    nativeAddons: Type.Optional(Type.Boolean()),
  },
  Strict,
);
export type Permissions = Static<typeof Permissions>;
