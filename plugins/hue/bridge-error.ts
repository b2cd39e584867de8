import type { IncomingMessage } from "node:http";
import { MantelError } from "@mantel/plugin-sdk";

const RETRY_MS = 1_000;
const LONGEST_RETRY_MS = 60_000;

/**
 * The JSON of an answer; `undefined` if it is not JSON.
 * @throws Error for more than `maxBytes`
 */
export async function readJson(answer: IncomingMessage, maxBytes: number): Promise<unknown> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of answer as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    // leaving the loop closes the connection
    if (bytes > maxBytes) throw new Error(`it answers with more than ${maxBytes} bytes`);
    chunks.push(chunk);
  }
  try {
    return JSON.parse(Buffer.concat(chunks).toString()) as unknown;
  } catch {
    return undefined;
  }
}

/** The error for a failed answer of the bridge. */
export function bridgeError(
  { statusCode, headers }: IncomingMessage,
  answer: unknown,
): MantelError {
  const said = descriptionIn(answer);
  const because = said === "" ? "" : `: ${said}`;
  switch (statusCode) {
    case 207:
      return new MantelError("bridge_down", `the device does not follow${because}`);
    case 400:
      return new MantelError("invalid", `the bridge refuses the change${because}`);
    case 401:
    case 403:
      return new MantelError("bridge_down", "it does not know the application key: pair it again");
    case 404:
      return new MantelError("device_unknown", `the bridge does not have it any more${because}`);
    case 429:
      return new MantelError("bridge_rate_limited", "the bridge asks to be asked less often", {
        retryAfterMs: retryMs(headers["retry-after"]),
      });
    case 503:
      return new MantelError("bridge_down", `it is busy${because}`, {
        retryAfterMs: retryMs(headers["retry-after"]),
      });
    default:
      return new MantelError("bridge_down", oddAnswer(statusCode, said));
  }
}

function oddAnswer(status: number | undefined, said: string): string {
  const what = status === 200 ? "with something that is not an answer of a bridge" : `${status}`;
  return `it answers ${what}: ${said || "does its address lead to something else?"}`;
}

/**
 * The error for a request without an answer, with its cause. `lateMs` is the deadline, if it has
 * passed.
 */
export function awayError(error: unknown, lateMs: number | undefined): MantelError {
  if (error instanceof MantelError) {
    return new MantelError(error.code, error.message, { cause: error });
  }
  if (lateMs !== undefined) {
    const late = `it does not answer within ${lateMs} ms: restart it if that lasts`;
    return new MantelError("deadline_passed", late, { cause: error });
  }
  const { code, message } = error as { code?: unknown; message?: string };
  const words = typeof code === "string" ? WORDS.get(code) : undefined;
  return new MantelError("bridge_down", words ?? message ?? "it cannot be reached", {
    cause: error,
    retryAfterMs: RETRY_MS,
  });
}

const WORDS = new Map([
  ["ECONNREFUSED", "nothing listens there: is it on, and is that its address?"],
  ["ECONNRESET", "it hung up: restart it if that lasts"],
  ["EHOSTUNREACH", "the address does not exist in the network: is it on?"],
  ["ENETUNREACH", "its network is unreachable: is this machine in it?"],
  ["ENOTFOUND", "its name cannot be resolved"],
  ["EAI_AGAIN", "its name cannot be resolved now"],
]);

/** The first description in `{errors: [{description}]}`; empty without one. */
function descriptionIn(answer: unknown): string {
  const { errors } = (answer ?? {}) as { errors?: unknown };
  const first: unknown = Array.isArray(errors) ? errors[0] : undefined;
  const { description } = (first ?? {}) as { description?: unknown };
  return typeof description === "string" ? description.slice(0, 200) : "";
}

function retryMs(header: string | undefined): number {
  const seconds = Number(header ?? "");
  return seconds > 0 ? Math.min(seconds * 1_000, LONGEST_RETRY_MS) : RETRY_MS;
}
