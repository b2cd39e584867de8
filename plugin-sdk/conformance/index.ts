import { AssertionError } from "node:assert";
import type { BridgeUnderTest, ConformanceFault } from "./bridge-under-test.ts";
import { checkDescription } from "./description.ts";
import { DeviceSession } from "./device-session.ts";
import { checkRoundTrips } from "./round-trips.ts";
import { checkScene } from "./scenes.ts";
import { checkStalled } from "./stalled.ts";

export type { BridgeUnderTest, ConformanceFault } from "./bridge-under-test.ts";

const CONCURRENCY = 8;

/**
 * Checks that a bridge behaves as every bridge has to, with all its devices. Devices that are unavailable at the start
 * get no commands.
 * @throws AssertionError with every fault: device, capability, what is expected and what is
 */
export async function assertConforms(bridge: BridgeUnderTest): Promise<void> {
  const faults = await conformanceFaults(bridge);
  if (faults.length === 0) return;
  const { devices } = bridge.plugin;
  const lines = faults.map(({ nativeId, capability, expected, actual }) => {
    const { kind, name } = devices.get(nativeId) ?? { kind: "device", name: "" };
    const of = capability === "" ? "" : `, ${capability}`;
    return `- ${kind} ${nativeId} "${name}"${of}: expected ${expected}; actual ${actual}`;
  });
  const message = `the bridge does not conform, ${lines.length} faults:\n${lines.join("\n")}`;
  throw new AssertionError({ message, operator: "assertConforms", actual: faults, expected: [] });
}

/** The same as a list, empty if the bridge conforms. */
export async function conformanceFaults(bridge: BridgeUnderTest): Promise<ConformanceFault[]> {
  const used = new Set<string>();
  const excepted = (key: string) => {
    if (!Object.hasOwn(bridge.except ?? {}, key)) return false;
    used.add(key);
    return true;
  };
  const devices = [...bridge.plugin.devices.values()];
  const sessions = devices.map(({ nativeId }) => new DeviceSession(bridge, nativeId, excepted));
  for (const session of sessions) checkDescription(session);
  const active = sessions.filter(({ device }) => device.available !== false);
  const groups = active.filter(({ device }) => device.kind === "group");
  const single = active.filter((session) => !groups.includes(session));
  await Promise.all(
    Array.from({ length: bridge.concurrency ?? CONCURRENCY }, async () => {
      for (let next = single.shift(); next; next = single.shift()) await checkDevice(next);
    }),
  );
  for (const group of groups) await checkDevice(group);
  for (const session of active) await session.run(checkAvailability);
  const unused = Object.keys(bridge.except ?? {}).filter((key) => !used.has(key));
  return [...sessions.flatMap(({ faults }) => faults), ...unused.map(unusedFault)];
}

async function checkDevice(session: DeviceSession): Promise<void> {
  for (const check of [checkRoundTrips, checkStalled, checkScene]) await session.run(check);
}

async function checkAvailability(session: DeviceSession): Promise<void> {
  const { bridge, nativeId } = session;
  for (const isReachable of [false, true]) {
    if ((await bridge.setReachable?.(nativeId, isReachable)) === false || !bridge.setReachable)
      return;
    const follows = () => (session.device.available !== false) === isReachable;
    if (await session.eventually(follows)) continue;
    const what = isReachable ? "is reachable again" : "is unreachable";
    session.fault("", `available ${isReachable} once the device ${what}`, `it is ${!isReachable}`);
  }
}

function unusedFault(key: string): ConformanceFault {
  const [nativeId = "", capability = ""] = key.split(" ");
  const expected = "a setting or command of a device for each exception";
  return { nativeId, capability, expected, actual: "nothing has this name" };
}
