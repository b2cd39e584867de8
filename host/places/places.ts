import { readFile } from "node:fs/promises";
import { promisify } from "node:util";
import { brotliDecompress } from "node:zlib";

/** A town of at least 1,000 people. */
export interface Place {
  readonly name: string;
  /** ISO 3166-1 alpha-2. */
  readonly country: string;
  readonly population: number;
  /** Degrees, exact to about a kilometre. */
  readonly latitude: number;
  readonly longitude: number;
}

const FILE = new URL("places.txt.br", import.meta.url);
/** A search is typed letter by letter, so the text stays in memory for a moment. */
const KEEP_MS = 60_000;
/** Matches that are read before they are ranked. */
const MOST_READ = 2_000;

/** The towns of the world by name, from a file that ships with Mantel (GeoNames, CC BY 4.0). */
export class Places {
  readonly #read: () => Promise<string>;
  #text: Promise<string> | undefined;
  #timer: NodeJS.Timeout | undefined;

  /** `read` gives one line for each town, as in `places.txt.br`. */
  constructor(read: () => Promise<string> = readPlaces) {
    this.#read = read;
  }

  /** The largest towns with a word that begins with the text; those whose name begins with it come first. */
  async find(text: string, limit: number): Promise<Place[]> {
    const key = keyOf(text);
    if (key === "") return [];
    const all = await this.#open();
    const first = matches(all, `\n${key}`);
    const others = first.length < limit ? matches(all, ` ${key}`) : [];
    const ranked = [first, others].flatMap((places) =>
      places.toSorted((a, b) => b.population - a.population),
    );
    return unique(ranked).slice(0, limit);
  }

  /** Releases the text. */
  close(): void {
    clearTimeout(this.#timer);
    this.#text = undefined;
  }

  #open(): Promise<string> {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.close(), KEEP_MS);
    this.#timer.unref();
    this.#text ??= this.#read();
    return this.#text;
  }
}

/** The text in lower case, without accents and punctuation, as towns are found by it. */
function keyOf(text: string): string {
  return text
    .normalize("NFD")
    .replaceAll(/\p{M}/gu, "")
    .toLowerCase()
    .replaceAll("ß", "ss")
    .replaceAll(/[^\p{L}\p{N}]+/gu, " ")
    .trim();
}

async function readPlaces(): Promise<string> {
  return (await promisify(brotliDecompress)(await readFile(FILE))).toString("utf8");
}

/** The towns of the lines whose key has the text; a line is key, name, country, population, latitude, longitude. */
function matches(all: string, text: string): Place[] {
  const found: Place[] = [];
  let at = all.indexOf(text);
  while (at >= 0 && found.length < MOST_READ) {
    const end = all.indexOf("\n", at + 1);
    const start = text.startsWith("\n") ? at : all.lastIndexOf("\n", at);
    const line = all.slice(start + 1, end);
    if (at - start <= line.indexOf("\t")) found.push(placeIn(line));
    at = all.indexOf(text, end);
  }
  return found;
}

function placeIn(line: string): Place {
  const [, name = "", country = "", population, latitude, longitude] = line.split("\t");
  return {
    name,
    country,
    population: Number(population),
    latitude: Number(latitude),
    longitude: Number(longitude),
  };
}

/** Without the second name of a town that was found by the first. */
function unique(places: readonly Place[]): Place[] {
  const known = new Map<string, Place>();
  for (const place of places) {
    const id = `${place.latitude} ${place.longitude} ${place.population}`;
    if (!known.has(id)) known.set(id, place);
  }
  return [...known.values()];
}
