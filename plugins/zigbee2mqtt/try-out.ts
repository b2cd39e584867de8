import { MantelError, type Static, type TrialContext, type Type } from "@mantel/plugin-sdk";
import { brokerOf, type brokerOptions, MqttClient } from "@mantel/plugin-sdk/mqtt";

/** A bridge that is there has said so by then: its state and its lists are retained. */
const SILENT_MS = 5_000;
/** Retained messages arrive together; the list of devices may be long. */
const REST_MS = 500;
const LIST_BYTES = 32 * 2 ** 20;

type Options = { readonly topic: string } & Static<Type.TObject<typeof brokerOptions>>;

/**
 * Finds out whether a Zigbee2MQTT works under a topic of a broker, and says what there is.
 * @throws MantelError `broker_down`, `broker_refused`, `bridge_down`
 */
export async function tryOut(ctx: TrialContext<Options>): Promise<string> {
  const { config, call, log, onDispose } = ctx;
  const ending = new AbortController();
  const told = new Map<string, unknown>();
  return new Promise<string>((resolve, reject) => {
    const fail = (code: "broker_down" | "broker_refused" | "bridge_down", why: string) =>
      reject(new MantelError(code, why));
    const client = new MqttClient({
      broker: brokerOf(config, call),
      log,
      status: { ok: () => undefined, degraded: (reason) => fail("broker_down", reason) },
      onRefused: (sentence) => sentence !== undefined && fail("broker_refused", sentence),
    });
    const silence = setTimeout(
      () => fail("bridge_down", `no Zigbee2MQTT publishes under ${config.topic}`),
      SILENT_MS,
    );
    const take = (topic: string, payload: Buffer) => {
      told.set(topic.slice(config.topic.length + 1), parsed(payload));
      if (told.size > 1) return;
      clearTimeout(silence);
      const rest = setTimeout(() => conclude(told, resolve, fail), REST_MS);
      onDispose(() => clearTimeout(rest));
    };
    for (const name of ["state", "info", "devices"]) {
      client.subscribe(`${config.topic}/bridge/${name}`, take, { maxBytes: LIST_BYTES });
    }
    const running = client.run(ending.signal);
    onDispose(() => running);
    onDispose(() => {
      clearTimeout(silence);
      ending.abort();
    });
  });
}

function conclude(
  told: ReadonlyMap<string, unknown>,
  resolve: (found: string) => void,
  fail: (code: "bridge_down", why: string) => void,
): void {
  const { state } = (told.get("bridge/state") ?? {}) as { state?: unknown };
  const { version } = (told.get("bridge/info") ?? {}) as { version?: unknown };
  const devices = told.get("bridge/devices");
  if (state === "offline") return fail("bridge_down", "Zigbee2MQTT is offline");
  const named = typeof version === "string" ? `Zigbee2MQTT ${version.slice(0, 40)}` : "Zigbee2MQTT";
  // The coordinator is in the list, but it is not a device of the home.
  const count = Array.isArray(devices) ? Math.max(0, devices.length - 1) : 0;
  resolve(`${named} with ${count} devices`);
}

function parsed(payload: Buffer): unknown {
  try {
    return JSON.parse(payload.toString()) as unknown;
  } catch {
    return undefined;
  }
}
