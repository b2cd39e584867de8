import { lasting } from "../page-storage.ts";
import { IconStore } from "./icon-store.ts";

/** URL of the icons, set when the dashboard is built. */
declare const ICONS_URL: string;

let store: IconStore | undefined;

/** The icons of this page and of its frames. */
export function icons(): IconStore {
  store ??= new IconStore({ url: ICONS_URL, storage: lasting });
  return store;
}
