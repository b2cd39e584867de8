import { showNotice } from "./details/notice.ts";

/** Shows a message to people, and has it read out. The data of other events is ignored. */
export function showNotification(data: unknown, announce: (text: string) => void): void {
  if (typeof data !== "object" || data === null || !("message" in data)) return;
  const { message } = data;
  if (typeof message !== "string") return;
  announce(message);
  showNotice(message);
}
