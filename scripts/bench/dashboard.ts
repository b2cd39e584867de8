// npm run bench dashboard [-- loads [seconds]]: in a real Chromium, how soon the dashboard paints, cold and
// warm, at full speed and on a processor six times slower, against a page of one word; how busy its main
// thread is and which tiles are drawn again while 200 lamps change fifty times a second, and each of them
// fifty times, and with 2,000 lamps, against a page that is drawn whole again at each change.
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import type { Browser } from "playwright-core";
import { hasBrowser, launchBrowser } from "../../test/helpers/browser.ts";
import { measureBusy, measureRepaints } from "./dashboard/changes.ts";
import { openPage } from "./dashboard/page.ts";
import { allTilesAt, measureFloor, measureLoads, watchTiles } from "./dashboard/paint.ts";
import { Storm, writeStorm } from "./dashboard/storm.ts";
import { openWholePage } from "./dashboard/whole-page.ts";
import { openHome, serveHost } from "./house.ts";

const [loads = 10, seconds = 10] = process.argv.slice(2).map(Number);
const PLUGINS = join(import.meta.dirname, "../../plugins");
/** What plugins do at their start is over by then. */
const START_MS = 8_000;
const LAMPS = 200;
const MANY_LAMPS = 2_000;
const PER_SECOND = 50;
const NOTHING = { begin: async () => undefined, end: async () => 0 };
/** The lamps that change while repaints are counted, so that the others can be seen to stay. */
const AMONG = 10;

if (!hasBrowser()) {
  console.log(JSON.stringify({ bench: "dashboard", leftOut: "Chromium is not installed" }));
  process.exit(0);
}
const browser = await launchBrowser();
const whole = await openWholePage(LAMPS);
tell("paint", await measurePaint(browser));
tell("changes", await measureLamps(browser, LAMPS));
tell("many", await measureLamps(browser, MANY_LAMPS));
tell("whole page", await measureWhole(browser));
whole.close();
await browser.close();

async function measurePaint(to: Browser) {
  const home = await openHome((await readdir(PLUGINS)).filter((name) => !name.startsWith(".")));
  const host = await serveHost(home);
  await delay(START_MS);
  const figures = {};
  for (const slowDown of [1, 6]) {
    const options = { count: loads, slowDown };
    Object.assign(figures, {
      [`at ${slowDown}x`]: {
        ...(await measureLoads(to, host, options)),
        oneWord: await measureFloor(to, `${host.url}/api`, options),
      },
    });
  }
  await host.stop();
  await home.remove();
  return figures;
}

/** Lamps in rooms of twenty, all on one page. */
async function measureLamps(to: Browser, lamps: number) {
  const home = await openHome(["room-widget"]);
  await writeStorm(home, lamps);
  const host = await serveHost(home);
  const storm = await Storm.over(host, lamps);
  const measured = await openPage(to);
  await watchTiles(measured.page);
  await measured.page.goto(`${host.url}/#token=${host.token}`);
  const busy = (perSecond: number) =>
    measureBusy(
      measured,
      { begin: () => storm.begin(perSecond, lamps), end: () => storm.end() },
      seconds,
    );
  const figures = {
    lamps,
    allTilesAt: await allTilesAt(measured.page),
    atRest: await measureBusy(measured, NOTHING, seconds),
    together: await busy(PER_SECOND),
    repaints: await measureRepaints(
      measured.page,
      { begin: () => storm.begin(PER_SECOND, AMONG), end: () => storm.end() },
      seconds,
    ),
    each: await busy(PER_SECOND * LAMPS),
  };
  await measured.close();
  await host.stop();
  await home.remove();
  return figures;
}

async function measureWhole(to: Browser) {
  const measured = await openPage(to);
  await measured.page.goto(whole.url);
  const begin = async () => whole.begin(PER_SECOND);
  const figures = await measureBusy(measured, { begin, end: async () => whole.end() }, seconds);
  await measured.close();
  return figures;
}

function tell(what: string, figures: object): void {
  console.log(JSON.stringify({ bench: "dashboard", unit: "ms", [what]: figures }));
}
