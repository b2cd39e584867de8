import { isServed } from "../served-paths.ts";
import type { Store } from "../store.ts";
import { aboutPage } from "./about-page.ts";
import { accessPage } from "./access-page.ts";
import { advancedPage } from "./advanced-page.ts";
import { backupPage } from "./backup-page.ts";
import { bridgesPage } from "./bridges-page.ts";
import { calendarsPage } from "./calendars-page.ts";
import { devicesPage } from "./devices-page.ts";
import { displaysPage } from "./displays-page.ts";
import { generalPage } from "./general-page.ts";
import { modulesPage } from "./modules-page.ts";
import { notificationsPage } from "./notifications-page.ts";
import type { OpenSettingsPage, SettingsDependencies } from "./page.ts";
import { photosPage } from "./photos-page.ts";
import { pluginsPage } from "./plugins-page.ts";
import { roomsPage } from "./rooms-page.ts";
import { scenesPage } from "./scenes-page.ts";
import { townPage } from "./town-page.ts";
import { words } from "./words.ts";

/** A settings page. */
export interface PageEntry {
  readonly id: string;
  readonly icon: string;
  /** The key of its title in the texts. */
  readonly title:
    | "general"
    | "rooms"
    | "devices"
    | "scenes"
    | "calendars"
    | "town"
    | "photos"
    | "access"
    | "displays"
    | "notifications"
    | "backup"
    | "advanced"
    | "modules"
    | "plugins"
    | "bridges"
    | "about";
  /** True for the first page of a group in the menu. */
  readonly startsGroup?: boolean;
  /** A short text that a phone shows behind its title in the menu. Read it while drawing. */
  readonly note?: (store: Pick<Store, "allDevices">) => string;
  /** The page of the menu that leads to it, for a page that is not in the menu. */
  readonly below?: string;
  /** The path of the API that the page needs. Without a plugin that serves it, no link leads to the page. */
  readonly needs?: string;
  /** True if it only has what needs full access. Without that, no link leads to it. */
  readonly needsFullAccess?: boolean;
  /** `item` is the rest of the address, such as the id of a module that is shown alone. */
  readonly open: (parts: SettingsDependencies, item: string) => OpenSettingsPage;
}

/** The part of a visit on which the pages depend. */
export interface PageVisit {
  readonly store: Pick<Store, "modules">;
  readonly mayAdminister: boolean;
}

/** All pages, those of the menu in its order. The first page is the default. */
export const PAGES: readonly PageEntry[] = [
  { id: "general", icon: "mdi:home-variant", title: "general", open: generalPage },
  { id: "rooms", icon: "mdi:floor-plan", title: "rooms", note: roomCount, open: roomsPage },
  { id: "devices", icon: "mdi:lightbulb", title: "devices", note: deviceCount, open: devicesPage },
  { id: "scenes", icon: "mdi:palette", title: "scenes", open: scenesPage },
  {
    id: "calendars",
    icon: "mdi:calendar",
    title: "calendars",
    startsGroup: true,
    open: calendarsPage,
  },
  { id: "place", icon: "mdi:map-marker", title: "town", open: townPage },
  {
    id: "photos",
    icon: "mdi:image-multiple",
    title: "photos",
    needs: "/photos",
    open: photosPage,
  },
  {
    id: "access",
    icon: "mdi:account-multiple",
    title: "access",
    startsGroup: true,
    open: accessPage,
  },
  { id: "displays", icon: "mdi:tablet-dashboard", title: "displays", open: displaysPage },
  { id: "notifications", icon: "mdi:bell", title: "notifications", open: notificationsPage },
  {
    id: "backup",
    icon: "mdi:history",
    title: "backup",
    startsGroup: true,
    needsFullAccess: true,
    open: backupPage,
  },
  { id: "advanced", icon: "mdi:pulse", title: "advanced", open: advancedPage },
  {
    id: "modules",
    icon: "mdi:puzzle-outline",
    title: "modules",
    below: "advanced",
    open: modulesPage,
  },
  {
    id: "plugins",
    icon: "mdi:package-variant",
    title: "plugins",
    below: "advanced",
    needsFullAccess: true,
    open: pluginsPage,
  },
  { id: "bridges", icon: "mdi:bridge", title: "bridges", below: "advanced", open: bridgesPage },
  {
    id: "about",
    icon: "mdi:information-outline",
    title: "about",
    below: "advanced",
    open: aboutPage,
  },
];

/**
 * The pages to which this home leads: those without a plugin that serves what they need are left out, and those that the
 * visit cannot use. Read it while drawing.
 */
export function pagesOf({ store, mayAdminister }: PageVisit): readonly PageEntry[] {
  return PAGES.filter(
    ({ needs, needsFullAccess = false }) =>
      (needs === undefined || isServed(store, needs)) && (mayAdminister || !needsFullAccess),
  );
}

function roomCount(store: Pick<Store, "allDevices">): string {
  return `${new Set(store.allDevices().value.flatMap(({ room }) => room ?? [])).size}`;
}

/** The number of devices, and of those without an answer. */
function deviceCount(store: Pick<Store, "allDevices">): string {
  const devices = store.allDevices().value.filter(({ hidden }) => !hidden);
  const silent = devices.filter(({ available }) => !available).length;
  return silent === 0 ? `${devices.length}` : words.value.silentDevices(silent, devices.length);
}
