import type {
  Capabilities,
  DeviceDescription,
  DeviceState,
  SceneDescription,
} from "@mantel/plugin-sdk";
import { areaParts } from "./convert-area.ts";
import { isButton } from "./convert-button.ts";
import {
  buttonPart,
  type Common,
  commonOf,
  isSensor,
  type Part,
  radioOf,
  sensorPart,
} from "./convert-device.ts";
import { lightCapabilities, lightState } from "./convert-light.ts";
import { at, idsIn, type Resource, type Resources, textAt } from "./resources.ts";

/** The content of a bridge as Mantel devices and scenes. */
export interface Described {
  readonly devices: readonly DeviceDescription[];
  readonly scenes: readonly SceneDescription[];
  /** The resources that receive commands, or are scenes, by native id. */
  readonly targets: ReadonlyMap<string, Resource>;
  /** The native ids of devices, by the ids of their buttons. */
  readonly buttons: ReadonlyMap<string, string>;
  /** The ids of the lights of each group, by the id of its target. */
  readonly members: ReadonlyMap<string, readonly string[]>;
}

const GROUPS = new Set(["room", "zone", "bridge_home"]);
const SCENES = new Set(["scene", "smart_scene"]);
const MOST_SCENES = 500;
const MOST_SERVICES = 200;

/**
 * Devices and scenes of one bridge. Lights, buttons and sensors are identified by radio address;
 * rooms, zones and scenes by their ids at that bridge. Renaming changes neither.
 */
export function describe(bridgeId: string, resources: Resources): Described {
  const home = new Home(bridgeId, resources);
  const all = resources.list();
  const parts = [
    ...all.filter(({ type }) => type === "device").flatMap((each) => home.partsOf(each)),
    ...all.filter(({ type }) => GROUPS.has(type)).flatMap((each) => home.groupOf(each)),
    ...areaParts(resources, (each) => home.idOf(each)),
  ];
  const scenes = all.filter(({ type }) => SCENES.has(type)).slice(0, MOST_SCENES);
  const targets = new Map(scenes.map((scene) => [home.idOf(scene), scene]));
  const buttons = new Map<string, string>();
  const members = new Map<string, readonly string[]>();
  for (const { device, target, services, members: lights } of parts) {
    if (target) targets.set(device.nativeId, target);
    if (target && lights) members.set(target.id, lights);
    for (const { id } of services.filter(isButton)) buttons.set(id, device.nativeId);
  }
  return {
    devices: parts.map(({ device }) => device),
    scenes: scenes.map((scene) => home.sceneOf(scene)),
    targets,
    buttons,
    members,
  };
}

/** The resources of one bridge and the links between them. */
class Home {
  readonly #bridgeId: string;
  readonly #resources: Resources;
  /** Room names by the ids of their content. */
  readonly #rooms = new Map<string, string>();
  readonly #zones = new Map<string, string[]>();
  /** Native ids by the ids of lights. */
  readonly #lights = new Map<string, string>();

  constructor(bridgeId: string, resources: Resources) {
    this.#bridgeId = bridgeId;
    this.#resources = resources;
    for (const group of resources.list()) {
      const name = textAt(group, "metadata", "name");
      const children = at(group, "children");
      if (name === undefined) continue;
      if (group.type === "room") {
        for (const id of idsIn(children, "device")) this.#rooms.set(id, name);
      } else if (group.type === "zone") {
        for (const id of [...idsIn(children, "light"), ...idsIn(children, "device")]) {
          this.#zones.set(id, [...(this.#zones.get(id) ?? []), name]);
        }
      }
    }
  }

  /**
   * Includes the bridge, because two bridges may use the same id, for example after one was
   * restored from the other.
   */
  idOf({ id }: Resource): string {
    return `${this.#bridgeId}/${id}`;
  }

  /** One part for each light of a device, one for all its buttons, one for all its sensors. */
  partsOf(device: Resource): Part[] {
    const services = this.#servicesOf(device);
    const native = radioOf(services) ?? this.idOf(device);
    const room = this.#rooms.get(device.id);
    const common = {
      ...commonOf(device, services),
      ...(room === undefined ? {} : { room }),
      groups: this.#zones.get(device.id)?.slice(0, 100) ?? [],
    };
    const lights = services.filter(({ type }) => type === "light");
    const bells = services.filter(({ type }) => type === "bell_button");
    const buttons = services.filter((each) => isButton(each) && !bells.includes(each));
    const sensors = services.filter(isSensor);
    const batteries = services.filter(({ type }) => type === "device_power");
    return [
      ...lights.map((light, index) =>
        this.#light(light, `${native}/light${index === 0 ? "" : `-${index + 1}`}`, common),
      ),
      ...(buttons.length > 0
        ? [buttonPart("button", `${native}/button`, common, [...buttons, ...batteries])]
        : []),
      ...(bells.length > 0
        ? [buttonPart("doorbell", `${native}/doorbell`, common, [...bells, ...batteries])]
        : []),
      ...(sensors.length > 0
        ? [sensorPart(`${native}/sensor`, common, [...sensors, ...batteries])]
        : []),
    ];
  }

  /** The lights of a room, a zone or the whole home as one device. */
  groupOf(owner: Resource): Part[] {
    const services = this.#servicesOf(owner);
    const target = services.find(({ type }) => type === "grouped_light");
    if (!target) return [];
    const lights = this.#lightsIn(owner);
    const own = lightCapabilities([target]);
    const { on: _on, effect: _effect, ...ofLights } = lightCapabilities(lights);
    const capabilities = { ...ofLights, ...own };
    // a group does not report its colour, so that of a light that is on is shown
    const shown = lights.find((light) => at(light, "on", "on") === true) ?? lights[0];
    const state = { ...(shown && lightState(shown, ofLights)), ...lightState(target, own) };
    const name = textAt(owner, "metadata", "name") ?? "All lights";
    const room = owner.type === "room" ? { room: name } : {};
    const device: DeviceDescription = {
      nativeId: this.idOf(owner),
      kind: "group",
      name,
      ...room,
      capabilities,
      state,
    };
    return [{ device, target, services, members: lights.map(({ id }) => id) }];
  }

  sceneOf(scene: Resource): SceneDescription {
    const room = textAt(this.#resources.get(at(scene, "group", "rid")), "metadata", "name");
    return {
      nativeId: this.idOf(scene),
      name: textAt(scene, "metadata", "name") ?? "Scene",
      ...(room === undefined ? {} : { room }),
      targets: Object.fromEntries(this.#targetsOf(scene)),
    };
  }

  #light(light: Resource, nativeId: string, common: Common): Part {
    const capabilities = lightCapabilities([light]);
    this.#lights.set(light.id, nativeId);
    const name = textAt(light, "metadata", "name");
    const zones = [...(common.groups ?? []), ...(this.#zones.get(light.id) ?? [])];
    const isPlug = textAt(light, "metadata", "archetype") === "plug";
    const device: DeviceDescription = {
      ...common,
      nativeId,
      // the lights of a device with several lights have their own names
      name: nativeId.endsWith("/light") ? common.name : (name ?? common.name),
      groups: [...new Set(zones)].slice(0, 100),
      ...(isPlug ? plugOf : lightOf)(capabilities, lightState(light, capabilities)),
    };
    return { device, target: light, services: [light] };
  }

  #servicesOf(owner: Resource): Resource[] {
    const services = at(owner, "services");
    if (!Array.isArray(services)) return [];
    return this.#all(services.slice(0, MOST_SERVICES).map((each: unknown) => at(each, "rid")));
  }

  #lightsIn(owner: Resource): Resource[] {
    const children = at(owner, "children");
    const devices = this.#all(idsIn(children, "device"));
    // other resources with rooms as children could contain themselves
    const rooms = owner.type === "bridge_home" ? this.#all(idsIn(children, "room")) : [];
    return [
      ...this.#all(idsIn(children, "light")),
      ...devices.flatMap((each) => this.#servicesOf(each)),
      ...rooms.filter(({ type }) => type === "room").flatMap((each) => this.#lightsIn(each)),
    ].filter(({ type }) => type === "light");
  }

  *#targetsOf(scene: Resource): Generator<readonly [nativeId: string, DeviceState]> {
    const actions = at(scene, "actions");
    for (const each of Array.isArray(actions) ? (actions as readonly unknown[]) : []) {
      const light = this.#resources.get(at(each, "target", "rid"));
      const nativeId = this.#lights.get(light?.id ?? "");
      if (!light || nativeId === undefined) continue;
      const state = lightState(toldIn(light, at(each, "action")), lightCapabilities([light]));
      yield [nativeId, Object.fromEntries(Object.entries(state).filter(([, v]) => v !== null))];
    }
  }

  #all(ids: readonly unknown[]): Resource[] {
    return ids.flatMap((id) => this.#resources.get(id) ?? []);
  }
}

type Shown = Pick<DeviceDescription, "kind" | "capabilities" | "state" | "extra">;

const lightOf = (capabilities: Capabilities, state: DeviceState): Shown => ({
  kind: "light",
  capabilities,
  state,
});

/** The capabilities of a plug besides `on`, such as the level of a dimmer, as extras. */
function plugOf(
  { on, ...more }: Capabilities,
  { on: isOn = null, ...moreState }: DeviceState,
): Shown {
  const extras = Object.entries(more).map(([name, capability]) => [
    name,
    { ...capability, group: "main" as const },
  ]);
  return {
    kind: "plug",
    capabilities: on ? { on } : {},
    state: on ? { on: isOn } : {},
    ...(extras.length > 0 && {
      extra: { capabilities: Object.fromEntries(extras) as never, state: moreState },
    }),
  };
}

/** The state of a light in a scene. */
function toldIn({ id, type }: Resource, action: unknown): Resource {
  const mirek = at(action, "color_temperature", "mirek");
  return {
    ...(typeof action === "object" ? action : {}),
    ...(mirek === undefined ? {} : { color_temperature: { mirek, mirek_valid: true } }),
    id,
    type,
  };
}
