import type { Api } from "./api.ts";

/** A photo of the home, as `GET /photos` lists it. */
export interface Photo {
  readonly name: string;
  /** The folder that it is in, if any. */
  readonly album?: string;
}

/** Maximum pixels of a side of a drawn photo: those of a 4K wall. A tablet keeps its memory. */
const MAX_SIDE = 3_840;

/** The path of a photo in the API. */
export function photoPath({ name, album = "" }: Photo): string {
  const query = album === "" ? "" : `?album=${encodeURIComponent(album)}`;
  return `/photos/${encodeURIComponent(name)}${query}`;
}

/** The photos of the home; none if no plugin serves them. */
export async function listPhotos(api: Pick<Api, "open">, signal: AbortSignal): Promise<Photo[]> {
  try {
    const answer = await api.open("/photos", { signal });
    return ((await answer.json()) as { photos: Photo[] }).photos;
  } catch {
    return [];
  }
}

/**
 * Draws a photo into a canvas of the size of the screen.
 * @throws if it cannot be read, or the browser does not know its format
 */
export async function drawPhoto(
  canvas: HTMLCanvasElement,
  photo: Photo,
  { api, signal }: { readonly api: Pick<Api, "open">; readonly signal: AbortSignal },
): Promise<void> {
  const answer = await api.open(photoPath(photo), { signal });
  const picture = await createImageBitmap(await answer.blob());
  if (!signal.aborted) {
    const side = (length: number): number => Math.min(MAX_SIDE, length * devicePixelRatio);
    canvas.width = side(innerWidth);
    canvas.height = side(innerHeight);
    drawCover(canvas, picture);
  }
  picture.close();
}

/** Draws a picture so that it fills the canvas; what is wider or higher is cut off at both sides. */
export function drawCover(canvas: HTMLCanvasElement, picture: ImageBitmap): void {
  const { width, height } = canvas;
  const scale = Math.max(width / picture.width, height / picture.height);
  const [wide, high] = [picture.width * scale, picture.height * scale];
  canvas.getContext("2d")?.drawImage(picture, (width - wide) / 2, (height - high) / 2, wide, high);
}
