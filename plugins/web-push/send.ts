import { setTimeout as delay } from "node:timers/promises";
import type { RequestDetails } from "web-push";
import type { Browser } from "./browsers.ts";
import type { Keys } from "./keys.ts";

/** One attempt. All attempts together stay within the ten seconds that the host waits. */
const ATTEMPT_MS = 2_500;
/** The waits before further attempts, after a failure that may pass. */
const RETRY_MS = [300, 1_200];
/** A phone that is off for longer does not get the message any more. */
const KEEP_SECONDS = 24 * 3_600;
/** Encrypted, a message must fit into the 4,096 bytes that every push service takes (RFC 8030, 7.2). */
const MAX_MESSAGE_BYTES = 3_000;

/** The facts that each message is sent with. */
export interface Sender {
  readonly keys: Keys;
  /** A mail address (RFC 8292, 2.1). */
  readonly contact: string;
  readonly title: string;
  readonly signal: AbortSignal;
}

/**
 * `gone`: the browser has ended the subscription. `{ reason }`: the message was not sent.
 */
export type Outcome = "sent" | "gone" | { readonly reason: string };

/**
 * Sends a message to a browser through its push service (RFC 8030), encrypted for the browser alone (RFC 8291). A service
 * that cannot be reached, is overloaded or fails is asked again twice.
 */
export async function send(
  { subscription }: Pick<Browser, "subscription">,
  message: string,
  { keys, contact, title, signal }: Sender,
): Promise<Outcome> {
  const { default: webPush } = await import("web-push"); // for the first message; homes that send none save its memory
  const request = webPush.generateRequestDetails(
    subscription,
    JSON.stringify({ title, body: shortened(message) }),
    {
      vapidDetails: { subject: `mailto:${contact}`, ...keys },
      TTL: KEEP_SECONDS,
      urgency: "high",
      contentEncoding: "aes128gcm",
    },
  );
  for (let attempt = 0; ; attempt++) {
    const outcome = await attemptOf(request, signal);
    if (typeof outcome === "string") return outcome;
    const wait = RETRY_MS[attempt];
    if (!outcome.mayPass || wait === undefined || signal.aborted) return outcome;
    await delay(wait, undefined, { signal }).catch(() => undefined);
  }
}

interface Failure {
  readonly reason: string;
  /** True if another attempt may succeed. */
  readonly mayPass: boolean;
}

async function attemptOf(
  { endpoint, method, headers, body }: RequestDetails,
  signal: AbortSignal,
): Promise<"sent" | "gone" | Failure> {
  const { host } = new URL(endpoint); // the path is the secret of the browser
  try {
    const answer = await fetch(endpoint, {
      method,
      headers: headers as Record<string, string>,
      body: new Uint8Array(body ?? []),
      redirect: "error",
      signal: AbortSignal.any([signal, AbortSignal.timeout(ATTEMPT_MS)]),
    });
    await answer.body?.cancel();
    if (answer.ok) return "sent";
    const { status } = answer;
    if (status === 404 || status === 410) return "gone"; // RFC 8030, 7.3
    return { reason: `${host} answered ${status}`, mayPass: status === 429 || status >= 500 };
  } catch (error) {
    const { cause, message } = error as Error & { cause?: Error };
    return { reason: `${host} cannot be reached (${cause?.message ?? message})`, mayPass: true };
  }
}

/** The message within the limit, cut between characters. */
function shortened(message: string): string {
  if (Buffer.byteLength(message) <= MAX_MESSAGE_BYTES) return message;
  const bytes = Buffer.from(message).subarray(0, MAX_MESSAGE_BYTES);
  return `${bytes.toString().replace(/\ufffd+$/, "")}…`;
}
