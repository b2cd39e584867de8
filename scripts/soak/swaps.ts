import { openHome } from "../bench/bench-home.ts";
import { readAtRest, serveProbed } from "./reading.ts";
import type { SoakRun } from "./run.ts";
import { openControl, openDashboard, writeWidget } from "./widgets.ts";

/** Enough rounds to measure the growth of a page that only loads scripts. */
const CONTROL_ROUNDS = 500;
/** Growth limits of the page for three thousand swaps. */
const MAX_GROWTH_MIB = 3;

/** Swaps a widget in a real Chromium, compared with a control page that only loads scripts. */
export async function openSwaps(): Promise<SoakRun> {
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
