import type { DeviceKind } from "@mantel/plugin-sdk/device";
import {
  CAPABILITY_WORDS,
  capabilityWord,
  KIND_WORDS,
  VALUE_WORDS,
  valueWord,
  type Word,
} from "@mantel/plugin-sdk/ui/control-words";
import { pluginText } from "../i18n/language.ts";

/** A kind of devices in the language of the page. */
export const kindText = (kind: DeviceKind): string => shown(KIND_WORDS[kind]);

/** A capability in the language of the page. Other names than those of the vocabulary are shown as words. */
export const capabilityText = (name: string): string =>
  textIn(CAPABILITY_WORDS, name) ?? capabilityWord(name);

/** A value of a choice in the language of the page. */
export const valueText = (value: string): string => textIn(VALUE_WORDS, value) ?? valueWord(value);

function textIn(words: Readonly<Record<string, Word>>, key: string): string | undefined {
  const word = Object.hasOwn(words, key) ? words[key] : undefined;
  return word && shown(word);
}

function shown([english, german]: Word): string {
  return pluginText("", english, { texts: { de: { [english]: german } } });
}
