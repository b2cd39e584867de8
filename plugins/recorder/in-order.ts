import { SerialQueue } from "@mantel/plugin-sdk";
import { callHistory, type History, historyThrough } from "./history.ts";

/** A history whose calls are done one after the other, as a worker thread does them. */
export function inOrder(history: History): History {
  const turns = new SerialQueue();
  return historyThrough(
    <T>(method: keyof History, input?: unknown) =>
      turns.take(() => callHistory(history, method, input)) as Promise<T>,
  );
}
