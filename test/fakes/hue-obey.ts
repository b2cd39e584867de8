import type { FakeResource } from "./hue-home.ts";

type Change = readonly [id: string, change: Record<string, unknown>];
type Body = Readonly<Record<string, unknown>>;

/** A bridge's reaction to a PUT: its changes, or its objections. */
export function obey(
  resources: ReadonlyMap<string, FakeResource>,
  resource: FakeResource,
  body: Body,
): { changes: Change[]; errors: string[] } {
  if (resource.type === "scene") return { changes: recall(resources, resource), errors: [] };
  if (resource.type === "smart_scene")
    return { changes: [[resource.id, { state: "active" }]], errors: [] };
  if (resource.type === "grouped_light")
    return { changes: groupChange(resources, resource, body), errors: [] };
  const unknown = Object.keys(body).filter((key) => !(key in resource));
  if (unknown.length > 0)
    return { changes: [], errors: [`invalid value, '${unknown[0]}' is not supported`] };
  return { changes: [[resource.id, lightChange(body)]], errors: troubles(resources, resource) };
}

/** A light that the bridge does not reach takes the change at best. */
function troubles(resources: ReadonlyMap<string, FakeResource>, light: FakeResource): string[] {
  const { rid } = light["owner"] as { rid: string };
  const [radio] = servicesOf(resources, rid, "zigbee_connectivity");
  return radio?.["status"] === "connected"
    ? []
    : [`device (light) ${light.id} has communication issues, command may not have effect`];
}

function servicesOf(
  resources: ReadonlyMap<string, FakeResource>,
  deviceId: string,
  type: string,
): FakeResource[] {
  const owned = [...resources.values()].filter((each) => each.type === type);
  return owned.filter(({ owner }) => (owner as { rid?: string } | undefined)?.rid === deviceId);
}

function lightChange({ on, dimming, color, color_temperature, effects }: Body) {
  const brightness = (dimming as { brightness: number } | undefined)?.brightness;
  const mirek = (color_temperature as { mirek: number } | undefined)?.mirek;
  return {
    ...(on ? { on } : {}),
    // a lamp has 254 steps
    ...(brightness === undefined
      ? {}
      : { dimming: { brightness: Math.max(0.2, Math.round(brightness * 2.54) / 2.54) } }),
    ...(mirek === undefined ? {} : { color_temperature: { mirek, mirek_valid: true } }),
    ...(color ? { color, color_temperature: { mirek: null, mirek_valid: false } } : {}),
    ...(effects ? { effects: { ...effects, status: (effects as { effect: string }).effect } } : {}),
  };
}

function groupChange(
  resources: ReadonlyMap<string, FakeResource>,
  group: FakeResource,
  body: Body,
): Change[] {
  const owner = resources.get((group["owner"] as { rid: string }).rid);
  const children = (owner?.["children"] ?? []) as { rid: string; rtype: string }[];
  const lights = children.flatMap(({ rid, rtype }) =>
    rtype === "light" ? [rid] : servicesOf(resources, rid, "light").map(({ id }) => id),
  );
  const members: Change[] = lights.map((id) => [id, lightChange(body)]);
  const { on, dimming } = body;
  return [...members, [group.id, { ...(on ? { on } : {}), ...(dimming ? { dimming } : {}) }]];
}

function recall(resources: ReadonlyMap<string, FakeResource>, scene: FakeResource): Change[] {
  const actions = scene["actions"] as { target: { rid: string }; action: Body }[];
  const changes: Change[] = actions
    .filter(({ target }) => resources.has(target.rid))
    .map(({ target, action }) => [target.rid, lightChange(action)]);
  return [...changes, [scene.id, { status: { active: "static" } }]];
}
