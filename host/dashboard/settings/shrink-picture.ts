/** Larger than most walls. A picture with longer sides would only take time to load. */
const LONGEST_SIDE_PX = 2_560;
const QUALITY = 0.9;

/**
 * A JPEG of a picture, upright, with at most 2,560 pixels on each side, and without its metadata, which may tell where it
 * was taken. `undefined` if the browser cannot read the picture.
 */
export async function shrinkPicture(file: Blob): Promise<Blob | undefined> {
  const picture = await createImageBitmap(file).catch(() => undefined);
  if (!picture) return undefined;
  const scale = Math.min(1, LONGEST_SIDE_PX / Math.max(picture.width, picture.height));
  const canvas = document.createElement("canvas");
  canvas.width = Math.max(1, Math.round(picture.width * scale));
  canvas.height = Math.max(1, Math.round(picture.height * scale));
  const drawing = canvas.getContext("2d");
  if (!drawing) return undefined;
  drawing.fillStyle = "white"; // JPEG has no transparency
  drawing.fillRect(0, 0, canvas.width, canvas.height);
  drawing.drawImage(picture, 0, 0, canvas.width, canvas.height);
  picture.close();
  return new Promise((resolve) => {
    canvas.toBlob((blob) => resolve(blob ?? undefined), "image/jpeg", QUALITY);
  });
}

/** A name for the JPEG of a file, which `taken` does not have. */
export function pictureName(file: string, taken: ReadonlySet<string>): string {
  const base =
    file
      .replace(/\.[^.]*$/, "")
      .replace(/[/\\\p{C}]/gu, "")
      .replace(/^[.\s]+/, "")
      .normalize("NFC")
      .slice(0, 60)
      .trim() || "photo";
  let name = `${base}.jpg`;
  for (let count = 2; taken.has(name); count++) name = `${base} ${count}.jpg`;
  return name;
}
