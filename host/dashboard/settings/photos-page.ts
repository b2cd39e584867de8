import { signal } from "@preact/signals-core";
import { html, nothing, type TemplateResult } from "lit";
import { upload } from "./files.ts";
import { formValue } from "./form-value.ts";
import { LazyPictures } from "./lazy-pictures.ts";
import type { OpenSettingsPage, SettingsDependencies } from "./page.ts";
import { pictureName, shrinkPicture } from "./shrink-picture.ts";
import { words } from "./words.ts";

interface Photo {
  readonly name: string;
  readonly album?: string;
}

/** The pictures of the photo frame, by album: add and remove. */
export function photosPage({ api, formAction }: SettingsDependencies): OpenSettingsPage {
  const photos = signal<readonly Photo[] | undefined>(undefined);
  const progress = signal("");
  const pictures = new LazyPictures(api);
  const load = async (): Promise<void> => {
    photos.value = (await api.get("/photos")).photos;
  };
  void load().catch((error: unknown) => formAction.fail(error));

  /** Adds one picture after the other. What cannot be read is left out and named. */
  const add = async (files: readonly File[], album: string): Promise<string> => {
    const texts = words.peek();
    const isThere = (photo: Photo): boolean => (photo.album ?? "") === album;
    const taken = new Set((photos.peek() ?? []).filter(isThere).map(({ name }) => name));
    const unreadable: string[] = [];
    let added = 0;
    try {
      for (const [at, file] of files.entries()) {
        progress.value = texts.photoSending(at + 1, files.length);
        const small = await shrinkPicture(file);
        if (!small) {
          unreadable.push(file.name);
          continue;
        }
        const name = pictureName(file.name, taken);
        await upload(api, photoPath({ name, album }), small);
        taken.add(name);
        added++;
      }
    } finally {
      progress.value = "";
      await load();
    }
    if (unreadable.length > 0) throw new Error(texts.photosUnreadable(unreadable.join(", ")));
    return texts.photosAdded(added);
  };
  const chosen = ({ currentTarget }: Event): void => {
    const input = currentTarget as HTMLInputElement;
    const files = [...(input.files ?? [])];
    const album = input.form ? formValue(input.form, "album").trim() : "";
    input.value = "";
    let done = "";
    if (files.length === 0) return;
    void formAction
      .run(async () => (done = await add(files, album)))
      .then(() => {
        if (done !== "") void formAction.run(async () => undefined, done);
      });
  };
  const remove = (photo: Photo): void =>
    void formAction.run(async () => {
      await api.delete(photoPath(photo));
      await load();
    }, words.peek().photoRemoved(photo.name));

  return {
    view() {
      const texts = words.value;
      const row = (photo: Photo): TemplateResult => {
        const { name } = photo;
        const path = photoPath(photo);
        return html`<li>
          <canvas
            width="160"
            height="120"
            data-photo=${path}
            role="img"
            aria-label=${name}
          ></canvas>
          ${formAction.confirmButton(path, texts.remove(name), () => remove(photo))}
        </li>`;
      };
      const byAlbum = new Map<string, Photo[]>();
      for (const photo of photos.value ?? []) {
        const { album = "" } = photo;
        byAlbum.set(album, [...(byAlbum.get(album) ?? []), photo]);
      }
      pictures.watchSoon();
      return html`<form
          class="panel form"
          @submit=${(event: SubmitEvent) => event.preventDefault()}
        >
          <p class="hint">${texts.photosHint}</p>
          <div class="field">
            <label for="photo-album">${texts.album}</label>
            <input id="photo-album" name="album" list="photo-albums" maxlength="60" />
            <datalist id="photo-albums">
              ${[...byAlbum.keys()].map((album) => html`<option value=${album}></option>`)}
            </datalist>
          </div>
          <div class="field">
            <label for="photo-files">${texts.addPhotos}</label>
            <input
              id="photo-files"
              type="file"
              accept="image/*"
              multiple
              ?disabled=${formAction.busy.value}
              @change=${chosen}
            />
          </div>
          <p class="hint" role="status">${progress.value}</p>
        </form>
        ${photos.value?.length === 0 ? html`<p class="hint">${texts.noPhotos}</p>` : nothing}
        ${[...byAlbum].map(
          ([album, inAlbum]) =>
            html`${album === "" ? nothing : html`<h2 dir="auto">${album}</h2>`}
              <ul class="photos">
                ${inAlbum.map(row)}
              </ul>`,
        )}`;
    },
    close: () => pictures.close(),
  };
}

/** The path of a picture in the API. */
function photoPath({ name, album = "" }: Pick<Photo, "name" | "album">): string {
  const query = album === "" ? "" : `?album=${encodeURIComponent(album)}`;
  return `/photos/${encodeURIComponent(name)}${query}`;
}
