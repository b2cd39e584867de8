import { setTimeout as delay } from "node:timers/promises";
import { openHome } from "../bench/bench-home.ts";
import { WrittenHouse } from "./written-house.ts";

/** Maximum time between the first write and the kill. */
const LONGEST_LIFE_MS = 300;

/** The result of a run with kills. */
export interface KillCount {
  readonly kills: number;
  /** Writes that were answered with 200. */
  readonly acknowledged: number;
  /** Documents without the acknowledged content. */
  readonly lost: number;
  /** Files that the host found damaged. */
  readonly corrupt: number;
  readonly startMs: readonly number[];
}

/** Kills a host with SIGKILL at random moments while its layout, config, tokens and scenes are written, and restarts it. */
export async function killAgainAndAgain(count: number): Promise<KillCount> {
  const home = await openHome();
  const house = new WrittenHouse(home);
  const startMs: number[] = [];
  let [acknowledged, lost] = [0, 0];
  try {
    await house.start();
    await house.writeAll();
    for (let kills = 0; kills < count; kills++) {
      const [written] = await Promise.all([
        house.writeUntilGone(),
        delay(Math.random() * LONGEST_LIFE_MS).then(() => house.kill()),
      ]);
      acknowledged += written;
      startMs.push(await house.start());
      lost += (await house.lost()).length;
    }
    const corrupt = (await house.setAside()).length;
    return { kills: count, acknowledged, lost, corrupt, startMs };
  } finally {
    await house.stop();
    await home.remove();
  }
}
