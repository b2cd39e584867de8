import {
  type DeviceImage,
  imageTypeOf,
  MantelError,
  MAX_IMAGE_BYTES,
  NotMotionJpeg,
  readMotionJpeg,
} from "@mantel/plugin-sdk";
import type { Options } from "./options.ts";

const LIST_MS = 5_000;
/** A camera that begins to send needs until its next key frame. */
const PICTURE_MS = 9_000;
const ANSWER_MS = 14_000;
const MOST_LIST_BYTES = 4 * 2 ** 20;
const MOST_ANSWER_BYTES = 50_000;
const MOST_REASON_CHARACTERS = 200;

/** The HTTP API of a go2rtc server (`website/api/openapi.yaml` in its repository, version 1.9). */
export class Client {
  readonly #options: Options;
  readonly #signal: AbortSignal;

  /** @param signal ends all requests */
  constructor(options: Options, signal: AbortSignal) {
    this.#options = options;
    this.#signal = signal;
  }

  /** The names of the cameras. @throws MantelError `bridge_down` */
  async names(): Promise<readonly string[]> {
    const what = "the list of cameras";
    const answer = await this.#ask("streams", { what, ms: LIST_MS });
    const text = new TextDecoder().decode(await this.#bytes(answer, what, MOST_LIST_BYTES));
    const list = parsed(text);
    if (typeof list !== "object" || list === null || Array.isArray(list))
      throw new MantelError("bridge_down", `${this.#options.url} is not a go2rtc server`);
    return Object.keys(list);
  }

  /**
   * A picture of a camera now; `undefined` if the camera sends none, which go2rtc answers with nothing.
   * @throws MantelError `bridge_down`, `not_found` for an unknown camera or one whose video it cannot convert
   */
  async picture(name: string): Promise<DeviceImage | undefined> {
    const what = `the picture of ${name}`;
    const path = `frame.jpeg?src=${encodeURIComponent(name)}`;
    const bytes = await this.#bytes(await this.#ask(path, { what, ms: PICTURE_MS }), what);
    const type = imageTypeOf(bytes);
    return type && { type, bytes };
  }

  /**
   * The pictures of a camera as motion JPEG, until `signal` aborts. A camera that sends another format has none, which
   * go2rtc answers with nothing.
   * @throws MantelError `bridge_down`, `not_found`
   */
  async *frames(name: string, signal: AbortSignal): AsyncGenerator<DeviceImage> {
    const what = `the live picture of ${name}`;
    const answer = await this.#ask(`stream.mjpeg?src=${encodeURIComponent(name)}`, {
      what,
      signal,
    });
    const contentType = answer.headers.get("content-type") ?? "";
    if (!answer.body || !contentType.startsWith("multipart/")) return;
    const limits = { contentType, maxBytes: MAX_IMAGE_BYTES };
    try {
      for await (const bytes of readMotionJpeg(answer.body, limits)) {
        const type = imageTypeOf(bytes);
        if (type) yield { type, bytes };
      }
    } catch (error) {
      if (!(error instanceof NotMotionJpeg)) throw this.#away(what, error);
      throw new MantelError("not_found", `${what} cannot be read: ${error.message}`);
    }
  }

  /**
   * The answer to the offer of a WebRTC connection (WHEP).
   * @throws MantelError `bridge_down`, `not_found`
   */
  async connect(name: string, offer: string): Promise<string> {
    const what = `the video of ${name}`;
    const answer = await this.#ask(`webrtc?src=${encodeURIComponent(name)}`, {
      what,
      ms: ANSWER_MS,
      offer,
    });
    return new TextDecoder().decode(await this.#bytes(answer, what, MOST_ANSWER_BYTES));
  }

  async #ask(path: string, { what, ms, signal, offer }: Request): Promise<Response> {
    const { url, user, password = "" } = this.#options;
    const signals = [this.#signal, signal, ms === undefined ? undefined : AbortSignal.timeout(ms)];
    const headers = new Headers();
    if (user !== undefined) headers.set("Authorization", `Basic ${base64(`${user}:${password}`)}`);
    if (offer !== undefined) headers.set("Content-Type", "application/sdp");
    let answer: Response;
    try {
      answer = await fetch(`${url.replace(/\/+$/, "")}/api/${path}`, {
        headers,
        redirect: "error",
        signal: AbortSignal.any(signals.filter((each) => each !== undefined)),
        ...(offer === undefined ? {} : { method: "POST", body: offer }),
      });
    } catch (error) {
      throw this.#away(what, error);
    }
    if (answer.ok) return answer;
    const said = await this.#bytes(answer, what, MOST_ANSWER_BYTES).catch(() => new Uint8Array());
    throw refused(answer.status, what, new TextDecoder().decode(said));
  }

  async #bytes(answer: Response, what: string, most = MAX_IMAGE_BYTES): Promise<Uint8Array> {
    const chunks: Uint8Array[] = [];
    let size = 0;
    try {
      for await (const chunk of answer.body ?? []) {
        size += chunk.length;
        if (size > most) throw new Error(`it has more than ${most} bytes`);
        chunks.push(chunk);
      }
    } catch (error) {
      throw this.#away(what, error);
    }
    return Buffer.concat(chunks);
  }

  #away(what: string, cause: unknown): MantelError {
    const { name, message, cause: deeper } = cause as Error;
    const reason =
      name === "TimeoutError"
        ? "it does not answer in time"
        : deeper instanceof Error
          ? deeper.message
          : message;
    return new MantelError(
      "bridge_down",
      `could not read ${what} from ${this.#options.url}: ${reason}`,
      {
        cause,
      },
    );
  }
}

interface Request {
  /** A noun phrase for errors. */
  readonly what: string;
  /** The deadline, if there is one. */
  readonly ms?: number;
  readonly signal?: AbortSignal;
  readonly offer?: string;
}

/** go2rtc answers 500 for a camera that it cannot reach, and 404 for one that it does not know. */
function refused(status: number, what: string, said: string): MantelError {
  if (status === 401)
    return new MantelError("bridge_down", "go2rtc refuses the user name or password");
  const reason = said.trim().slice(0, MOST_REASON_CHARACTERS) || "no reason";
  return new MantelError("not_found", `go2rtc answers ${status} for ${what}: ${reason}`);
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

const base64 = (text: string): string => Buffer.from(text, "utf8").toString("base64");
