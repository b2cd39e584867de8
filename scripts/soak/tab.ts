import { mkdir, readdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { openLine, type Line } from "../../test/helpers/line.ts";
import { type BenchHome, openHome, type Served, serveHost } from "../bench/bench-home.ts";
import { waitForExpression, openPage, readPage, type SoakPage } from "./page.ts";
import type { SoakRun } from "./run.ts";

const PLUGINS = join(import.meta.dirname, "../../plugins");
const PAGES = ["home", "lights", "climate", "calendar", "system"];
/** Below 35 s, after which a dashboard without data reconnects. */
const STEP_MS = 15_000;
const STEPS = 4;
const PAGE_EVERY = 5;
const CUT_EVERY = 30;
const HOUR = 60;
const TRIES = 5;
const SHOWN_WITHIN_MS = 5_000;
/**
 * Growth limits of the page for a whole day. The readings differ slightly, because another page and hour are shown. A
 * leak per minute would add thousands, a leak per reconnection 40.
 */
const BOUNDS = { pageHeapMiB: 5, pageNodes: 500, pageListeners: 30 };
const LAMP = "Sofa lamp";
const LEVEL = `[...document.querySelectorAll(".tile > .widget")].map(({ shadowRoot }) =>
  shadowRoot.querySelector('[aria-label="${LAMP}"]')?.getAttribute("aria-valuenow"))`;

/**
 * A tab that stays open; each round is one minute. Its clock is advanced, so that timers run and night mode starts and
 * ends. A lamp changes four times per minute, the page changes every five minutes, the connection is cut every half
 * hour, and the calendar and the settings change every hour. The token is renewed four times a day.
 */
export async function openTab(): Promise<SoakRun> {
  const home = await openHome((await readdir(PLUGINS)).filter((name) => !name.startsWith(".")));
  await mkdir(join(home.data, "calendars"), { recursive: true, mode: 0o700 });
  const host = await serveHost(home);
  const endings: (() => unknown)[] = [];
  const line = await openLine(
    { after: (end) => void endings.push(end as () => unknown) },
    host.url,
  );
  const client = new HomeClient(host, home);
  await client.beReady();
  const tab = await openPage(`${line.url}/#token=${await client.pair()}`, async (page) => {
    await page.clock.install();
  });
  await waitForExpression(tab.session, `${LEVEL}.some((level) => level !== undefined)`);
  return {
    round: (minute) => pass(minute, { tab, client, line }),
    read: () => readPage(tab.session),
    bounds: BOUNDS,
    async end() {
      await tab.close();
      for (const end of endings) await end();
      await host.stop();
      await home.remove();
      return {};
    },
  };
}

async function pass(
  minute: number,
  { tab, client, line }: { tab: SoakPage; client: HomeClient; line: Line },
): Promise<void> {
  if (minute % CUT_EVERY === 0) line.cut();
  if (minute % HOUR === 0) await client.change(minute / HOUR);
  for (let step = 0; step < STEPS; step++) {
    await tab.page.clock.runFor(STEP_MS);
    line.mend();
    await dim(1 + ((minute * STEPS + step) % 99), { tab, client });
  }
  if (minute % PAGE_EVERY !== 0) return;
  const page = PAGES[(minute / PAGE_EVERY) % PAGES.length];
  const expression = `location.replace("#${page}")`;
  await tab.session.send("Runtime.evaluate", { expression });
}

/** Repeats a command, because a bridge that was restarted on a busy machine has lost the lamp's state. */
async function dim(
  level: number,
  { tab, client }: { tab: SoakPage; client: HomeClient },
): Promise<void> {
  for (let left = TRIES; left > 0; left--) {
    await client.dim(level);
    try {
      return await waitForExpression(tab.session, `${LEVEL}.includes("${level}")`, SHOWN_WITHIN_MS);
    } catch (error) {
      if (left === 1) throw error;
    }
    await tab.page.clock.runFor(STEP_MS); // a cut connection reconnects after a delay
  }
}

/** The host behind the tab. */
class HomeClient {
  readonly #host: Served;
  readonly #data: string;

  constructor(host: Served, { data }: BenchHome) {
    this.#host = host;
    this.#data = data;
  }

  async beReady(): Promise<void> {
    for (;;) {
      const { devices } = (await this.#ask("/smart-home/devices")) as { devices: unknown[] };
      if (devices.length > 20) break;
    }
    await this.#ask("/config", "PATCH", { ui: { night: { from: "22:30", to: "06:30" } } });
    await this.change(0);
  }

  /** The token of an approved display. */
  async pair(): Promise<string> {
    const { deviceCode, userCode } = await this.#ask("/pairing", "POST", {});
    await this.#ask(`/pairing/${String(userCode)}/approve`, "POST", {
      name: "Tab",
      scope: ["control"],
    });
    return (await this.#ask("/pairing/token", "POST", { deviceCode })).token as string;
  }

  async dim(brightness: number): Promise<void> {
    await this.#ask("/smart-home/devices/demo:light:1/command", "POST", { on: true, brightness });
  }

  /** Changes an appointment in the calendar and the home's settings. */
  async change(hour: number): Promise<void> {
    const day = new Date().toISOString().slice(0, 10).replaceAll("-", "");
    const event = `UID:a\r\nDTSTART:${day}T200000Z\r\nRRULE:FREQ=DAILY\r\nSUMMARY:Hour ${hour}`;
    await writeFile(
      join(this.#data, "calendars/home.ics"),
      `BEGIN:VCALENDAR\r\nVERSION:2.0\r\nBEGIN:VEVENT\r\n${event}\r\nEND:VEVENT\r\nEND:VCALENDAR\r\n`,
    );
    const units = hour % 2 === 0 ? "metric" : "imperial";
    const locale = hour % 3 === 0 ? "de" : "en";
    await this.#ask("/config", "PATCH", { ui: { units, locale } });
  }

  async #ask(
    path: string,
    method = "GET",
    body?: object,
  ): Promise<Readonly<Record<string, unknown>>> {
    const response = await fetch(`${this.#host.url}/api/v1${path}`, {
      method,
      headers: { authorization: `Bearer ${this.#host.token}`, "content-type": "application/json" },
      ...(body ? { body: JSON.stringify(body) } : {}),
    });
    if (!response.ok) throw new Error(`${path}: ${response.status} ${await response.text()}`);
    return (await response.json()) as Readonly<Record<string, unknown>>;
  }
}
