import { AssertionError } from "node:assert";
import type { BridgeUnderTest, ConformanceFault, TestedCapability } from "./bridge-under-test.ts";
import { checkDescription } from "./description.ts";
import { DeviceSession } from "./device-session.ts";
import { Explanations } from "./explanations.ts";
import { checkRoundTrips } from "./round-trips.ts";
import { checkScene } from "./scenes.ts";
import { checkStalled } from "./stalled.ts";

export type { BridgeUnderTest, ConformanceFault, TestedCapability } from "./bridge-under-test.ts";

const CONCURRENCY = 8;

/**
 * Checks that a bridge behaves as every bridge has to, with all its devices. Devices that are unavailable at the start
 * get no commands. Resolves with what was tested of each capability.
 * @throws AssertionError with every fault: device, capability, what is expected and what is
 */
export async function assertConforms(bridge: BridgeUnderTest): Promise<TestedCapability[]> {
  const { faults, tested } = await check(bridge);
  if (faults.length === 0) return tested;
  const { devices } = bridge.plugin;
  const lines = faults.map(({ nativeId, capability, expected, actual }) => {
    const { kind, name } = devices.get(nativeId) ?? { kind: "device", name: "" };
    const of = capability === "" ? "" : `, ${capability}`;
    return `- ${kind} ${nativeId} "${name}"${of}: expected ${expected}; actual ${actual}`;
  });
  const message = `the bridge does not conform, ${lines.length} faults:\n${lines.join("\n")}`;
  throw new AssertionError({ message, operator: "assertConforms", actual: faults, expected: [] });
}

/** The faults as a list, empty if the bridge conforms. */
export async function conformanceFaults(bridge: BridgeUnderTest): Promise<ConformanceFault[]> {
  const { faults } = await check(bridge);
  return faults;
}

async function check(bridge: BridgeUnderTest) {
  const explanations = new Explanations(bridge);
  const devices = [...bridge.plugin.devices.values()];
  const sessions = devices.map(({ nativeId }) => new DeviceSession(bridge, nativeId, explanations));
  for (const session of sessions) checkDescription(session);
  const active = sessions.filter(({ device }) => device.available !== false);
  // they change what other devices show, and are tested one by one
  const groups = active.filter(
    ({ device: { kind, capabilities } }) => kind === "group" || capabilities["group"] !== undefined,
  );
  const single = active.filter((session) => !groups.includes(session));
  await Promise.all(
    Array.from({ length: bridge.concurrency ?? CONCURRENCY }, async () => {
      for (let next = single.shift(); next; next = single.shift()) await checkDevice(next);
    }),
  );
  for (const group of groups) await checkDevice(group);
  for (const session of active) await session.run(checkAvailability);
  return {
    faults: [...sessions.flatMap(({ faults }) => faults), ...explanations.unusedFaults()],
    tested: sessions.flatMap(({ tested }) => tested),
  };
}

async function checkDevice(session: DeviceSession): Promise<void> {
  noteReadings(session);
  for (const each of [checkRoundTrips, checkStalled, checkScene]) await session.run(each);
  noteReadings(session);
}

/** Notes what the device reports now. */
function noteReadings(session: DeviceSession): void {
  for (const each of session.functions) {
    for (const [name, value] of Object.entries(each.state)) {
      if (value !== null && Object.hasOwn(each.capabilities, name))
        session.note(each, name, "read");
    }
  }
}

async function checkAvailability(session: DeviceSession): Promise<void> {
  const { bridge, nativeId } = session;
  if (!bridge.setReachable) return session.cannot("setReachable");
  for (const isReachable of [false, true]) {
    if ((await bridge.setReachable(nativeId, isReachable)) === false) {
      return session.cannot("setReachable");
    }
    const follows = () => (session.device.available !== false) === isReachable;
    if (await session.eventually(follows)) continue;
    const what = isReachable ? "is reachable again" : "is unreachable";
    session.fault("", `available ${isReachable} once the device ${what}`, `it is ${!isReachable}`);
  }
}
