import { setTimeout as delay } from "node:timers/promises";
import { openHome } from "../bench/bench-home.ts";
import { KillableHost } from "./killable-host.ts";

/** Maximum time between the first acknowledged write and the kill. */
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
export async function killRepeatedly(count: number): Promise<KillCount> {
  const home = await openHome();
  const host = new KillableHost(home);
  const startMs: number[] = [];
  let [acknowledged, lost] = [0, 0];
  try {
    await host.start();
    await host.writeAll();
    for (let kills = 0; kills < count; kills++) {
      let written = 0;
      let writing: Promise<void> | undefined;
      await new Promise<void>((first) => {
        writing = host.writeUntilGone(() => {
          if (++written === 1) first();
        });
      });
      await delay(Math.random() * LONGEST_LIFE_MS);
      await host.kill();
      await writing;
      acknowledged += written;
      startMs.push(await host.start());
      lost += (await host.lost()).length;
    }
    const corrupt = (await host.setAside()).length;
    return { kills: count, acknowledged, lost, corrupt, startMs };
  } finally {
    await host.stop();
    await home.remove();
  }
}
