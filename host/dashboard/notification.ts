import { showNotice } from "./details/notice.ts";
import { words } from "./details/words.ts";

/** Shows a message to people, and has it read out. The data of other events is ignored. */
export function showNotification(data: unknown, announce: (text: string) => void): void {
  if (typeof data !== "object" || data === null || !("message" in data)) return;
  const { message } = data;
  if (typeof message !== "string") return;
  announce(message);
  const named = "from" in data && typeof data.from === "string" ? data.from : undefined;
  const sender = named ?? ("cause" in data ? senderOf(data.cause) : undefined);
  showNotice(message, { note: sender === undefined ? "" : words.peek().from(sender) });
}

function senderOf(cause: unknown): string | undefined {
  if (typeof cause !== "object" || cause === null || !("name" in cause)) return undefined;
  return typeof cause.name === "string" ? cause.name : undefined;
}
