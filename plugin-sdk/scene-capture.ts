import type {
  Capabilities,
  Capability,
  CommandBody,
  DeviceCommand,
  DeviceDescription,
  ExtraCapability,
} from "./device.ts";

type Captured = Pick<DeviceDescription, "capabilities" | "state" | "parts" | "extra">;

/**
 * The command that restores the current state of a device with its parts and main extras; settings and diagnostics
 * of a brand stay as they are. For a lamp that is off it only turns it off, since a brightness would turn it on.
 * Unknown and read-only fields are left out, and the position in a track, which is gone a second later.
 */
export function capturedCommand({ parts = [], extra, ...own }: Captured): CommandBody {
  const ofParts = parts
    .map((part) => [part.id, fieldsOf(part)] as const)
    .filter(([, fields]) => Object.keys(fields).length > 0);
  const ofExtra = extra ? fieldsOf({ ...extra, capabilities: mainOf(extra.capabilities) }) : {};
  return {
    ...fieldsOf(own),
    ...(ofParts.length > 0 ? { parts: Object.fromEntries(ofParts) } : {}),
    ...(Object.keys(ofExtra).length > 0 ? { extra: ofExtra } : {}),
  };
}

function mainOf(capabilities: Readonly<Record<string, ExtraCapability>>): Capabilities {
  return Object.fromEntries(
    Object.entries(capabilities).filter(([, { group }]) => group === "main"),
  );
}

function fieldsOf({
  capabilities,
  state,
}: Pick<Captured, "capabilities" | "state">): DeviceCommand {
  const capability = (field: string): Capability | undefined => capabilities[field];
  if (state["on"] === false && capability("on")?.readOnly !== true) return { on: false };
  const known = Object.entries(state).filter(([field, value]) => {
    const { type, readOnly } = capability(field) ?? { readOnly: true };
    return value !== null && field !== "elapsed" && type !== "command" && readOnly !== true;
  });
  return Object.fromEntries(known) as DeviceCommand;
}
