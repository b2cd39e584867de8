import type { IncomingMessage } from "node:http";
import { request, type RequestOptions } from "node:https";
import { MantelError, Semaphore } from "@mantel/plugin-sdk";
import { awayError, readJson, bridgeError } from "./bridge-error.ts";
import { type Pin, PinnedAgent } from "./pinned-agent.ts";

/** A bridge refuses a fourth concurrent request; the event stream does not count. */
const AT_ONCE = 3;
/** A change that waits longer is dropped: a slow bridge is reported, and gets no queue. */
const LONGEST_WAIT_MS = 1_000;
const REQUEST_MS = 2_500;
/** A large home has 1 MiB of resources. Parsing 4 MiB of the worst JSON takes 96 MiB. */
const LARGEST_BYTES = 4 * 2 ** 20;
const STREAM = "/eventstream/clip/v2";

export interface ClientOptions extends Pin {
  /** A host, optionally with a port. */
  readonly address: string;
  /** Absent before pairing. */
  readonly applicationKey?: string;
}

/**
 * HTTPS client of one bridge: CLIP v2, and two older calls for pairing. Every call ends within its
 * deadline. It rejects with `bridge_down`, `bridge_rate_limited` with `retryAfterMs`,
 * `deadline_passed`, `device_unknown`, or `invalid` if the bridge refuses the body.
 */
export class Client {
  readonly #options: ClientOptions;
  readonly #requests: PinnedAgent;
  readonly #streams: PinnedAgent;
  readonly #slots = new Semaphore(AT_ONCE);

  constructor(options: ClientOptions) {
    this.#options = options;
    this.#requests = new PinnedAgent(options);
    this.#streams = new PinnedAgent(options);
  }

  /** All resources. */
  getAll(deadlineMs: number): Promise<readonly unknown[]> {
    return this.#clip({ method: "GET", path: "", deadlineMs });
  }

  /** One resource, by its type and id. */
  get(path: string): Promise<readonly unknown[]> {
    return this.#clip({ method: "GET", path: `/${path}` });
  }

  /** Resolves when the bridge has accepted the change. The device may carry it out later. */
  async put(path: string, body: object): Promise<void> {
    await this.#clip({ method: "PUT", path: `/${path}`, body });
  }

  /** A call of the interface before CLIP v2, which always answers 200. */
  async call(method: string, path: string, body?: object): Promise<unknown> {
    const { answer } = await this.#send({ method, path, body });
    return answer;
  }

  /**
   * Opens the event stream after `lastEventId`. The caller closes it with `signal`.
   * @throws MantelError if it is not open within the deadline
   */
  async openEvents(lastEventId: string | undefined, signal: AbortSignal): Promise<IncomingMessage> {
    const headers: Record<string, string> = {
      accept: "text/event-stream",
      ...(lastEventId === undefined ? {} : { "last-event-id": lastEventId }),
    };
    const late = new AbortController();
    const timer = setTimeout(() => late.abort(), REQUEST_MS);
    try {
      const until = AbortSignal.any([signal, late.signal]);
      const options = { path: STREAM, agent: this.#streams, signal: until };
      const stream = await this.#exchange(options, headers);
      if (stream.statusCode === 200) return stream;
      throw bridgeError(stream, await readJson(stream, LARGEST_BYTES).catch(() => undefined));
    } catch (error) {
      throw awayError(error, late.signal.aborted ? REQUEST_MS : undefined);
    } finally {
      clearTimeout(timer);
    }
  }

  close(): void {
    this.#requests.destroy();
    this.#streams.destroy();
  }

  async #clip({ path, ...rest }: Call): Promise<readonly unknown[]> {
    const { response, answer } = await this.#send({ ...rest, path: `/clip/v2/resource${path}` });
    const { data } = (answer ?? {}) as { data?: unknown };
    // 207: part of the change failed, and the answer contains the reason
    if (response.statusCode === 200 && Array.isArray(data)) return data;
    throw bridgeError(response, answer);
  }

  /** Limits concurrent requests. A change that has waited too long is not sent. */
  async #send(call: Call) {
    const asked = performance.now();
    await this.#slots.take();
    try {
      if (call.body && performance.now() - asked > LONGEST_WAIT_MS) {
        throw new MantelError(
          "bridge_rate_limited",
          "the bridge is too slow: too many changes are waiting",
          {
            retryAfterMs: LONGEST_WAIT_MS,
          },
        );
      }
      return await this.#sendNow(call);
    } finally {
      this.#slots.giveBack();
    }
  }

  async #sendNow({ method, path, body, deadlineMs = REQUEST_MS }: Call) {
    const signal = AbortSignal.timeout(deadlineMs);
    const headers: Record<string, string> =
      body === undefined ? {} : { "content-type": "application/json" };
    try {
      const options = { method, path, agent: this.#requests, signal };
      const response = await this.#exchange(options, headers, body && JSON.stringify(body));
      return { response, answer: await readJson(response, LARGEST_BYTES) };
    } catch (error) {
      throw awayError(error, signal.aborted ? deadlineMs : undefined);
    }
  }

  #exchange(
    options: RequestOptions,
    headers: Readonly<Record<string, string>>,
    body?: string,
  ): Promise<IncomingMessage> {
    const { address, applicationKey } = this.#options;
    const key = applicationKey === undefined ? {} : { "hue-application-key": applicationKey };
    return new Promise((resolve, reject) => {
      const whole = { ...placeOf(address), ...options, headers: { ...headers, ...key } };
      request(whole, resolve).on("error", reject).end(body);
    });
  }
}

/** Host and port of an address: `bridge.lan`, `10.0.0.7:8443` or `[fd00::7]`. */
export function placeOf(address: string): { host: string; port: number } {
  const { hostname, port } = new URL(`https://${address}`);
  return { host: hostname.replaceAll(/[[\]]/g, ""), port: Number(port || 443) };
}

interface Call {
  readonly method: string;
  readonly path: string;
  readonly body?: object | undefined;
  readonly deadlineMs?: number;
}
