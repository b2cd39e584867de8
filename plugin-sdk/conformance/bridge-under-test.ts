import type { CommandBeyond, DeviceCommand, DeviceDescription, DeviceKind } from "../device.ts";

type Awaitable<T> = T | Promise<T>;

/** Reasons by native id and path, such as `{ "lamp-1 effect": "…", "fan-1 parts/light/on": "…" }`. */
export type Reasons = Readonly<Record<string, string>>;

/** A bridge with its simulated devices. */
export interface BridgeUnderTest {
  /** The plugin, as `startPlugin` returns it. */
  readonly plugin: {
    readonly devices: ReadonlyMap<string, DeviceDescription>;
    command(
      nativeId: string,
      command: DeviceCommand,
      beyond?: Partial<CommandBeyond>,
    ): Promise<void>;
  };
  /**
   * Makes a simulated device take commands without following them: it reports its old state again, if it can. The
   * returned function makes it follow what it was told meanwhile. Return `undefined` for a device that cannot do this,
   * and give the reason in `cannot`.
   */
  readonly stall?: (nativeId: string) => Awaitable<(() => Awaitable<void>) | undefined>;
  /**
   * Makes a simulated device unreachable, and reachable again. Return `false` for a device that cannot do this, and
   * give the reason in `cannot`.
   */
  readonly setReachable?: (nativeId: string, isReachable: boolean) => Awaitable<void | false>;
  /**
   * Reasons why devices are not stalled or made unreachable: `{ "stall": "…" }` for all of them, or
   * `{ "lamp-1 setReachable": "…" }` for one.
   */
  readonly cannot?: Reasons;
  /** Lets the simulated device finish what takes time after a command, such as the travel of a cover. */
  readonly settle?: (nativeId: string) => Awaitable<void>;
  /** The codes of locks and alarm systems, by native id. */
  readonly codes?: Readonly<Record<string, string>>;
  /** Capabilities that are not commanded. The rest of the device is checked. */
  readonly except?: Reasons;
  /** Settings that the device takes and never reports. They are sent, and not read back. */
  readonly untold?: Reasons;
  /** Values for settable texts of which the device takes only some, by native id and path. */
  readonly texts?: Readonly<Record<string, readonly string[]>>;
  /** Milliseconds for which a stalled command has to wait. Choose more than the bridge needs to ask for a state. */
  readonly stalledMs?: number;
  /** Milliseconds within which a report that does not belong to a command has to arrive. */
  readonly reportMs?: number;
  /** Devices that get commands at the same time. Groups are always commanded alone. */
  readonly concurrency?: number;
}

/** Something that a bridge does otherwise than every bridge has to. */
export interface ConformanceFault {
  readonly nativeId: string;
  /** The path of the capability, such as `brightness` or `parts/light/on`; empty if the fault concerns the device. */
  readonly capability: string;
  /** The required and the actual behaviour, as a phrase each. */
  readonly expected: string;
  readonly actual: string;
}

/** A capability of a device, one of its parts or its extras, and what the suite did with it. */
export interface TestedCapability {
  readonly nativeId: string;
  /** The kind of the device or part. */
  readonly kind: DeviceKind;
  /** The path of the capability, such as `brightness` or `parts/light/on`. */
  readonly capability: string;
  /**
   * `set`: every value was set and read back, or of a command the result was seen; `sent`: the bridge confirmed it and
   * nothing reports it; `read`: the device reported a value that fits.
   */
  readonly tested: "set" | "sent" | "read";
}
