import type {
  Capabilities,
  CommandBeyond,
  DeviceCommand,
  DeviceDescription,
  DeviceKind,
  DeviceState,
} from "../device.ts";

/** A command to a device, its parts and its extras. */
export interface WholeCommand {
  readonly command: DeviceCommand;
  readonly beyond: CommandBeyond;
}

/** One function of a device: the device itself, one of its parts, or its extras. */
export interface DeviceFunction {
  /** Begins the path of its capabilities: empty, `parts/light/` or `extra/`. */
  readonly path: string;
  readonly kind: DeviceKind;
  readonly capabilities: Capabilities;
  readonly state: DeviceState;
  /** Its values as a command to the device. */
  readonly toCommand: (values: DeviceCommand) => WholeCommand;
}

export function functionsOf(device: DeviceDescription): DeviceFunction[] {
  const { kind, capabilities, state, parts = [], extra } = device;
  const toCommand = (
    change: Partial<CommandBeyond> & { command?: DeviceCommand },
  ): WholeCommand => {
    const { command = {}, ...beyond } = change;
    return { command, beyond: { parts: {}, extra: {}, ...beyond } };
  };
  return [
    { path: "", kind, capabilities, state, toCommand: (command) => toCommand({ command }) },
    ...parts.map(({ id, ...part }): DeviceFunction => ({
      ...part,
      path: `parts/${id}/`,
      toCommand: (values) => toCommand({ parts: { [id]: values } }),
    })),
    ...(extra
      ? [
          {
            ...extra,
            path: "extra/",
            kind,
            toCommand: (values: DeviceCommand) => toCommand({ extra: values }),
          },
        ]
      : []),
  ];
}
