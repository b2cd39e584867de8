import { translated } from "../i18n/language.ts";
import { english } from "./english.ts";
import { german } from "./german.ts";

/** Texts of the automations. */
export const words = translated("automations", english, { de: german });
