import { setTimeout as delay } from "node:timers/promises";
import { toPercent } from "@mantel/plugin-sdk";
import type { Device } from "@mantel/plugin-sdk/device";
import { EventWatch } from "../bench/shared/event-watch.ts";
import {
  BRIDGES,
  type BridgeId,
  type MqttHome,
  openMqttHome,
  reloadBridge,
  waitUntil,
} from "../bench/shared/mqtt-home.ts";
import { StateStorm } from "../bench/shared/state-storm.ts";

/** Lamps per bridge. */
const LAMPS = 20;
const LEVELS = 254;
const LONGEST_OUTAGE_MS = 800;
const BACK_WITHIN_MS = 15_000;
const COMMAND_EVERY_MS = 25;
const SETTLE_MS = 2_000;

/** The result of a run with killed brokers. */
export interface BrokerCount {
  readonly kills: number;
  /** By bridge: the time from the broker's return until all lamps are available and up to date. */
  readonly backMs: Readonly<Record<BridgeId, readonly number[]>>;
  readonly commands: number;
  /** Commands that reached a lamp twice or more. */
  readonly doubled: number;
  /** The number of commands by HTTP status. */
  readonly statuses: Readonly<Record<string, number>>;
}

/** Kills a broker repeatedly with SIGKILL while commands run, over TLS with passwords and ACL. */
export async function killBrokerRepeatedly(count: number): Promise<BrokerCount> {
  const home = await openMqttHome({ zigbee2mqtt: LAMPS, "ha-discovery": LAMPS });
  const backMs: Record<BridgeId, number[]> = { zigbee2mqtt: [], "ha-discovery": [] };
  const commands = new Commands(home, await home.devices());
  try {
    for (let kill = 0; kill < count; kill++) {
      await home.broker.stop();
      await delay(Math.random() * LONGEST_OUTAGE_MS);
      const brightness = 1 + (kill % LEVELS);
      for (const lamps of Object.values(home.lamps)) {
        for (const name of lamps.names) lamps.become(name, { brightness });
      }
      await home.broker.start();
      const back = BRIDGES.map(async (id) => {
        const isCurrentAgain = () => isCurrent(home, id, toPercent(brightness, LEVELS));
        backMs[id].push(await waitUntil(BACK_WITHIN_MS, isCurrentAgain));
      });
      await Promise.all(back);
    }
    return { kills: count, backMs, ...(await commands.end()) };
  } finally {
    await commands.end();
    await home.close();
  }
}

async function isCurrent({ devices }: MqttHome, id: BridgeId, brightness: number) {
  const all = await devices(id);
  return all.every(({ available, state }) => available && state["brightness"] === brightness);
}

/** Sends commands at a steady rate to the lamps in turn, each with a unique number. */
class Commands {
  readonly #home: MqttHome;
  readonly #statuses: Record<string, number> = {};
  readonly #timer: NodeJS.Timeout;
  #waiting: Promise<void>[] = [];
  #sent = 0;

  constructor(home: MqttHome, lamps: readonly Device[]) {
    this.#home = home;
    this.#timer = setInterval(() => {
      const lamp = lamps[this.#sent++ % lamps.length];
      if (lamp) this.#waiting.push(this.#send(lamp.id, this.#sent));
    }, COMMAND_EVERY_MS);
  }

  async end(): Promise<Pick<BrokerCount, "commands" | "doubled" | "statuses">> {
    clearInterval(this.#timer);
    await Promise.all(this.#waiting);
    const counters = Object.values(this.#home.lamps).flatMap(({ received }) =>
      received.map(({ payload }) => payload["counter"]),
    );
    const doubled = counters.length - new Set(counters).size;
    return { commands: this.#sent, doubled, statuses: this.#statuses };
  }

  async #send(id: string, counter: number): Promise<void> {
    const { status } = await this.#home.command(id, { extra: { counter } });
    this.#statuses[status] = (this.#statuses[status] ?? 0) + 1;
  }
}

/** Reloads a bridge repeatedly while states arrive. Counts devices that vanish or flap, and lost states. */
export async function reloadUnderStates(
  home: MqttHome,
  id: BridgeId,
  { rounds, perSecond }: { readonly rounds: number; readonly perSecond: number },
) {
  const watch = new EventWatch(home.served);
  await watch.opened;
  const states = new StateStorm(home.lamps[id], perSecond);
  let failed = 0;
  for (let round = 0; round < rounds; round++) {
    if (!(await reloadBridge(home, id))) failed++;
  }
  const { sent } = states.end();
  await delay(SETTLE_MS);
  const lost = states.lost(await home.devices());
  const { vanished, unavailable, cuts, gaps } = await watch.stop();
  return { rounds, failed, sent, lost, vanished, unavailable, cuts, gaps };
}
