import type { Device } from "@mantel/plugin-sdk/device";

/** A device as the HTTP API shows it: a lamp of no room that is off, but for what `change` says. */
export function deviceOf(change: Partial<Device> = {}): Device {
  const { kind = "light", number = 1 } = change;
  return {
    id: `demo:${kind}:${number}`,
    bridgeKind: "demo",
    kind,
    number,
    bridge: "demo-home",
    name: "Thing",
    room: null,
    groups: [],
    info: { manufacturer: null, model: null, serial: null, firmware: null },
    available: true,
    lastSeenAt: null,
    stateChangedAt: null,
    revision: 1,
    capabilities: { on: { type: "boolean" } },
    state: { on: false },
    pending: {},
    ...change,
  };
}
