import { SerialQueue } from "@mantel/plugin-sdk";
import type { History } from "./history.ts";

/** A history whose calls are done one after the other, as a worker thread does them. */
export function inOrder(history: History): History {
  const turns = new SerialQueue();
  return {
    open: () => turns.take(() => history.open()),
    record: (batch) => turns.take(() => history.record(batch)),
    maintain: (now) => turns.take(() => history.maintain(now)),
    curve: (request) => turns.take(() => history.curve(request)),
    statistics: (request) => turns.take(() => history.statistics(request)),
    raw: (request) => turns.take(() => history.raw(request)),
    entries: (filter) => turns.take(() => history.entries(filter)),
    bytes: () => turns.take(() => history.bytes()),
    close: () => turns.take(() => history.close()),
  };
}
