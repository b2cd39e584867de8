import type { Socket } from "node:net";
import type { Allowance } from "./allowance.ts";

/**
 * Relays data in both directions, as fast as the receiver reads it and the allowance permits. An
 * end that has finished sending may still receive.
 */
export function relay(near: Socket, far: Socket, allowance: Allowance): void {
  carry(near, far, allowance);
  carry(far, near, allowance);
}

function carry(from: Socket, to: Socket, allowance: Allowance): void {
  let isQueued = false;
  const goOn = (): void => {
    isQueued = false;
    if (!to.writableNeedDrain) from.resume();
  };
  from.on("data", (chunk: Buffer) => {
    const isTaken = to.write(chunk);
    const mayGoOn = allowance.spend(chunk.length);
    if (isTaken && mayGoOn) return;
    from.pause();
    if (mayGoOn || isQueued) return;
    isQueued = true;
    allowance.waitForTurn(goOn);
  });
  to.on("drain", () => {
    if (!isQueued) from.resume();
  });
  from.on("end", () => to.end());
  from.resume();
}
