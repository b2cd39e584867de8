import { translated } from "../i18n/language.ts";

const MOTION =
  "{n} sees motion | {n} no longer sees motion | {n} sees motion | {n} sees no motion | motion | no motion";
const SOMEBODY =
  "{n} sees somebody | {n} no longer sees anybody | {n} sees somebody | {n} sees nobody | somebody there | nobody there";

/**
 * The words of a yes-or-no field, between bars: becomes true, becomes false, is true, is false as sentences about
 * `{n}`, then its two values alone. In a language in which they differ, the four sentences follow again as they are
 * behind "when" and "if". `{f}` is the name of the field. `other` is for all other fields.
 */
const english: Readonly<Record<string, string>> = {
  on: "{n} turns on | {n} turns off | {n} is on | {n} is off | on | off",
  contact: "{n} closes | {n} opens | {n} is closed | {n} is open | closed | open",
  motion: MOTION,
  occupancy: SOMEBODY,
  presence: SOMEBODY,
  home: "{n} comes home | {n} leaves | {n} is at home | {n} is away | at home | away",
  locked: "{n} locks | {n} unlocks | {n} is locked | {n} is unlocked | locked | unlocked",
  ringing: "{n} rings | {n} stops ringing | {n} rings | {n} is quiet | rings | quiet",
  other: "{n}: {f} begins | {n}: {f} ends | {n}: {f} | {n}: not {f} | yes | no",
};

/** A row of German forms: the sentences, the values, and the clauses behind "wenn", whose verb comes last. */
const row = (...forms: readonly string[]): string => forms.join(" | ");
const MOTION_DE = row(
  "{n} meldet Bewegung | {n} meldet keine Bewegung mehr | {n} meldet Bewegung | {n} meldet keine Bewegung",
  "Bewegung | keine Bewegung",
  "{n} Bewegung meldet | {n} keine Bewegung mehr meldet | {n} Bewegung meldet | {n} keine Bewegung meldet",
);
const SOMEBODY_DE = row(
  "{n} sieht jemanden | {n} sieht niemanden mehr | {n} sieht jemanden | {n} sieht niemanden",
  "jemand da | niemand da",
  "{n} jemanden sieht | {n} niemanden mehr sieht | {n} jemanden sieht | {n} niemanden sieht",
);

const german: typeof english = {
  on: row(
    "{n} geht an | {n} geht aus | {n} ist an | {n} ist aus",
    "an | aus",
    "{n} angeht | {n} ausgeht | {n} an ist | {n} aus ist",
  ),
  contact: row(
    "{n} wird geschlossen | {n} wird geöffnet | {n} ist geschlossen | {n} ist offen",
    "geschlossen | offen",
    "{n} geschlossen wird | {n} geöffnet wird | {n} geschlossen ist | {n} offen ist",
  ),
  motion: MOTION_DE,
  occupancy: SOMEBODY_DE,
  presence: SOMEBODY_DE,
  home: row(
    "{n} kommt nach Hause | {n} geht weg | {n} ist zu Hause | {n} ist unterwegs",
    "zu Hause | unterwegs",
    "{n} nach Hause kommt | {n} weggeht | {n} zu Hause ist | {n} unterwegs ist",
  ),
  locked: row(
    "{n} wird verriegelt | {n} wird entriegelt | {n} ist verriegelt | {n} ist entriegelt",
    "verriegelt | entriegelt",
    "{n} verriegelt wird | {n} entriegelt wird | {n} verriegelt ist | {n} entriegelt ist",
  ),
  ringing: row(
    "{n} klingelt | {n} klingelt nicht mehr | {n} klingelt | {n} ist still",
    "klingelt | still",
    "{n} klingelt | {n} nicht mehr klingelt | {n} klingelt | {n} still ist",
  ),
  other: "{n}: {f} beginnt | {n}: {f} endet | {n}: {f} | {n}: nicht {f} | ja | nein",
};

const words = translated("facts", english, { de: german });

function wordsOf(field: string): readonly string[] {
  const texts = words.value;
  return ((Object.hasOwn(english, field) ? texts[field] : texts["other"]) ?? "").split(" | ");
}

/** A yes-or-no field of a device in a sentence. `becomes` says that it changes, otherwise that it is so. */
export function factSentence(
  { field, name, label }: { readonly field: string; readonly name: string; readonly label: string },
  value: boolean,
  becomes: boolean,
): string {
  const sentence = wordsOf(field)[(becomes ? 0 : 2) + (value ? 0 : 1)] ?? "";
  return sentence.replace("{n}", () => name).replace("{f}", () => label);
}

/** As `factSentence`, for use behind "when" and "if". */
export function factClause(
  fact: Parameters<typeof factSentence>[0],
  value: boolean,
  becomes: boolean,
): string {
  const clause = wordsOf(fact.field)[(becomes ? 6 : 8) + (value ? 0 : 1)];
  return clause?.replace("{n}", () => fact.name) ?? factSentence(fact, value, becomes);
}

/** The value of a yes-or-no field, such as "open". */
export function factValue(field: string, value: boolean): string {
  return wordsOf(field)[value ? 4 : 5] ?? "";
}
