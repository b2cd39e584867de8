import type { IncomingMessage } from "node:http";
import { MantelError } from "@mantel/plugin-sdk";

const RETRY_MS = 1_000;
const LONGEST_RETRY_MS = 60_000;

/** What an answer holds, `undefined` when that is no JSON. @throws Error for more than `maxBytes` */
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

/** What the bridge means by an answer that is none. */
export function refusal({ statusCode, headers }: IncomingMessage, answer: unknown): MantelError {
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
    default: {
      const what = statusCode === 200 ? "with what is no answer of a bridge" : `${statusCode}`;
      return new MantelError("bridge_down", `it answers ${what}${because}`);
    }
  }
}

/** What kept a request from being answered, in words. `lateMs`: its deadline, when that has passed. */
export function awayError(error: unknown, lateMs: number | undefined): MantelError {
  if (error instanceof MantelError) return error;
  if (lateMs !== undefined) {
    return new MantelError("deadline_passed", `it does not answer within ${lateMs} ms`, {
      cause: error,
    });
  }
  const { code, message } = error as { code?: unknown; message?: string };
  const words = typeof code === "string" ? WORDS.get(code) : undefined;
  return new MantelError("bridge_down", words ?? message ?? "it cannot be reached", {
    cause: error,
    retryAfterMs: RETRY_MS,
  });
}

const WORDS = new Map([
  ["ECONNREFUSED", "nothing listens there"],
  ["ECONNRESET", "it hung up"],
  ["EHOSTUNREACH", "there is no such address in the network"],
  ["ENETUNREACH", "there is no way to its network"],
  ["ENOTFOUND", "its name cannot be resolved"],
  ["EAI_AGAIN", "its name cannot be resolved now"],
]);

/** `{errors: [{description}]}`, or what the older interface says: `[{error: {description}}]`. */
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
