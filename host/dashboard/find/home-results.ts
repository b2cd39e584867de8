import type { Device } from "@mantel/plugin-sdk/device";
import { iconOf } from "@mantel/plugin-sdk/ui/device-icon";
import type { Scene } from "@mantel/plugin-sdk/widget";
import type { Page } from "../layout.ts";
import type { DetailsTarget } from "../widget-context.ts";
import { fitOf, folded } from "./match.ts";
import { words } from "./words.ts";

/** One thing that was found. */
export interface Result {
  readonly title: string;
  /** Where it is, or what it is. */
  readonly place: string;
  readonly icon: string;
  readonly opens:
    | { readonly details: DetailsTarget }
    | { readonly scene: string }
    | { readonly address: string; readonly row?: string };
}

/** The things of a home that can be found. */
export interface FoundIn {
  readonly devices: readonly Device[];
  readonly scenes: readonly Scene[];
  readonly pages: readonly Page[];
}

/** All things of a home whose name, or whose room, contains a text. The best come first. */
export function findInHome(text: string, home: FoundIn): readonly Result[] {
  const sought = folded(text.trim());
  if (sought === "") return [];
  const found = [...placesIn(home), ...devicesIn(home), ...scenesIn(home), ...pagesIn(home)];
  return found
    .flatMap((result) => {
      const fit = fitOf(result.title, sought);
      if (fit !== undefined) return [{ result, rank: fit }];
      const isThere = "details" in result.opens && fitOf(result.place, sought) !== undefined;
      return isThere ? [{ result, rank: 3 }] : [];
    })
    .toSorted((a, b) => a.rank - b.rank)
    .map(({ result }) => result);
}

function devicesIn({ devices }: FoundIn): Result[] {
  return devices.map((device) => ({
    title: device.name,
    place: device.room ?? "",
    icon: iconOf(device),
    opens: { details: { device: device.id } },
  }));
}

function placesIn({ devices }: FoundIn): Result[] {
  const rooms = new Set(devices.flatMap(({ room }) => room ?? []));
  const groups = new Set(devices.flatMap((device) => device.groups));
  const texts = words.value;
  return [
    ...Array.from(rooms, (room) => ({
      title: room,
      place: texts.room,
      icon: "mdi:floor-plan",
      opens: { details: { room } },
    })),
    ...Array.from(groups, (group) => ({
      title: group,
      place: texts.group,
      icon: "mdi:group",
      opens: { details: { group } },
    })),
  ];
}

function scenesIn({ scenes }: FoundIn): Result[] {
  return scenes
    .filter(({ available }) => available)
    .map(({ id, name, icon }) => ({
      title: name,
      place: words.value.scene,
      icon: icon ?? "mdi:palette-outline",
      opens: { scene: id },
    }));
}

function pagesIn({ pages }: FoundIn): Result[] {
  return pages.map(({ id, title, icon }) => ({
    title,
    place: words.value.page,
    icon: icon ?? "mdi:circle-small",
    opens: { address: `#${id}` },
  }));
}
