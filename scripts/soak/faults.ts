import { openFaultyHouse } from "../faults/house.ts";
import { FAULTS } from "../faults/kinds.ts";
import { readAtRest, serveProbed } from "./reading.ts";
import type { Run } from "./run.ts";

const REQUESTS_PER_SECOND = 50;

/** One faulty plugin per round, each with another fault, while requests go to the other plugins. */
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
