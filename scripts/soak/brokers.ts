import { setTimeout as delay } from "node:timers/promises";
import type { Device } from "@mantel/plugin-sdk/device";
import { EventWatch } from "../bench/shared/event-watch.ts";
import {
  openZigbeeHouse,
  reloadBridge,
  StateStorm,
  within,
  type ZigbeeHouse,
} from "../bench/shared/zigbee-house.ts";

const LAMPS = 20;
const LONGEST_OUTAGE_MS = 800;
const BACK_WITHIN_MS = 15_000;
const COMMAND_EVERY_MS = 50;
const LEVELS = 254;
const SLIDER_CHANGES = 300;
const SLIDER_MS = 3_000;
const SETTLE_MS = 2_000;

/** What a run of killed brokers has shown. */
export interface BrokerCount {
  readonly kills: number;
  /** From the broker's return until every lamp is available and as it became meanwhile. */
  readonly backMs: readonly number[];
  readonly commands: number;
  /** Commands that reached a lamp more than once. */
  readonly doubled: number;
  /** Statuses of the commands that came meanwhile. */
  readonly statuses: Readonly<Record<string, number>>;
}

/** Kills a broker with SIGKILL again and again under commands, over TLS with passwords and ACL. */
export async function killBrokers(count: number): Promise<BrokerCount> {
  const house = await openZigbeeHouse(LAMPS);
  const backMs: number[] = [];
  const commands = new Commands(house, await house.devices());
  try {
    for (let kill = 0; kill < count; kill++) {
      await house.broker.stop();
      await delay(Math.random() * LONGEST_OUTAGE_MS);
      const counter = kill + 1;
      for (const { friendly_name } of house.fake.devices)
        house.fake.become(friendly_name, { counter });
      await house.broker.start();
      backMs.push(await within(BACK_WITHIN_MS, () => isCurrent(house, counter)));
    }
    return { kills: count, backMs, ...(await commands.end()) };
  } finally {
    await commands.end();
    await house.close();
  }
}

async function isCurrent({ devices }: ZigbeeHouse, counter: number): Promise<boolean> {
  const all = await devices();
  return all.every(({ available, state }) => available && state["counter"] === counter);
}

/** Commands at a steady rate, each to a lamp and a level that no other one names. */
class Commands {
  readonly #house: ZigbeeHouse;
  readonly #statuses: Record<string, number> = {};
  readonly #timer: NodeJS.Timeout;
  #waiting: Promise<void>[] = [];
  #sent = 0;

  constructor(house: ZigbeeHouse, lamps: readonly Device[]) {
    this.#house = house;
    this.#timer = setInterval(() => {
      const lamp = lamps[this.#sent % lamps.length];
      const level = 1 + (Math.floor(this.#sent++ / lamps.length) % LEVELS);
      if (lamp) this.#waiting.push(this.#send(lamp.id, (level / LEVELS) * 100));
    }, COMMAND_EVERY_MS);
  }

  async end(): Promise<Pick<BrokerCount, "commands" | "doubled" | "statuses">> {
    clearInterval(this.#timer);
    await Promise.all(this.#waiting);
    const told = this.#house.fake.received.map((each) => JSON.stringify(each));
    const doubled = told.length - new Set(told).size;
    const again = Math.max(0, this.#sent - LAMPS * LEVELS); // by then levels come round
    return {
      commands: this.#sent,
      doubled: Math.max(0, doubled - again),
      statuses: this.#statuses,
    };
  }

  async #send(id: string, brightness: number): Promise<void> {
    const status = await command(this.#house, id, { brightness });
    this.#statuses[status.status] = (this.#statuses[status.status] ?? 0) + 1;
  }
}

interface Answer {
  readonly status: number;
  readonly retryAfter: string | null;
  readonly retryAfterMs: number | undefined;
}

async function command({ api }: ZigbeeHouse, id: string, body: object): Promise<Answer> {
  const path = `/smart-home/devices/${id}/command`;
  const response = await api(path, { method: "POST", body: JSON.stringify(body) });
  const { retryAfterMs } = (await response.json()) as { retryAfterMs?: number };
  return { status: response.status, retryAfter: response.headers.get("retry-after"), retryAfterMs };
}

/** Moves one lamp's slider 300 times in three seconds: what callers see, and what the lamp gets. */
export async function slide(house: ZigbeeHouse) {
  const [lamp] = await house.devices();
  const before = house.fake.received.length;
  const startedAt = performance.now();
  const answers: Promise<Answer>[] = [];
  for (let at = 1; at <= SLIDER_CHANGES; at++) {
    answers.push(command(house, lamp?.id ?? "", { brightness: (at / SLIDER_CHANGES) * 100 }));
    const dueAt = startedAt + (at / SLIDER_CHANGES) * SLIDER_MS;
    await delay(Math.max(0, dueAt - performance.now()));
  }
  const all = await Promise.all(answers);
  const elapsedMs = performance.now() - startedAt;
  const told = house.fake.received.slice(before);
  return {
    elapsedMs,
    told: told.length,
    /** Levels are 0 to 254; the slider ends at the top. */
    last: told.at(-1)?.payload["brightness"],
    others: all.filter(({ status }) => status !== 200 && status !== 409).length,
    wrongRetryAfter: all.filter((each) => each.status === 409 && !isRight(each)).length,
  };
}

function isRight({ retryAfter, retryAfterMs = 0 }: Answer): boolean {
  return retryAfterMs > 0 && Number(retryAfter) === Math.max(1, Math.ceil(retryAfterMs / 1_000));
}

/** Reloads the bridge again and again while states come: what vanishes, flaps or is lost. */
export async function reloadUnderStates(house: ZigbeeHouse, rounds: number, perSecond: number) {
  const watch = new EventWatch(house.served);
  await watch.opened;
  const states = new StateStorm(house.fake, perSecond);
  for (let round = 0; round < rounds; round++) await reloadBridge(house);
  const { sent } = states.end();
  await delay(SETTLE_MS);
  const lost = states.lost(await house.devices());
  const { vanished, unavailable, cuts, gaps } = await watch.stop();
  return { rounds, sent, lost, vanished, unavailable, cuts, gaps };
}
