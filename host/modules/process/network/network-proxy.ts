import { isIP } from "node:net";
import { isAbsolute } from "node:path";
import { MantelError } from "@mantel/plugin-sdk/errors";
import { Hosts } from "@mantel/plugin-sdk/hosts";
import {
  type Address,
  type ConnectionAnswer,
  type ConnectionRequest,
  type LookUpAnswer,
  type LookUpRequest,
  type NetworkApi,
  type NetworkFailure,
  type NetworkRefusal,
  RECORD_TYPES,
} from "@mantel/plugin-sdk/protocol";
import type { Handlers } from "@mantel/plugin-sdk/rpc";
import { Type } from "typebox";
import { check } from "../../../validate.ts";
import { Connection, type Target } from "./connection.ts";
import { connectFailure } from "./failure.ts";
import { mayResolveTo } from "./may-resolve-to.ts";
import { RelaySockets, type WaitingSocket } from "./relay-sockets.ts";
import { Resolver } from "./resolver.ts";
import { ThroughputLimit } from "./throughput-limit.ts";

const MOST_CONNECTIONS = 256;
const MOST_OPENING = 64;
const BYTES_PER_SECOND = 100 * 2 ** 20;

const Name = Type.String({ minLength: 1, maxLength: 253 });
const Family = Type.Enum([0, 4, 6]);
const Connecting = Type.Union([
  Type.Object({
    connection: Type.Integer(),
    host: Name,
    port: Type.Integer({ minimum: 0, maximum: 65_535 }),
    family: Family,
    localAddress: Type.Optional(Name),
  }),
  Type.Object({
    connection: Type.Integer(),
    path: Type.String({ minLength: 1, maxLength: 4_096 }),
  }),
]);
const LookingUp = Type.Union([
  Type.Object({ host: Name, family: Family }),
  Type.Object({ host: Name, type: Type.Enum([...RECORD_TYPES]), ttl: Type.Boolean() }),
]);
const Closing = Type.Object({ connection: Type.Integer(), reset: Type.Boolean() });

type OnConnectionLost = (connection: number, failure: NetworkFailure) => Promise<void>;

/**
 * The network of one process: resolves names and connects as its manifest allows, and relays the data. The
 * process reaches each connection through a socket in `folder`, so it needs no network itself.
 */
export class NetworkProxy {
  readonly hosts: Hosts;
  readonly api: Handlers<NetworkApi>;
  readonly #relaySockets = new RelaySockets();
  readonly #resolver = new Resolver();
  readonly #throughput = new ThroughputLimit(BYTES_PER_SECOND);
  /** Connections by the numbers that the process assigned; `undefined` while the name is being resolved. */
  readonly #connections = new Map<number, Connection | undefined>();
  #lost: OnConnectionLost = async () => undefined;
  #reached: (host: string) => void = () => undefined;
  #opening = 0;

  constructor(declared: readonly string[]) {
    this.hosts = new Hosts(declared);
    this.api = {
      lookUp: (request) => this.#lookUp(check(LookingUp, request, "a look-up") as LookUpRequest),
      openConnection: (request) =>
        this.#open(check(Connecting, request, "a connection") as ConnectionRequest),
      closeConnection: (request) => {
        const { connection, reset } = check(Closing, request, "the end of a connection");
        this.#connections.get(connection)?.close(reset);
        if (this.#connections.get(connection) === undefined) this.#connections.delete(connection);
      },
    };
  }

  get folder(): string {
    return this.#relaySockets.folder;
  }

  /** Sets `lost`, which tells the process that the remote end broke a connection. */
  onLost(onConnectionLost: OnConnectionLost): void {
    this.#lost = onConnectionLost;
  }

  /** Sets `reached`, which gets each host or socket that the process may connect to and asks for. */
  onReached(reached: (host: string) => void): void {
    this.#reached = reached;
  }

  /** Allows the hosts in the answer of a service, if the manifest names that service. */
  learnFrom({ name }: { readonly name: string }, answer: unknown): void {
    if (this.hosts.declares(`service:${name}`)) this.hosts.learnFromService(name, answer);
  }

  /** Closes all connections, because the process has ended. */
  close(): void {
    for (const connection of [...this.#connections.values()]) connection?.destroy();
    this.#connections.clear();
    this.#relaySockets.close();
    this.#throughput.close();
  }

  async #lookUp(request: LookUpRequest): Promise<LookUpAnswer> {
    const { host } = request;
    if (!this.hosts.allows(host)) return { refusal: { reached: host, toDeclare: host } };
    this.#reached(host);
    if ("family" in request) {
      const found = await this.#addressesOf(host, request.family);
      return Array.isArray(found) ? { found } : found;
    }
    const records = await this.#resolver.records(host, request.type, request.ttl);
    if (!Array.isArray(records)) return { failure: records };
    const addresses = records.map(addressIn);
    const refusal = this.#refusalOf(host, addresses);
    if (refusal) return { refusal };
    const found = records.filter((_, at) => this.#mayResolve(host, addresses[at]));
    for (const each of found) this.hosts.allowAddress(addressIn(each) ?? "");
    return { found };
  }

  async #open(request: ConnectionRequest): Promise<ConnectionAnswer> {
    const { connection } = request;
    const where =
      "path" in request ? { address: request.path } : { address: request.host, port: request.port };
    const full = this.#full();
    if (full !== undefined) return { failure: connectFailure("EMFILE", where, full) };
    if (this.#connections.has(connection)) {
      throw new MantelError("invalid", `there is already a connection ${connection}`);
    }
    this.#connections.set(connection, undefined);
    this.#opening++;
    try {
      const target = await this.#targetOf(request);
      if ("refusal" in target || "failure" in target) return target;
      const isGivenUp = !this.#connections.has(connection);
      if (isGivenUp) return { failure: connectFailure("ECONNABORTED", where, "it was cancelled") };
      return await this.#connect(connection, target);
    } finally {
      this.#opening--;
      if (this.#connections.get(connection) === undefined) this.#connections.delete(connection);
    }
  }

  #full(): string | undefined {
    if (this.#opening >= MOST_OPENING) return `${MOST_OPENING} connections are being opened`;
    if (this.#connections.size < MOST_CONNECTIONS) return undefined;
    return `${MOST_CONNECTIONS} connections are open`;
  }

  async #targetOf(
    request: ConnectionRequest,
  ): Promise<Target | { refusal: NetworkRefusal } | { failure: NetworkFailure }> {
    if ("path" in request) {
      const { path } = request;
      if (!isAbsolute(path))
        throw new MantelError("invalid", "the path of a socket must be absolute");
      if (!this.hosts.allows(path)) return { refusal: { reached: path, toDeclare: path } };
      this.#reached(path);
      return { path };
    }
    const { host, port, family, localAddress } = request;
    if (!this.hosts.allows(host)) return { refusal: { reached: host, toDeclare: host } };
    this.#reached(host);
    const addresses = await this.#addressesOf(host, family);
    if (!Array.isArray(addresses)) return addresses;
    return { host, port, addresses, ...(localAddress === undefined ? {} : { localAddress }) };
  }

  /** The addresses a name may resolve to; the process may connect to them from now on. */
  async #addressesOf(
    host: string,
    family: 0 | 4 | 6,
  ): Promise<Address[] | { refusal: NetworkRefusal } | { failure: NetworkFailure }> {
    const literal = isIP(host);
    if (literal > 0) return [{ address: host, family: literal as 4 | 6 }];
    const looked = await this.#resolver.lookUp(host, family);
    if (!Array.isArray(looked)) return { failure: looked };
    const refusal = this.#refusalOf(
      host,
      looked.map(({ address }) => address),
    );
    if (refusal) return { refusal };
    const found = looked.filter(({ address }) => mayResolveTo(host, address, this.hosts));
    for (const { address } of found) this.hosts.allowAddress(address);
    return found;
  }

  /** The refusal for a name that resolves to no allowed address. */
  #refusalOf(host: string, addresses: readonly (string | undefined)[]): NetworkRefusal | undefined {
    const [first] = addresses;
    if (first === undefined || addresses.some((each) => this.#mayResolve(host, each)))
      return undefined;
    return { reached: `${first}, to which the name ${host} resolves`, toDeclare: first };
  }

  #mayResolve(host: string, address: string | undefined): boolean {
    return address === undefined || mayResolveTo(host, address, this.hosts);
  }

  async #connect(number: number, target: Target): Promise<ConnectionAnswer> {
    let waiting: WaitingSocket | undefined;
    const forget = (): void => {
      waiting?.discard();
      if (this.#connections.get(number) === connection) this.#connections.delete(number);
    };
    const connection = new Connection(target, {
      throughput: this.#throughput,
      lost: (failure) => this.#lost(number, failure).catch(() => undefined),
      closed: forget,
    });
    this.#connections.set(number, connection);
    const failure = await connection.opened(target);
    if (failure) {
      forget();
      return { failure };
    }
    const { ends } = connection;
    waiting = this.#relaySockets.open({
      connected: (near) => connection.attach(near),
      expired: () => connection.destroy(),
    });
    return { opened: { path: waiting.path, ...(ends ? { ends } : {}) } };
  }
}

/** The address in a record of type A or AAAA, with or without its time to live. */
function addressIn(record: unknown): string | undefined {
  const address = (record as { address?: unknown } | null)?.address ?? record;
  return typeof address === "string" && isIP(address) > 0 ? address : undefined;
}
