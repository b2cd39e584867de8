import type {
  CommandBeyond,
  CommandBody,
  DeviceCommand,
  DeviceDescription,
  DeviceState,
  DeviceUpdate,
} from "../device.ts";
import { MantelError } from "../errors.ts";
import {
  type Composition,
  Compositions,
  mostImportant,
  type StoredCompositions,
} from "./compositions.ts";
import type { DeviceFunction } from "./device-function.ts";
import {
  EXTRA,
  type FunctionCommand,
  type FunctionValues,
  JoinedDevice,
  OWN,
} from "./joined-device.ts";

export type { DeviceFunction } from "./device-function.ts";
export { areCompositions, importanceOf, type StoredCompositions } from "./compositions.ts";
export type { FunctionCommand } from "./joined-device.ts";

interface Dependencies {
  /** The compositions that the bridge has stored or was handed over; absent at the very first start. */
  readonly stored?: StoredCompositions | undefined;
  /** Ids of functions that were published as devices by a version of the bridge that stored nothing. */
  readonly published?: Iterable<string>;
}

interface Present {
  readonly state: DeviceState;
  readonly extra: DeviceState;
  readonly available: boolean;
}

/**
 * Joins the functions of physical devices: the most important function is the device, others with a kind of their own
 * are its parts, and readings are its values. Alike switches, plugs and lamps are all parts. A device that was published
 * function by function before stays as it is.
 */
export class JoinedDevices {
  readonly #compositions: Compositions;
  readonly #byNativeId = new Map<string, JoinedDevice>();
  readonly #byFunction = new Map<string, JoinedDevice>();
  #present = new Map<string, Present>();

  constructor({ stored = {}, published = [] }: Dependencies) {
    this.#compositions = new Compositions(stored, published);
  }

  /** The compositions of the devices, to be stored with them. */
  get stored(): StoredCompositions {
    return this.#compositions.stored;
  }

  /** Grows when `stored` has changed. */
  get revision(): number {
    return this.#compositions.revision;
  }

  /**
   * The id of the function that a physical device is or will be, of those in the order of their importance; `undefined`
   * if its functions stay devices.
   */
  mainOf(group: string, functionIds: readonly string[]): string | undefined {
    return this.#compositions.mainOf(group, functionIds);
  }

  /** The devices of all functions, which are in the order of their importance. */
  join(functions: readonly DeviceFunction[]): DeviceDescription[] {
    this.#present = new Map(functions.map(({ device }) => [device.nativeId, presentOf(device)]));
    this.#byNativeId.clear();
    this.#byFunction.clear();
    const groups = new Map<string, DeviceFunction[]>();
    for (const each of functions) {
      const { group = `alone:${each.device.nativeId}` } = each;
      const members = groups.get(group);
      if (members) members.push(each);
      else groups.set(group, [each]);
    }
    this.#compositions.keep(new Set(groups.keys()));
    return [...groups.values()].flatMap((members) => this.#devicesOf(members));
  }

  /** The changes of functions as changes of their devices. */
  updates(changes: readonly DeviceUpdate[]): DeviceUpdate[] {
    return changes.flatMap((change) => {
      const { nativeId, state = {}, extra = {}, available } = change;
      const before = this.#present.get(nativeId);
      if (!before) return [];
      const now = {
        state: { ...before.state, ...state },
        extra: { ...before.extra, ...extra },
        available: available ?? before.available,
      };
      const joined = this.#byFunction.get(nativeId);
      this.#present.set(nativeId, now);
      if (!joined) return [change];
      if (now.available === before.available) {
        return this.#isShown(joined, now) ? [joined.updateOf([nativeId], () => change)] : [];
      }
      const ids = joined.functions.map(({ device }) => device.nativeId);
      const values = joined.updateOf(ids, (id) => this.#valuesOf(joined, id));
      return [{ ...values, available: this.#isAvailable(joined) }];
    });
  }

  /**
   * A command to a device, by the functions that carry it out.
   * @throws MantelError `invalid` if no function of a joined device takes it
   */
  shares(nativeId: string, command: DeviceCommand, beyond: CommandBeyond): FunctionCommand[] {
    const joined = this.#byNativeId.get(nativeId);
    if (!joined) return [{ nativeId, command, extra: beyond.extra }];
    const { parts, extra } = beyond;
    const sections = new Map([[OWN, command], [EXTRA, extra], ...Object.entries(parts)]);
    const shares = joined.sharesOf(sections);
    if (shares.length > 0) return shares;
    throw new MantelError("invalid", `${nativeId}: no function takes the command`);
  }

  /** Commands to functions, such as those of a scene, as commands to their devices. */
  commands(byFunction: Readonly<Record<string, DeviceCommand>>): Record<string, CommandBody> {
    const byDevice = new Map<
      string,
      { own: DeviceCommand; parts: Record<string, DeviceCommand> }
    >();
    for (const [id, command] of Object.entries(byFunction)) {
      const joined = this.#byFunction.get(id);
      const whole = byDevice.get(joined?.nativeId ?? id) ?? { own: {}, parts: {} };
      byDevice.set(joined?.nativeId ?? id, whole);
      const sections = joined?.commandOf(id, command) ?? new Map([[OWN, command]]);
      for (const [section, values] of sections) {
        if (section === OWN) whole.own = { ...whole.own, ...values };
        else if (section !== EXTRA) whole.parts[section] = values;
      }
    }
    return Object.fromEntries(
      [...byDevice].map(([id, { own, parts }]) => [
        id,
        Object.keys(parts).length > 0 ? { ...own, parts } : own,
      ]),
    );
  }

  /** The id of the device that a function belongs to. */
  deviceOf(functionId: string): string {
    return this.#byFunction.get(functionId)?.nativeId ?? functionId;
  }

  /** The id of the function that has the picture of a device. */
  picturedIn(nativeId: string): string | undefined {
    const joined = this.#byNativeId.get(nativeId);
    return joined ? joined.pictured : nativeId;
  }

  #devicesOf(members: readonly DeviceFunction[]): DeviceDescription[] {
    const group = members[0]?.group;
    const composition = group === undefined ? undefined : this.#compositions.of(group, members);
    const joined = composition && joinedOf(composition, members);
    if (!joined) return members.map(({ device }) => device);
    this.#byNativeId.set(joined.nativeId, joined);
    for (const { device } of joined.functions) this.#byFunction.set(device.nativeId, joined);
    const alone = members.filter((each) => !joined.functions.includes(each));
    const valuesOf = (functionId: string) => this.#valuesOf(joined, functionId);
    return [
      joined.describe(valuesOf, this.#isAvailable(joined)),
      ...alone.map(({ device }) => device),
    ];
  }

  /** While the rest of a device can be reached, a function that cannot be reached has no known values. */
  #valuesOf(joined: JoinedDevice, functionId: string): FunctionValues {
    const present = this.#present.get(functionId);
    if (!present) return {};
    if (this.#isShown(joined, present)) return present;
    return { state: unknown(present.state), extra: unknown(present.extra) };
  }

  #isShown(joined: JoinedDevice, { available }: Present): boolean {
    return available || !this.#isAvailable(joined);
  }

  /** True if a function of the device can be reached. Readings do not count beside others. */
  #isAvailable({ functions }: JoinedDevice): boolean {
    const leading = functions.filter(({ isReading }) => !isReading);
    const counting = leading.length > 0 ? leading : functions;
    return counting.some(({ device }) => this.#present.get(device.nativeId)?.available);
  }
}

/** The functions as one device; `undefined` if they stay devices. */
function joinedOf(
  composition: Composition,
  members: readonly DeviceFunction[],
): JoinedDevice | undefined {
  if ("isSeparate" in composition) return undefined;
  const { id, hasMain, names } = composition;
  if (hasMain && members.length === 1) return undefined;
  const byId = new Map(members.map((each) => [each.device.nativeId, each]));
  const first = byId.get(id) ?? mostImportant(members);
  if (!first) return undefined;
  const joined = new JoinedDevice(hasMain ? first.device.nativeId : id, first);
  if (hasMain) joined.addMain(first);
  for (const [functionId, name] of Object.entries(names)) {
    const of = byId.get(functionId);
    if (of && !joined.functions.includes(of)) joined.add(of, name);
  }
  return joined;
}

const presentOf = ({ state, extra, available = true }: DeviceDescription): Present => ({
  state,
  extra: extra?.state ?? {},
  available,
});

const unknown = (state: DeviceState): DeviceState =>
  Object.fromEntries(Object.keys(state).map((name) => [name, null]));
