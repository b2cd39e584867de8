import { connect, type NetConnectOpts, type Socket } from "node:net";
import type { Address, Endpoint, NetworkFailure } from "@mantel/plugin-sdk/protocol";
import { connectFailure, failureOf } from "./failure.ts";
import { relay } from "./relay.ts";
import type { ThroughputLimit } from "./throughput-limit.ts";

/**
 * The connect timeout. Some routers do not answer at all; the system itself would wait for more than two minutes.
 */
const CONNECT_MS = 20_000;
/** Detects remote ends that disappeared without closing. */
const KEEP_ALIVE_AFTER_MS = 60_000;

/** The target of a connection. Its addresses are the checked ones; names are not looked up again. */
export type Target =
  | {
      readonly host: string;
      readonly port: number;
      readonly addresses: readonly Address[];
      readonly localAddress?: string;
    }
  | { readonly path: string };

interface ConnectionDependencies {
  readonly throughput: ThroughputLimit;
  /** Tells the process that the remote end broke the connection; resolves when the process knows. */
  readonly lost: (failure: NetworkFailure) => Promise<void>;
  /** Called when both ends are closed. */
  readonly closed: () => void;
}

/**
 * A connection of a process: the remote end, which the host opened, and the near end, through which the process
 * connects.
 */
export class Connection {
  readonly #far: Socket;
  readonly #parts: ConnectionDependencies;
  readonly #isTcp: boolean;
  #near: Socket | undefined;
  #isGivenUp = false;
  /** The reason why the remote end broke the connection before the process connected. */
  #failure: NetworkFailure | undefined;

  constructor(target: Target, parts: ConnectionDependencies) {
    this.#parts = parts;
    this.#isTcp = !("path" in target);
    this.#far = connect({ ...optionsFor(target), allowHalfOpen: true });
    this.#far.on("close", () => this.#isOver());
  }

  /** Connects to the remote end; resolves with the failure if there is one. */
  opened(target: Target): Promise<NetworkFailure | undefined> {
    const far = this.#far;
    return new Promise((resolve) => {
      const late = setTimeout(() => {
        const where = "path" in target ? { address: target.path } : placeOf(target);
        far.destroy();
        resolve(connectFailure("ETIMEDOUT", where, `no answer in ${CONNECT_MS} ms`));
      }, CONNECT_MS);
      far.once("connect", () => {
        far.off("error", resolveFailure);
        far.on("error", (error) => void this.#lose(failureOf(error)));
        resolve(undefined);
      });
      const resolveFailure = (error: Error): void => resolve(failureOf(error));
      far.once("error", resolveFailure);
      far.once("close", () => resolve(connectFailure("ECONNABORTED", {}, "it was cancelled")));
      for (const event of ["connect", "close"]) far.once(event, () => clearTimeout(late));
    });
  }

  /** Absent for a Unix socket. */
  get ends(): { remote: Endpoint; local: Endpoint } | undefined {
    const { remoteAddress, remotePort, remoteFamily } = this.#far;
    const { localAddress, localPort, localFamily } = this.#far;
    if (remoteAddress === undefined || localAddress === undefined) return undefined;
    return {
      remote: { address: remoteAddress, port: remotePort ?? 0, family: remoteFamily ?? "" },
      local: { address: localAddress, port: localPort ?? 0, family: localFamily ?? "" },
    };
  }

  /** Attaches the process's end. */
  attach(near: Socket): void {
    this.#near = near;
    near.on("error", () => undefined); // "close" follows
    near.on("close", (isBroken) => {
      if (isBroken) this.#reset();
      else this.#far.destroySoon();
      this.#isOver();
    });
    if (this.#isGivenUp) return void near.destroy();
    relay(near, this.#far, this.#parts.throughput);
    if (this.#failure) void this.#reportLoss(near, this.#failure);
  }

  /** Closes the process's end: data it wrote before still arrives, unless it resets the connection. */
  close(reset: boolean): void {
    this.#isGivenUp = true;
    const near = this.#near;
    if (reset || !near) return this.destroy(reset);
    const end = (): void => {
      this.#far.destroySoon();
      near.destroy();
    };
    if (near.readableEnded) end();
    else near.once("end", end);
  }

  destroy(reset = false): void {
    this.#isGivenUp = true;
    if (reset) this.#reset();
    else this.#far.destroy();
    this.#near?.destroy();
    this.#isOver();
  }

  get isGivenUp(): boolean {
    return this.#isGivenUp;
  }

  /** Resets the connection, so that the other end sees that it broke and did not just end. */
  #reset(): void {
    if (this.#isTcp && !this.#far.connecting) this.#far.resetAndDestroy();
    else this.#far.destroy();
  }

  async #lose(failure: NetworkFailure): Promise<void> {
    if (this.#near) await this.#reportLoss(this.#near, failure);
    else this.#failure = failure;
  }

  /** Sends the reason to the process before its end closes; it can still read the data received until then. */
  async #reportLoss(near: Socket, failure: NetworkFailure): Promise<void> {
    if (!this.#isGivenUp && !near.destroyed) await this.#parts.lost(failure);
    near.destroySoon();
  }

  #isOver(): void {
    if (this.#far.destroyed && (this.#near?.destroyed ?? this.#isGivenUp)) this.#parts.closed();
  }
}

function optionsFor(target: Target): NetConnectOpts {
  if ("path" in target) return { path: target.path };
  const { host, port, addresses, localAddress } = target;
  const [first = { address: host, family: 4 as const }] = addresses;
  return {
    host,
    port,
    noDelay: true,
    keepAlive: true,
    keepAliveInitialDelay: KEEP_ALIVE_AFTER_MS,
    ...(localAddress === undefined ? {} : { localAddress }),
    autoSelectFamily: true,
    lookup: (_name: string, { all }: { all?: boolean | undefined }, answer: Answer) =>
      all ? answer(null, [...addresses]) : answer(null, first.address, first.family),
  };
}

type Answer = (error: null, found: string | Address[], family?: number) => void;

function placeOf({ host, port, addresses }: Exclude<Target, { path: string }>) {
  return { address: addresses[0]?.address ?? host, port };
}
