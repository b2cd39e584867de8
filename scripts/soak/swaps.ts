import { openHome } from "../bench/house.ts";
import { readAtRest, serveProbed } from "./reading.ts";
import type { Run } from "./run.ts";
import { openControl, openDashboard, writeWidget } from "./widgets.ts";

/** Enough to see by how much a page grows that only loads scripts. */
const CONTROL_ROUNDS = 500;
/** What three thousand swaps may add to the page. */
const MAX_GROWTH_MIB = 3;

/** Widget swaps in a page of a real Chromium, beside a control page that only loads scripts. */
export async function openSwaps(): Promise<Run> {
  const home = await openHome();
  await writeWidget(home);
  const host = await serveProbed(home);
  const dashboard = await openDashboard(host, home);
  const control = await openControl();
  return {
    async round(number) {
      await dashboard.swap(number);
      if (number <= CONTROL_ROUNDS) await control.swap(number);
    },
    async read() {
      const controlFigures = Object.entries(await control.read());
      return {
        ...(await readAtRest(host, home)),
        ...(await dashboard.read()),
        ...Object.fromEntries(controlFigures.map(([name, value]) => [`control ${name}`, value])),
      };
    },
    bounds: { pageHeapMiB: MAX_GROWTH_MIB },
    async end() {
      await dashboard.close();
      await control.close();
      await host.stop();
      await home.remove();
      return {};
    },
  };
}
