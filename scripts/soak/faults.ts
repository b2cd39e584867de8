import { openFaultyHost } from "../faults/faulty-host.ts";
import { FAULTS } from "../faults/kinds.ts";
import { readAtRest, serveProbed } from "./reading.ts";
import type { SoakRun } from "./run.ts";

const REQUESTS_PER_SECOND = 50;

/** One faulty plugin per round, each with another fault, while requests go to the other plugins. */
export async function openFaults(): Promise<SoakRun> {
  const host = await openFaultyHost(FAULTS, { serve: serveProbed });
  const requests = host.ask(REQUESTS_PER_SECOND);
  return {
    async round(number) {
      const kind = FAULTS[number % FAULTS.length];
      if (kind) await host.commit(kind);
    },
    read: () => readAtRest(host.mantel, host.home),
    async end() {
      const { asked, failed } = await requests.end();
      await host.stop();
      return { asked, failed };
    },
  };
}
