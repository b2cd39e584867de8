/** A picture in the folder. */
export interface Photo {
  readonly name: string;
}

const DAY_MS = 86_400_000;

/**
 * The pictures by name or, with an instant, in the shuffled order of that day, which is the same on
 * all screens.
 */
export function orderPhotos(photos: readonly Photo[], at: number): readonly Photo[] {
  if (at === 0) return photos;
  const day = Math.floor(at / DAY_MS);
  return photos
    .map((photo) => ({ photo, key: hash(`${day} ${photo.name}`) }))
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
