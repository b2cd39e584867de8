/** A picture of the plugin's list, which has it by album and name. */
export interface Photo {
  readonly name: string;
  readonly album?: string;
  /** RFC 3339. */
  readonly changedAt: string;
}

/** The order without shuffling. */
export type Order = "name" | "newest";

const DAY_MS = 86_400_000;

/** The picture's path in the API. */
export function pathOf({ name, album }: Photo): string {
  const query = album === undefined ? "" : `?album=${encodeURIComponent(album)}`;
  return `/photos/${encodeURIComponent(name)}${query}`;
}

/** The pictures of an album; `""` stands for all pictures. */
export function photosOf(photos: readonly Photo[], album: string): readonly Photo[] {
  return album === "" ? photos : photos.filter((photo) => photo.album === album);
}

/** The pictures in an order; those by name stand as they are. */
export function orderPhotos(photos: readonly Photo[], order: Order): readonly Photo[] {
  if (order === "name") return photos;
  return photos.toSorted((a, b) => Date.parse(b.changedAt) - Date.parse(a.changedAt));
}

/** The pictures in the shuffled order of the day of an instant, which is the same on all screens. */
export function shufflePhotos(photos: readonly Photo[], at: number): readonly Photo[] {
  const day = Math.floor(at / DAY_MS);
  return photos
    .map((photo) => ({ photo, key: hash(`${day} ${pathOf(photo)}`) }))
    .toSorted((a, b) => a.key - b.key)
    .map(({ photo }) => photo);
}

/** FNV-1a, 32 bits. */
function hash(text: string): number {
  let sum = 0x811c9dc5;
  for (const letter of text) {
    sum = Math.imul(sum ^ (letter.codePointAt(0) ?? 0), 0x01000193) >>> 0;
  }
  return sum;
}
