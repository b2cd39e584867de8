import type { DeviceKind } from "@mantel/plugin-sdk";
import { type Domain, onOff, SWITCH } from "./domain.ts";

/** `switch` and `input_boolean`. */
export const toggle: Domain = {
  describe(entity) {
    const kind: DeviceKind = entity.attributes["device_class"] === "outlet" ? "plug" : "switch";
    return { kind, capabilities: { on: SWITCH }, state: { on: onOff(entity) } };
  },
  calls: ({ on }, { domain }) => [{ service: `${domain}.turn_${on === true ? "on" : "off"}` }],
};
