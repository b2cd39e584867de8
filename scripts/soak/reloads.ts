import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { type BenchHome, nameFile, openHome, writeLamp } from "../bench/bench-home.ts";
import { addLampState, failInRemainingWays, failToReload } from "./failures.ts";
import { LampRequests, reloadLamp, waitForLamp } from "./lamp.ts";
import { readAtRest, serveProbed } from "./reading.ts";
import type { SoakRun } from "./run.ts";

/** A failed reload leaves a record in the module's log and in the host's, of which 500 are kept. */
const FAILURES_WARM_UP = 500;
/** A third of the default, because two of eleven failures are hanging starts. */
const START_MS = 500;

/** Reloads a bridge of ten files with one npm dependency, while requests go to its device. */
export async function openReloads(areFailing: boolean): Promise<SoakRun> {
  const home = await openHome(areFailing ? [] : ["system"]);
  await writeLamp(home, "lamp");
  if (areFailing) {
    await limitStart(home);
    await addLampState(home);
  }
  const host = await serveProbed(home);
  await waitForLamp(host);
  const requests = new LampRequests(host);
  let last = 0;
  return {
    ...(areFailing ? { warmUp: FAILURES_WARM_UP } : {}),
    async round(number) {
      last = number;
      requests.start();
      if (areFailing) return failToReload(home, host, number);
      await home.write("lamp/name.ts", nameFile(`name ${number}.`));
      const status = await reloadLamp(host);
      if (status !== 200) throw new Error(`round ${number} was answered ${status}`);
    },
    async read() {
      if (areFailing) await failInRemainingWays(home, host, last);
      await requests.pause(); // each waiting request is an open connection
      return readAtRest(host, home);
    },
    async end() {
      await host.stop();
      await home.remove();
      return requests.counts;
    },
  };
}

async function limitStart({ data }: BenchHome): Promise<void> {
  const modules = { lamp: { limits: { startMs: START_MS } } };
  await mkdir(data, { recursive: true });
  await writeFile(join(data, "config.json"), JSON.stringify({ modules }));
}
