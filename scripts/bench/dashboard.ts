// npm run bench dashboard [-- loads [seconds]]: measures the dashboard in a real Chromium. First the time to paint, with
// a cold and a warm cache, at full speed and with a six times slower processor, compared with a page of one word. Then
// the load of the main thread and the redrawn tiles while 200 lamps change fifty times a second, each of them fifty
// times a second, and with 2,000 lamps, compared with a page that redraws everything at each change.
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import type { Browser } from "playwright-core";
import { hasBrowser, launchBrowser } from "../../test/helpers/browser.ts";
import { openHome, serveHost } from "./bench-home.ts";
import { measureBusy, measureRepaints } from "./dashboard/changes.ts";
import { openPage } from "./dashboard/page.ts";
import { allTilesAt, measureFloor, measureLoads, watchTiles } from "./dashboard/paint.ts";
import { Storm, writeStorm } from "./dashboard/storm.ts";
import { openWholePage } from "./dashboard/whole-page.ts";

const [loads = 10, seconds = 10] = process.argv.slice(2).map(Number);
const PLUGINS = join(import.meta.dirname, "../../plugins");
/** Time for the plugins' work at the start. */
const START_MS = 8_000;
const LAMPS = 200;
const MANY_LAMPS = 2_000;
const PER_SECOND = 50;
const NOTHING = { begin: async () => undefined, end: async () => 0 };
/** The number of lamps that change while redraws are counted; the tiles of the others must not be redrawn. */
const AMONG = 10;

if (!hasBrowser()) {
  console.log(JSON.stringify({ bench: "dashboard", leftOut: "Chromium is not installed" }));
  process.exit(0);
}
const browser = await launchBrowser();
const wholePage = await openWholePage(LAMPS);
tell("paint", await measurePaint(browser));
tell("changes", await measureLamps(browser, LAMPS));
tell("many", await measureLamps(browser, MANY_LAMPS));
tell("whole page", await measureWhole(browser));
wholePage.close();
await browser.close();

async function measurePaint(to: Browser) {
  const home = await openHome();
  const host = await serveHost({ ...home, plugins: PLUGINS }); // widgets of copies would be in frames
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

/** All lamps on one page, twenty per room. */
async function measureLamps(to: Browser, lamps: number) {
  const home = await openHome(["room-widget"]);
  await writeStorm(home, lamps);
  const modules = { "room-widget": { trusted: true } }; // in a frame its tiles could not be watched
  await home.write("../data/config.json", JSON.stringify({ modules }));
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
  await measured.page.goto(wholePage.url);
  const begin = async () => wholePage.begin(PER_SECOND);
  const figures = await measureBusy(measured, { begin, end: async () => wholePage.end() }, seconds);
  await measured.close();
  return figures;
}

function tell(what: string, figures: object): void {
  console.log(JSON.stringify({ bench: "dashboard", unit: "ms", [what]: figures }));
}
