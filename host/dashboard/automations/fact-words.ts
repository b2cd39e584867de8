import { currentLocale, languageOf } from "../i18n/language.ts";

/**
 * The words of a yes-or-no field: becomes true, becomes false, is true, is false as sentences about `{n}`, then its two
 * values alone. `{f}` is the name of the field.
 */
type FactWords = readonly [string, string, string, string, string, string];

/** English, then German. */
type Facts = Readonly<Record<string, readonly [FactWords, FactWords]>>;

const MOTION: Facts[string] = [
  [
    "{n} sees motion",
    "{n} no longer sees motion",
    "{n} sees motion",
    "{n} sees no motion",
    "motion",
    "no motion",
  ],
  [
    "{n} meldet Bewegung",
    "{n} meldet keine Bewegung mehr",
    "{n} meldet Bewegung",
    "{n} meldet keine Bewegung",
    "Bewegung",
    "keine Bewegung",
  ],
];
const SOMEBODY: Facts[string] = [
  [
    "{n} sees somebody",
    "{n} no longer sees anybody",
    "{n} sees somebody",
    "{n} sees nobody",
    "somebody there",
    "nobody there",
  ],
  [
    "{n} sieht jemanden",
    "{n} sieht niemanden mehr",
    "{n} sieht jemanden",
    "{n} sieht niemanden",
    "jemand da",
    "niemand da",
  ],
];

const FACTS: Facts = {
  on: [
    ["{n} turns on", "{n} turns off", "{n} is on", "{n} is off", "on", "off"],
    ["{n} geht an", "{n} geht aus", "{n} ist an", "{n} ist aus", "an", "aus"],
  ],
  contact: [
    ["{n} closes", "{n} opens", "{n} is closed", "{n} is open", "closed", "open"],
    [
      "{n} wird geschlossen",
      "{n} wird geöffnet",
      "{n} ist geschlossen",
      "{n} ist offen",
      "geschlossen",
      "offen",
    ],
  ],
  motion: MOTION,
  occupancy: SOMEBODY,
  presence: SOMEBODY,
  home: [
    ["{n} comes home", "{n} leaves", "{n} is at home", "{n} is away", "at home", "away"],
    [
      "{n} kommt nach Hause",
      "{n} geht weg",
      "{n} ist zu Hause",
      "{n} ist unterwegs",
      "zu Hause",
      "unterwegs",
    ],
  ],
  locked: [
    ["{n} locks", "{n} unlocks", "{n} is locked", "{n} is unlocked", "locked", "unlocked"],
    [
      "{n} wird verriegelt",
      "{n} wird entriegelt",
      "{n} ist verriegelt",
      "{n} ist entriegelt",
      "verriegelt",
      "entriegelt",
    ],
  ],
  ringing: [
    ["{n} rings", "{n} stops ringing", "{n} rings", "{n} is quiet", "rings", "quiet"],
    [
      "{n} klingelt",
      "{n} klingelt nicht mehr",
      "{n} klingelt",
      "{n} ist still",
      "klingelt",
      "still",
    ],
  ],
};

const OTHER: Facts[string] = [
  ["{n}: {f} begins", "{n}: {f} ends", "{n}: {f}", "{n}: not {f}", "yes", "no"],
  ["{n}: {f} beginnt", "{n}: {f} endet", "{n}: {f}", "{n}: nicht {f}", "ja", "nein"],
];

function wordsOf(field: string): FactWords {
  const [english, german] = (Object.hasOwn(FACTS, field) ? FACTS[field] : undefined) ?? OTHER;
  return languageOf(currentLocale.value) === "de" ? german : english;
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

/** German clauses behind "wenn", whose verb comes last: becomes true, becomes false, is true, is false. */
type Clauses = readonly [string, string, string, string];
const MOTION_CLAUSES: Clauses = [
  "{n} Bewegung meldet",
  "{n} keine Bewegung mehr meldet",
  "{n} Bewegung meldet",
  "{n} keine Bewegung meldet",
];
const SOMEBODY_CLAUSES: Clauses = [
  "{n} jemanden sieht",
  "{n} niemanden mehr sieht",
  "{n} jemanden sieht",
  "{n} niemanden sieht",
];
const GERMAN_CLAUSES: Readonly<Record<string, Clauses>> = {
  on: ["{n} angeht", "{n} ausgeht", "{n} an ist", "{n} aus ist"],
  contact: ["{n} geschlossen wird", "{n} geöffnet wird", "{n} geschlossen ist", "{n} offen ist"],
  motion: MOTION_CLAUSES,
  occupancy: SOMEBODY_CLAUSES,
  presence: SOMEBODY_CLAUSES,
  home: ["{n} nach Hause kommt", "{n} weggeht", "{n} zu Hause ist", "{n} unterwegs ist"],
  locked: [
    "{n} verriegelt wird",
    "{n} entriegelt wird",
    "{n} verriegelt ist",
    "{n} entriegelt ist",
  ],
  ringing: ["{n} klingelt", "{n} nicht mehr klingelt", "{n} klingelt", "{n} still ist"],
};

/** As `factSentence`, for use behind "when" and "if". */
export function factClause(
  fact: Parameters<typeof factSentence>[0],
  value: boolean,
  becomes: boolean,
): string {
  const isGerman = languageOf(currentLocale.value) === "de";
  const clauses =
    isGerman && Object.hasOwn(GERMAN_CLAUSES, fact.field) ? GERMAN_CLAUSES[fact.field] : undefined;
  const clause = clauses?.[(becomes ? 0 : 2) + (value ? 0 : 1)];
  return clause?.replace("{n}", () => fact.name) ?? factSentence(fact, value, becomes);
}

/** The value of a yes-or-no field, such as "open". */
export function factValue(field: string, value: boolean): string {
  return wordsOf(field)[value ? 4 : 5];
}
