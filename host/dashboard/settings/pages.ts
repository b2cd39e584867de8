import { aboutPage } from "./about-page.ts";
import { backupPage } from "./backup-page.ts";
import { bridgesPage } from "./bridges-page.ts";
import { calendarsPage } from "./calendars-page.ts";
import { devicesPage } from "./devices-page.ts";
import { modulesPage } from "./modules-page.ts";
import type { OpenSettingsPage, SettingsDependencies } from "./page.ts";
import { pluginsPage } from "./plugins-page.ts";
import { scenesPage } from "./scenes-page.ts";
import { tokensPage } from "./tokens-page.ts";

/** A settings page in the menu. */
export interface PageEntry {
  readonly id: string;
  readonly icon: string;
  /** The key of its title in the texts. */
  readonly title:
    | "modules"
    | "plugins"
    | "devices"
    | "bridges"
    | "scenes"
    | "calendars"
    | "access"
    | "backup"
    | "about";
  /** `item` is the rest of the address, such as the id of a module that is shown alone. */
  readonly open: (parts: SettingsDependencies, item: string) => OpenSettingsPage;
}

/** The menu. The first page is the default. */
export const PAGES: readonly PageEntry[] = [
  { id: "modules", icon: "mdi:puzzle-outline", title: "modules", open: modulesPage },
  { id: "plugins", icon: "mdi:package-variant", title: "plugins", open: pluginsPage },
  { id: "devices", icon: "mdi:lightbulb-outline", title: "devices", open: devicesPage },
  { id: "bridges", icon: "mdi:bridge", title: "bridges", open: bridgesPage },
  { id: "scenes", icon: "mdi:palette-outline", title: "scenes", open: scenesPage },
  { id: "calendars", icon: "mdi:calendar-outline", title: "calendars", open: calendarsPage },
  { id: "access", icon: "mdi:key-outline", title: "access", open: tokensPage },
  { id: "backup", icon: "mdi:archive-outline", title: "backup", open: backupPage },
  { id: "about", icon: "mdi:information-outline", title: "about", open: aboutPage },
];
