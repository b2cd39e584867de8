import type { Socket } from "node:net";
import type { ThroughputLimit } from "./throughput-limit.ts";

/**
 * Relays data in both directions, as fast as the receiver reads it and the throughput permits. An
 * end that has finished sending may still receive.
 */
export function relay(near: Socket, far: Socket, throughput: ThroughputLimit): void {
  carry(near, far, throughput);
  carry(far, near, throughput);
}

function carry(from: Socket, to: Socket, throughput: ThroughputLimit): void {
  let isQueued = false;
  const resume = (): void => {
    isQueued = false;
    if (!to.writableNeedDrain) from.resume();
  };
  from.on("data", (chunk: Buffer) => {
    const isTaken = to.write(chunk);
    const mayGoOn = throughput.spend(chunk.length);
    if (isTaken && mayGoOn) return;
    from.pause();
    if (mayGoOn || isQueued) return;
    isQueued = true;
    throughput.waitForTurn(resume);
  });
  to.on("drain", () => {
    if (!isQueued) from.resume();
  });
  from.on("end", () => to.end());
  from.resume();
}
