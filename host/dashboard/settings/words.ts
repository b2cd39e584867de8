import { translated } from "../i18n/language.ts";
import { english } from "./english.ts";
import { german } from "./german.ts";

/** Texts of the settings. */
export const words = translated("settings", english, { de: german });
