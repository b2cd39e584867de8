import type { DeviceCommand, DeviceDescription, DeviceUpdate } from "@mantel/plugin-sdk";
import type { MqttClient } from "@mantel/plugin-sdk/mqtt";
import { Health } from "../../../../plugin-sdk/health.ts";
import { Announcements } from "../../../../plugins/ha-discovery/announcements.ts";
import { Commands } from "../../../../plugins/ha-discovery/commands.ts";
import { DeviceStore, type Happening } from "../../../../plugins/ha-discovery/device-store.ts";
import { publishableTo } from "../../../../plugins/ha-discovery/listening.ts";
import { Payload } from "../../../../plugins/ha-discovery/payload.ts";
import { Polls } from "../../../../plugins/ha-discovery/polls.ts";
import { type FakeMessage, FakeTasmota } from "../../../fakes/tasmota.ts";
import { collectedLog } from "../../../helpers/collected-log.ts";

/** A home without a broker, in which every message arrives at once. */
export function openTasmotaHome(refused: readonly string[] = []) {
  const log = collectedLog();
  const status = { ok: () => undefined, degraded: () => undefined };
  const health = new Health<never>({ status, log }, []);
  const announcements = new Announcements({
    prefix: "homeassistant",
    hasTasmota: true,
    health,
    environment: {
      clock: { now: () => 1e9, zone: "UTC" },
      mayPublish: publishableTo("homeassistant", refused),
    },
  });
  const home = new DeviceStore();
  const fakes: FakeTasmota[] = [];
  const sent: string[] = [];
  const happenings: Happening[] = [];
  const updates: DeviceUpdate[] = [];
  const isFull = { told: 0 };
  const publish = async ({ topic, payload }: FakeMessage) => {
    sent.push(`${topic} ${payload}`);
    for (const fake of fakes) fake.receive(topic, payload);
  };
  const commands = new Commands(home, { publish } as unknown as MqttClient, (update) => {
    updates.push(update);
  });
  const polls = new Polls(home, (message) => void publish(message));
  const receive = ({ topic, payload, retain = false }: FakeMessage) => {
    if (topic.startsWith("tasmota/discovery/")) {
      if (announcements.take(topic, payload, retain)) arrange();
      return;
    }
    isFull.told += 1;
    const news = home.receive(topic, new Payload(payload, retain), 0);
    updates.push(...news.updates);
    happenings.push(...news.happenings);
    for (const { nativeId, state } of news.told) commands.told(nativeId, state);
    polls.follow(news.updates.map(({ nativeId }) => nativeId));
  };
  const arrange = () => {
    home.regroup(announcements.components);
    home.describe(false);
    polls.follow(home.nativeIds);
  };
  return {
    announcements,
    commands,
    home,
    log,
    sent,
    happenings,
    receive,
    devices: (): DeviceDescription[] => home.describe(false),
    device(nativeId: string): DeviceDescription {
      const found = home.describe(false).find((each) => each.nativeId === nativeId);
      if (found) return found;
      const ids = home.describe(false).map((each) => each.nativeId);
      throw new Error(`no ${nativeId} among ${ids.join(", ")}`);
    },
    send: (nativeId: string, command: DeviceCommand) => commands.carryOut(nativeId, command),
    add(config: ConstructorParameters<typeof FakeTasmota>[1] = {}, sensors: object = {}) {
      const fake = new FakeTasmota(receive, config, sensors as Record<string, unknown>);
      fakes.push(fake);
      fake.announce();
      return fake;
    },
  };
}

export const MAC = "DC4F2249A3BC";
/** The native id of a component of the fake device. */
export const idOf = (platform: string, id: string, mac = MAC) => `${platform}:tasmota-${mac}-${id}`;
