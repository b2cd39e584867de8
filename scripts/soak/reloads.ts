import { nameFile, openHome, writeLamp } from "../bench/house.ts";
import { failToReload, giveLampState } from "./failures.ts";
import { LampRequests, reloadLamp } from "./lamp.ts";
import { readAtRest, serveProbed } from "./reading.ts";
import type { Run } from "./run.ts";

/** Reloads of a bridge of ten files with one npm dependency, under requests to its device. */
export async function openReloads(areFailing: boolean): Promise<Run> {
  const home = await openHome(["system"]);
  await writeLamp(home, "lamp");
  if (areFailing) await giveLampState(home);
  const host = await serveProbed(home);
  const requests = new LampRequests(host);
  return {
    async round(number) {
      requests.start();
      if (areFailing) return failToReload(home, host, number);
      await home.write("lamp/name.ts", nameFile(`name ${number}.`));
      const status = await reloadLamp(host);
      if (status !== 200) throw new Error(`round ${number} was answered ${status}`);
    },
    async read() {
      await requests.pause(); // each that waits is a connection
      return readAtRest(host, home);
    },
    async end() {
      await host.stop();
      await home.remove();
      return requests.counts;
    },
  };
}
