import type { DeviceDescription } from "../device.ts";

/** One function of a physical device, such as a relay of a power strip, described as a device of its own. */
export interface DeviceFunction {
  /** Its native id identifies the function, and never changes. It has no parts. */
  readonly device: DeviceDescription;
  /** The permanent id of the physical device. A function without one stays a device. */
  readonly group?: string | undefined;
  /** The name of the physical device; absent: that of its main function. */
  readonly groupName?: string | undefined;
  /** The name as a part; absent: the kind. The permanent id of the part is made from it. */
  readonly partName?: string | undefined;
  /** True if the readings and extras that it has are those of the whole device. */
  readonly hasReadings?: boolean;
  /** True for measured values and settings, which become values of the device instead of a part. */
  readonly isReading?: boolean;
}
