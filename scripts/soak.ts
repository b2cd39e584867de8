// npm run soak [-- NAME [count]]: long runs against the real host.
//
// These print the resources of the host, its processes and the page at the start, in the middle and at the end, and
// fail if one has grown: reloads (ten thousand), failed (reloads that fail), widgets (widget swaps in a real
// Chromium), tab (a day of an open tab), faults (every known fault of a plugin), fuzz (random requests), channel (a
// million random messages of a plugin, a hundred per round), week (a week of events).
//
// These check data: kills (a thousand kills while documents are written), full-disk (writes to a full disk), broker (a
// hundred kills of an MQTT broker), home-assistant (a hundred cuts of the connection).
import { summarise } from "./bench/shared/figures.ts";
import { BRIDGES, openMqttHome } from "./bench/shared/mqtt-home.ts";
import { FAULTS } from "./faults/kinds.ts";
import { killBrokerRepeatedly, reloadUnderStates } from "./soak/brokers.ts";
import { openChannelRun } from "./soak/channel.ts";
import { openFaults } from "./soak/faults.ts";
import { fillDiskRepeatedly } from "./soak/full-disk.ts";
import { openFuzz } from "./soak/fuzz.ts";
import { cutHomeAssistant } from "./soak/home-assistant.ts";
import { killRepeatedly } from "./soak/kills.ts";
import { openReloads } from "./soak/reloads.ts";
import { runRounds, type SoakRun } from "./soak/run.ts";
import { moveSlider } from "./soak/slider.ts";
import { openSwaps } from "./soak/swaps.ts";
import { openTab } from "./soak/tab.ts";
import { openWeek } from "./soak/week.ts";

/** Ten rounds of all kinds, because a fault takes seconds. The first round is the warm-up. */
const FAULT_COUNT = 10 * FAULTS.length;
const WEEK_HOURS = 7 * 24;
const DAY_MINUTES = 24 * 60;
const SWAPS = 3_000;
const START_BOUND_MS = 3_000;
const BACK_BOUND_MS = 5_000;
const SOAK_LAMPS = 200;
const STATES_PER_SECOND = 200;
/** The final brightness of a slider. */
const TOP_LEVEL = 254;

interface Soak {
  readonly count: number;
  /** Resolves with true if the run found no problem. */
  readonly run: (count: number) => Promise<boolean>;
}

const rounds = (name: string, open: () => Promise<SoakRun>, usual = 10_000): [string, Soak] => [
  name,
  { count: usual, run: async (count) => runRounds(await open(), name, count) },
];

const SOAKS: ReadonlyMap<string, Soak> = new Map([
  rounds("reloads", () => openReloads(false)),
  rounds("failed", () => openReloads(true)),
  rounds("widgets", openSwaps, SWAPS),
  rounds("tab", openTab, DAY_MINUTES),
  rounds("faults", openFaults, FAULT_COUNT),
  rounds("fuzz", openFuzz),
  rounds("channel", openChannelRun),
  rounds("week", openWeek, WEEK_HOURS),
  ["kills", { count: 1_000, run: kills }],
  ["broker", { count: 100, run: brokers }],
  ["home-assistant", { count: 100, run: cutConnections }],
  ["full-disk", { count: 1_000, run: fullDisk }],
]);

async function kills(count: number): Promise<boolean> {
  const { startMs, ...found } = await killRepeatedly(count);
  const starts = summarise(startMs);
  const isSound = found.lost + found.corrupt === 0 && starts.max <= START_BOUND_MS;
  return tell("kills", isSound, { ...found, startMs: starts });
}

async function brokers(count: number): Promise<boolean> {
  const found = await killBrokerRepeatedly(count);
  const home = await openMqttHome({ zigbee2mqtt: SOAK_LAMPS, "ha-discovery": SOAK_LAMPS });
  let isSound = found.doubled === 0;
  const bridges: Record<string, object> = {};
  const storm = { rounds: Math.ceil(count / 10), perSecond: STATES_PER_SECOND };
  try {
    for (const id of BRIDGES) {
      const backMs = summarise(found.backMs[id]);
      const slider = await moveSlider(home, id);
      const reloads = await reloadUnderStates(home, id, storm);
      bridges[id] = { backMs, slider, reloads };
      const { failed, lost, vanished, unavailable, cuts } = reloads;
      const ofReloads = failed + lost + vanished + unavailable + cuts;
      const faults = ofReloads + slider.others + slider.wrongRetryAfter;
      isSound &&= faults === 0 && slider.last === TOP_LEVEL && backMs.max <= BACK_BOUND_MS;
    }
    return tell("broker", isSound, { ...found, backMs: undefined, bridges });
  } finally {
    await home.close();
  }
}

async function cutConnections(count: number): Promise<boolean> {
  const { backMs, ...found } = await cutHomeAssistant(count);
  const back = summarise(backMs);
  const isSound = found.doubled === 0 && back.max <= BACK_BOUND_MS;
  return tell("home-assistant", isSound, { ...found, backMs: back });
}

async function fullDisk(count: number): Promise<boolean> {
  const found = await fillDiskRepeatedly(count);
  const others = Object.keys(found.statuses).filter((status) => !["200", "507"].includes(status));
  const isSound = found.lost + found.corrupt + found.left + others.length === 0;
  return tell("full-disk", isSound, found);
}

function tell(soak: string, isSound: boolean, found: object): boolean {
  console.log(JSON.stringify({ soak, verdict: isSound ? "sound" : "broken", ...found }));
  return isSound;
}

const given = process.argv.slice(2);
const name = given.find((word) => SOAKS.has(word)) ?? "reloads";
const counts = given.filter((word) => word !== name);
const soak = SOAKS.get(name);
const count = Number(counts[0] ?? soak?.count);
if (!soak || counts.length > 1 || !Number.isInteger(count) || count < 2) {
  process.stderr.write(`usage: npm run soak -- [${[...SOAKS.keys()].join(" | ")}] [rounds]\n`);
  process.exit(2);
}
process.exitCode = (await soak.run(count)) ? 0 : 1;
