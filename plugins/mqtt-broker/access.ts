import type { Socket } from "node:net";
import type { Aedes, Client, PublishPacket } from "aedes";
import { type Account, type Accounts, mayRead, mayWrite, type Refusal } from "./accounts.ts";
import type { Connections } from "./connections.ts";
import type { RejectedRequestLog } from "./rejected-request-log.ts";
import type { Sessions } from "./sessions.ts";

/** Codes of a CONNACK (MQTT 3.1.1, 3.2.2.3). */
const CODES = { taken: 2, unavailable: 3, wrong: 4, anonymous: 5 } as const;
const SENTENCES: Readonly<Record<keyof typeof CODES, string>> = {
  taken: "a client was refused: its id belongs to another user",
  unavailable: "a client was refused: too many are connected or waiting",
  wrong: "a client was refused: wrong user name or password",
  anonymous: "a client without a user name was refused; add it to mqtt-broker.users",
};

interface Dependencies {
  readonly accounts: Accounts;
  readonly connections: Connections;
  readonly sessions: Sessions;
  readonly rejected: RejectedRequestLog;
}

/** Authenticates clients of a broker, and authorizes their topics. */
export class Access {
  readonly #parts: Dependencies;
  readonly #accounts = new WeakMap<Client, Account>();
  readonly #denied = new WeakSet<object>();

  constructor(parts: Dependencies) {
    this.#parts = parts;
  }

  /** Installs the checks in a broker. */
  guard(broker: Aedes): void {
    const { connections, rejected } = this.#parts;
    broker.authenticate = (client, name, password, done) => {
      this.#authenticate(client, name, password?.toString() ?? "").then(
        (refusal) => {
          if (refusal === undefined) return done(null, true);
          rejected.count(SENTENCES[refusal], { user: name, id: client.id });
          done(Object.assign(new Error(SENTENCES[refusal]), { returnCode: CODES[refusal] }), false);
        },
        (error: Error) => done(Object.assign(error, { returnCode: CODES.unavailable }), false),
      );
    };
    broker.authorizePublish = (client, packet, done) => {
      this.#mark(client, packet);
      done(null);
    };
    broker.authorizeSubscribe = (client, subscription, done) => {
      done(null, this.#maySubscribe(client, subscription.topic) ? subscription : null);
    };
    broker.authorizeForward = (client, packet) => {
      connections.boundBacklog(client.conn as Socket);
      const account = this.#accounts.get(client);
      return account && mayRead(account, packet.topic) ? packet : null;
    };
    this.#dropDenied(broker);
  }

  async #authenticate(client: Client, name: string | undefined, password: string) {
    const account: Account | Refusal = await this.#parts.accounts.find(name, password);
    if (typeof account === "string") return account;
    if (!this.#parts.connections.admit(client.conn as Socket, account)) return "unavailable";
    if (!this.#parts.sessions.claim(client, account)) return "taken";
    this.#accounts.set(client, account);
    return undefined;
  }

  #maySubscribe(client: Client, filter: string): boolean {
    const { sessions, rejected } = this.#parts;
    const account = this.#accounts.get(client);
    if (!account) return false;
    const { name: user } = account;
    if (!mayRead(account, filter)) {
      const sentence = "a subscription was refused; mqtt-broker.users says what a user reads";
      rejected.count(sentence, { user, filter });
      return false;
    }
    if (sessions.grant(client, { topic: filter }, account)) return true;
    rejected.count("a subscription was refused: the client has too many", { user });
    return false;
  }

  #mark(client: Client | null, packet: PublishPacket): void {
    const account = client ? this.#accounts.get(client) : undefined;
    packet.payload = ownCopy(packet.payload);
    if (account && mayWrite(account, packet.topic)) return;
    this.#denied.add(packet);
    const { name: user } = account ?? {};
    const sentence = "a publish was dropped; mqtt-broker.users says what a user writes";
    this.#parts.rejected.count(sentence, { user, topic: packet.topic });
  }

  /**
   * A denied publish is acknowledged and dropped, which is one of the two answers that MQTT 3.1.1
   * permits (3.3.5). The other is to close the connection, but then clients send it again
   * endlessly.
   */
  #dropDenied(broker: Aedes): void {
    const publish = broker.publish.bind(broker) as (...all: unknown[]) => void;
    broker.publish = (packet: PublishPacket, ...rest: unknown[]) => {
      const done = rest.at(-1);
      if (!this.#denied.has(packet)) publish(packet, ...rest);
      else if (typeof done === "function") done();
    };
  }
}

/** A copy, because a payload is a view of a larger buffer and would keep all of it in memory. */
function ownCopy(payload: string | Buffer): string | Buffer {
  if (typeof payload === "string" || payload.buffer.byteLength <= 2 * payload.length)
    return payload;
  const copy = Buffer.alloc(payload.length);
  payload.copy(copy);
  return copy;
}
