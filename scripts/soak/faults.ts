import { openFaultyHouse } from "../faults/house.ts";
import { FAULTS } from "../faults/kinds.ts";
import { readAtRest, serveProbed } from "./reading.ts";
import type { Run } from "./run.ts";

const REQUESTS_PER_SECOND = 50;

/** Plugins that go wrong, one in each round and each in its own way, under requests to their neighbours. */
export async function openFaults(): Promise<Run> {
  const house = await openFaultyHouse(FAULTS, serveProbed);
  const requests = house.ask(REQUESTS_PER_SECOND);
  return {
    async round(number) {
      const kind = FAULTS[number % FAULTS.length];
      if (kind) await house.commit(kind);
    },
    read: () => readAtRest(house.mantel, house.home),
    async end() {
      const { asked, failed } = await requests.end();
      await house.stop();
      return { asked, failed };
    },
  };
}
