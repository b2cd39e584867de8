import { setTimeout as delay } from "node:timers/promises";
import { MantelError } from "@mantel/plugin-sdk";
import type { Options } from "./options.ts";

/** One attempt. All attempts together stay within the ten seconds that the host waits. */
const ATTEMPT_MS = 2_500;
/** The waits before further attempts, after a failure that may pass. */
const RETRY_MS = [300, 1_200];
/** ntfy makes a file of a longer message, which its app does not show at once. */
const MAX_MESSAGE_BYTES = 4_096;
const MAX_REASON_CHARACTERS = 300;
const MAX_ANSWER_BYTES = 16_384;

/** A message for one topic. */
export interface Message {
  readonly topic: string;
  readonly message: string;
}

/**
 * Publishes a message as JSON (docs.ntfy.sh, "Publish as JSON"). A server that cannot be reached, is overloaded or fails is
 * asked again twice.
 * @throws MantelError `service_unavailable` with the reason
 */
export async function send(
  { server, token, title }: Options,
  { topic, message }: Message,
  signal: AbortSignal,
): Promise<void> {
  const body = JSON.stringify({ topic, title, message: shortened(message) });
  const headers = {
    "Content-Type": "application/json",
    ...(token === undefined ? {} : { Authorization: `Bearer ${token}` }),
  };
  for (let attempt = 0; ; attempt++) {
    const fault = await attemptOf(server, { headers, body, signal });
    if (fault === undefined) return;
    const wait = RETRY_MS[attempt];
    if (!fault.mayPass || wait === undefined || signal.aborted) {
      throw new MantelError("service_unavailable", `the message was not sent: ${fault.reason}`);
    }
    await delay(wait, undefined, { signal }).catch(() => undefined);
  }
}

interface Fault {
  readonly reason: string;
  /** True if another attempt may succeed. */
  readonly mayPass: boolean;
}

async function attemptOf(
  server: string,
  { headers, body, signal }: { headers: Record<string, string>; body: string; signal: AbortSignal },
): Promise<Fault | undefined> {
  try {
    const answer = await fetch(server, {
      method: "POST",
      headers,
      body,
      redirect: "error",
      signal: AbortSignal.any([signal, AbortSignal.timeout(ATTEMPT_MS)]),
    });
    if (answer.ok) {
      await answer.body?.cancel();
      return undefined;
    }
    const { status } = answer;
    const reason = `${server} answered ${status}${await wordsOf(answer)}${adviceFor(status)}`;
    return { reason, mayPass: status === 429 || status >= 500 };
  } catch (error) {
    const { cause, message } = error as Error & { cause?: Error };
    return { reason: `${server} cannot be reached (${cause?.message ?? message})`, mayPass: true };
  }
}

/** The words of ntfy's own errors, as in `: forbidden`; "" for an answer in another form. */
async function wordsOf(answer: Response): Promise<string> {
  let text = "";
  const decoder = new TextDecoder();
  for await (const chunk of answer.body ?? []) {
    text += decoder.decode(chunk as Uint8Array, { stream: true });
    if (text.length > MAX_ANSWER_BYTES) return "";
  }
  try {
    const { error } = JSON.parse(text) as { error?: unknown };
    return typeof error === "string" ? `: ${error.slice(0, MAX_REASON_CHARACTERS)}` : "";
  } catch {
    return "";
  }
}

function adviceFor(status: number): string {
  if (status === 401 || status === 403) return "; it needs a token that may write to the topic";
  return status === 404 || status === 405 ? "; it is not the address of an ntfy server" : "";
}

/** The message within ntfy's limit, cut between characters. */
function shortened(message: string): string {
  if (Buffer.byteLength(message) <= MAX_MESSAGE_BYTES) return message;
  const end = "…";
  let text = "";
  let bytes = Buffer.byteLength(end);
  for (const character of message) {
    bytes += Buffer.byteLength(character);
    if (bytes > MAX_MESSAGE_BYTES) break;
    text += character;
  }
  return text + end;
}
