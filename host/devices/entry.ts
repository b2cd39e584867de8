import { isDeepStrictEqual } from "node:util";
import type { Cause } from "@mantel/plugin-sdk/cause";
import type { Device, DeviceDescription, DevicePart, DeviceState } from "@mantel/plugin-sdk/device";
import type { DescribedPlace } from "./overrides.ts";

/** Repeated equal reports move `lastSeenAt` only by this step, so that lists stay cached. */
const SEEN_STEP_MS = 60_000;

interface Origin {
  readonly id: string;
  readonly bridge: { readonly id: string; readonly kind: string };
  readonly nativeId: string;
  readonly described: DescribedPlace;
  readonly reachable: boolean;
  readonly gateway: string | undefined;
}
type Shown = DescribedFields & Pick<Device, "available" | "hidden">;

/** Changed fields of a device. `undefined` removes one that not every device has. */
type Fields = { -readonly [Name in keyof Device]?: Device[Name] | undefined };

/** The device after a report, and how it differs from before. */
export interface Change {
  readonly device: Device;
  /** `changed`: a field differs. `seen`: the same report counts as recent activity. `same`: neither. */
  readonly outcome: "changed" | "seen" | "same";
  /** True if its state differs: a value of it, of a part or of its extras. */
  readonly hasOtherState: boolean;
}

/** One device in the registry. */
export class DeviceEntry {
  readonly nativeId: string;
  /** True if the bridge reports that it reaches the device. */
  reachable: boolean;
  /** The name, room and groups that the bridge reports, without the user's settings. */
  described: DescribedPlace;
  /** The gateway through which the bridge reaches it, if there are several. */
  gateway: string | undefined;
  /** The cause of the last change of the state; `undefined` before the first one since the host started. */
  changedBy: Cause | undefined;
  #device: Device;
  #json: string | undefined;

  /** A new device. */
  static create(origin: Origin, fields: Shown, revision: number): DeviceEntry {
    const { id, bridge, reachable } = origin;
    const now = new Date().toISOString();
    const device = withoutAbsent({
      id,
      bridgeKind: bridge.kind,
      number: Number(id.slice(id.lastIndexOf(":") + 1)),
      bridge: bridge.id,
      ...fields,
      lastSeenAt: reachable ? now : null,
      stateChangedAt: now,
      revision,
      pending: {},
    });
    return new DeviceEntry(origin, device);
  }

  private constructor({ nativeId, described, reachable, gateway }: Origin, device: Device) {
    this.nativeId = nativeId;
    this.described = described;
    this.reachable = reachable;
    this.gateway = gateway;
    this.#device = device;
  }

  get device(): Device {
    return this.#device;
  }

  /** The device as JSON, created once for each change. */
  get json(): string {
    return (this.#json ??= JSON.stringify(this.#device));
  }

  /** Shows this device from now on. */
  show(device: Device): void {
    this.#device = device;
    this.#json = undefined;
  }

  /** The device with other fields under a revision. `seen` means that the device itself has reported. */
  with(fields: Fields, revision: number, seen: boolean): Change {
    const now = new Date();
    const differs = this.#differsFrom(fields);
    if (!differs && !(seen && this.#lastSeenBefore(now)))
      return { device: this.#device, outcome: "same", hasOtherState: false };
    const device = withoutAbsent({
      ...this.#device,
      ...fields,
      ...(seen ? { lastSeenAt: now.toISOString() } : {}),
      revision,
    });
    const hasOtherState = !isDeepStrictEqual(statesOf(this.#device), statesOf(device));
    if (hasOtherState) device.stateChangedAt = now.toISOString();
    return { device, outcome: differs ? "changed" : "seen", hasOtherState };
  }

  #differsFrom(fields: Fields): boolean {
    return Object.entries(fields).some(
      ([name, value]) => !isDeepStrictEqual(this.#device[name as keyof Device], value),
    );
  }

  #lastSeenBefore(now: Date): boolean {
    const { lastSeenAt } = this.#device;
    return lastSeenAt === null || now.getTime() - Date.parse(lastSeenAt) >= SEEN_STEP_MS;
  }
}

/** All values that a device has reported: its own, and those of its parts and extras. */
function statesOf({ state, parts, extra }: Device): unknown {
  if (!parts && !extra) return state;
  return [state, parts?.map((part) => [part.id, part.state]), extra?.state];
}

/** The fields that not every device has. */
const OPTIONAL_FIELDS = ["assumed", "image", "live", "parts", "extra"] as const;
type DescribedFields = ReturnType<typeof commonFields> &
  Pick<Fields, (typeof OPTIONAL_FIELDS)[number]>;

/** The same device without the keys of fields that it does not have. */
function withoutAbsent(device: Omit<Device, keyof Fields> & Fields): Device {
  for (const name of OPTIONAL_FIELDS) {
    if (name in device && device[name] === undefined) delete device[name];
  }
  return device as Device;
}

/**
 * The fields of a device that its bridge describes, with defaults for missing ones. Pending values of the known
 * device stay, and so does the state of one that never reports, as far as the bridge does not know it.
 */
export function describedFields(description: DeviceDescription, known?: Device): DescribedFields {
  const fields = commonFields(description);
  const { assumed } = description;
  if (!hasOptionalFields(description) && !(known && hasOptionalFields(known))) return fields;
  return {
    ...fields,
    state: assumed ? stateOr(known?.state, fields) : fields.state,
    ...optionalFields(description, known),
  };
}

function hasOptionalFields(device: Device | DeviceDescription): boolean {
  return OPTIONAL_FIELDS.some((name) => name in device);
}

function optionalFields({ assumed, image, live, parts, extra }: DeviceDescription, known?: Device) {
  const knownParts = new Map(known?.parts?.map((part) => [part.id, part]));
  const own = <Own extends Pick<DevicePart, "capabilities" | "state">>(
    fields: Own,
    before: Pick<Device, "state" | "pending"> | undefined,
  ) => ({
    ...fields,
    state: assumed ? stateOr(before?.state, fields) : fields.state,
    pending: before?.pending ?? {},
  });
  return {
    assumed: assumed ? (true as const) : undefined,
    image: image ? (true as const) : undefined,
    live: image ? live : undefined,
    parts: parts?.length ? parts.map((part) => own(part, knownParts.get(part.id))) : undefined,
    extra: extra && own(extra, known?.extra),
  };
}

/** The described state; values that it does not have are those from before. */
function stateOr(
  before: DeviceState = {},
  { capabilities, state }: Pick<DevicePart, "capabilities" | "state">,
): DeviceState {
  const kept = Object.entries(before).filter(
    ([name]) => Object.hasOwn(capabilities, name) && (state[name] ?? null) === null,
  );
  return kept.length === 0 ? state : { ...state, ...Object.fromEntries(kept) };
}

function commonFields(description: DeviceDescription) {
  const { kind, name, room = null, groups = [], info = {}, capabilities, state } = description;
  const { manufacturer = null, model = null, serial = null, firmware = null } = info;
  return {
    kind,
    name,
    room,
    groups,
    info: { manufacturer, model, serial, firmware },
    capabilities,
    state,
  } satisfies Partial<Device>;
}
