import { inEachLanguage } from "../words/language.ts";
import { english } from "./english.ts";
import { german } from "./german.ts";

/** What the settings say. */
export const words = inEachLanguage(english, { de: german });
