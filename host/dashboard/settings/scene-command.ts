import type {
  CommandBody,
  Device,
  DeviceCommand,
  ExtraCapability,
} from "@mantel/plugin-sdk/device";

type Restored = Pick<Device, "capabilities" | "state" | "parts" | "extra">;

/**
 * The command that restores the current state of a device with its parts and main extras; settings and diagnostics
 * of a brand stay as they are. For a lamp that is off it only turns it off, since a brightness would turn it on.
 * Unknown and read-only fields are left out, and the position in a track, which is gone a second later.
 */
export function commandOf({ parts = [], extra, ...own }: Restored): CommandBody {
  const ofParts = parts
    .map((part) => [part.id, fieldsOf(part)] as const)
    .filter(([, fields]) => Object.keys(fields).length > 0);
  const ofExtra = extra ? fieldsOf(extra, isMain) : {};
  return {
    ...fieldsOf(own),
    ...(ofParts.length > 0 ? { parts: Object.fromEntries(ofParts) } : {}),
    ...(Object.keys(ofExtra).length > 0 ? { extra: ofExtra } : {}),
  };
}

function isMain(capability: Device["capabilities"][string]): boolean {
  return (capability as ExtraCapability).group === "main";
}

function fieldsOf(
  { capabilities, state }: Pick<Device, "capabilities" | "state">,
  isIncluded: (capability: Device["capabilities"][string]) => boolean = () => true,
): DeviceCommand {
  if (state["on"] === false && capabilities["on"]?.readOnly !== true) return { on: false };
  const known = Object.entries(state).filter(([field, value]) => {
    const capability = capabilities[field];
    if (value === null || capability === undefined || capability.readOnly === true) return false;
    if (field === "elapsed") return false;
    return capability.type !== "command" && isIncluded(capability);
  });
  return Object.fromEntries(known) as DeviceCommand;
}
