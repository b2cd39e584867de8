import { type Common, type Part, sensorPart } from "./convert-device.ts";
import { at, type Resource, type Resources, textAt } from "./resources.ts";

const GROUPED = new Set(["grouped_motion", "grouped_light_level"]);
const AREA_MOTION = new Set(["convenience_area_motion", "security_area_motion"]);

/**
 * Sensors without a device: all sensors of a room, a zone or the home together, and the motion areas that a bridge
 * makes of lights.
 */
export function areaParts(resources: Resources, idOf: (resource: Resource) => string): Part[] {
  const all = resources.list();
  const motions = new Map<unknown, Resource[]>();
  for (const motion of all.filter(({ type }) => AREA_MOTION.has(type))) {
    const area = at(motion, "owner", "rid");
    const known = motions.get(area);
    if (known) known.push(motion);
    else motions.set(area, [motion]);
  }
  return all.flatMap((each) => {
    if (GROUPED.has(each.type)) {
      const owner = resources.get(at(each, "owner", "rid"));
      return [sensorPart(idOf(each), placeOf(owner, textAt(owner, "metadata", "name")), [each])];
    }
    if (each.type !== "motion_area_configuration") return [];
    const group = resources.get(at(each, "group", "rid"));
    const motion = reportingOf(each, motions.get(each.id) ?? []);
    return [sensorPart(idOf(each), placeOf(group, textAt(each, "name")), [motion])];
  });
}

function placeOf(group: Resource | undefined, name: string | undefined): Common {
  const room = group?.type === "room" ? textAt(group, "metadata", "name") : undefined;
  return { name: name ?? "All sensors", ...(room === undefined ? {} : { room }) };
}

/**
 * The motion that an area reports. It has two services of which one may be enabled and never change, so the latest
 * change counts. An area that is switched off says so itself, and not in its services.
 */
function reportingOf(area: Resource, motions: readonly Resource[]): Resource {
  const isOff = at(area, "enabled") === false || at(area, "health") === "not_running";
  const enabled = isOff ? [] : motions.filter((motion) => at(motion, "enabled") !== false);
  const changedAt = (motion: Resource) =>
    textAt(motion, "motion", "motion_report", "changed") ?? "";
  const [latest] = enabled.toSorted((a, b) => changedAt(b).localeCompare(changedAt(a)));
  return latest ?? { id: area.id, type: "convenience_area_motion" };
}
