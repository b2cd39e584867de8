import { MantelError, type TrialContext, withDeadline } from "@mantel/plugin-sdk";
import { brokerOf, MqttClient } from "@mantel/plugin-sdk/mqtt";
import { discoveryFilters } from "./discovery.ts";
import { TASMOTA_FILTERS } from "./tasmota/components.ts";

const CONNECT_MS = 8_000;
const LISTEN_MS = 1_500;

type Config = Parameters<typeof brokerOf>[0] & {
  readonly prefix: string;
  readonly tasmota: boolean;
};

/**
 * Connects once, and counts who has announced itself there.
 * @throws MantelError `broker_down` and `broker_refused` with the reason, `deadline_passed`
 */
export async function tryBroker(ctx: TrialContext<Config>): Promise<string> {
  const { config, call, log, signal, onDispose } = ctx;
  const announced = new Set<string>();
  let reached: () => void = () => undefined;
  let failed: (error: MantelError) => void = () => undefined;
  const connected = new Promise<void>((...settle) => ([reached, failed] = settle));
  const client = new MqttClient({
    broker: brokerOf(config, call),
    log,
    status: {
      ok: () => undefined,
      degraded: (reason) => failed(new MantelError("broker_down", reason)),
    },
    onRefused: (sentence) => sentence && failed(new MantelError("broker_refused", sentence)),
    onConnected: () => reached(),
  });
  const filters = [...discoveryFilters(config.prefix), ...(config.tasmota ? TASMOTA_FILTERS : [])];
  for (const filter of filters) {
    client.subscribe(filter, (topic, payload) => payload.length > 0 && announced.add(topic));
  }
  const end = new AbortController();
  signal.addEventListener("abort", () => end.abort());
  const running = client.run(end.signal);
  onDispose(async () => {
    end.abort();
    await running;
  });
  await withDeadline(connected, CONNECT_MS, "reaching the broker");
  await new Promise((resolve) => setTimeout(resolve, LISTEN_MS));
  const below = `below ${config.prefix}${config.tasmota ? " or tasmota/discovery" : ""}`;
  return announced.size === 0
    ? `the broker is there; nothing has announced itself ${below}`
    : `the broker is there; ${announced.size} announcements ${below}`;
}
