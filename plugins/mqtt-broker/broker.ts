import type { EventEmitter } from "node:events";
import type { Socket } from "node:net";
import type { Log } from "@mantel/plugin-sdk";
import { Aedes } from "aedes";
import { writeToStream } from "mqtt-packet";
import { Access } from "./access.ts";
import type { Accounts } from "./accounts.ts";
import { type CONNECTION_LIMITS, Connections } from "./connections.ts";
import { RejectedRequestLog } from "./rejected-request-log.ts";
import { type RETAINED_LIMITS, RetainedMessages } from "./retained.ts";
import { type SESSION_LIMITS, Sessions } from "./sessions.ts";

/** A connection without a CONNECT within this time is closed. */
const CONNECT_WITHIN_MS = 10_000;
/** Maximum time for which a client may leave data unread. */
const READ_WITHIN_MS = 10_000;

interface Dependencies {
  readonly accounts: Accounts;
  readonly log: Log;
  readonly limits?: {
    readonly connections?: Partial<typeof CONNECTION_LIMITS>;
    readonly sessions?: Partial<typeof SESSION_LIMITS>;
    readonly retained?: Partial<typeof RETAINED_LIMITS>;
  };
}

writeToStream.cacheNumbers = false; // 65,536 buffers, which take 6 MiB

/** Creates a broker for the users of `accounts`; `accept` passes a connection to it. */
export async function openBroker({ accounts, log, limits = {} }: Dependencies) {
  const broker = await Aedes.createBroker({
    connectTimeout: CONNECT_WITHIN_MS,
    drainTimeout: READ_WITHIN_MS,
  });
  // Its types omit this event, and without a listener an error would end the process.
  (broker as EventEmitter).on("error", (error) => log.error("the broker failed", { error }));
  broker.on("clientError", ({ id }, error) => log.debug("a client failed", { id, error }));
  broker.on("connectionError", (_, error) => log.debug("a connection failed", { error }));

  const rejected = new RejectedRequestLog(log);
  const connections = new Connections(rejected, limits.connections);
  const retained = new RetainedMessages(broker, rejected, limits.retained);
  const sessions = new Sessions(broker, rejected, limits.sessions);
  new Access({ accounts, connections, sessions, rejected }).guard(broker);
  return {
    broker,
    retained,
    sessions,
    accept: (socket: Socket) => {
      connections.accept(socket);
      broker.handle(socket);
    },
    close: () => new Promise<void>((resolve) => broker.close(resolve)),
  };
}
