import { signal } from "@preact/signals-core";
import { html, nothing, type TemplateResult } from "lit";
import { type Photo, photoPath } from "../photos.ts";
import { upload } from "./files.ts";
import { formValue } from "./form-value.ts";
import { LazyPictures } from "./lazy-pictures.ts";
import type { OpenSettingsPage, SettingsDependencies } from "./page.ts";
import { pictureName, shrinkPicture } from "./shrink-picture.ts";
import { words } from "./words.ts";

/** The pictures of the photo frame, by album: add and remove. */
export function photosPage(parts: SettingsDependencies): OpenSettingsPage {
  return new PhotosPage(parts);
}

class PhotosPage implements OpenSettingsPage {
  readonly #api: SettingsDependencies["api"];
  readonly #formAction: SettingsDependencies["formAction"];
  readonly #photos = signal<readonly Photo[] | undefined>(undefined);
  readonly #progress = signal("");
  readonly #pictures: LazyPictures;

  constructor({ api, formAction }: SettingsDependencies) {
    this.#api = api;
    this.#formAction = formAction;
    this.#pictures = new LazyPictures(api);
    void this.#load().catch((error: unknown) => formAction.fail(error));
  }

  view(): TemplateResult {
    const albums = byAlbum(this.#photos.value ?? []);
    this.#pictures.watchSoon();
    return html`${this.#form([...albums.keys()])}
    ${this.#photos.value?.length === 0 ? html`<p class="hint">${words.value.noPhotos}</p>` : nothing}
    ${[...albums].map(
      ([album, photos]) =>
        html`${album === "" ? nothing : html`<h2 dir="auto">${album}</h2>`}
          <ul class="photos">
            ${photos.map((photo) => this.#row(photo))}
          </ul>`,
    )}`;
  }

  close(): void {
    this.#pictures.close();
  }

  async #load(): Promise<void> {
    this.#photos.value = (await this.#api.get("/photos")).photos;
  }

  #form(albums: readonly string[]): TemplateResult {
    const texts = words.value;
    return html`<form class="panel form" @submit=${(event: SubmitEvent) => event.preventDefault()}>
      <p class="hint">${texts.photosHint}</p>
      <div class="field">
        <label for="photo-album">${texts.album}</label>
        <input id="photo-album" name="album" list="photo-albums" maxlength="60" />
        <datalist id="photo-albums">
          ${albums.map((album) => html`<option value=${album}></option>`)}
        </datalist>
      </div>
      <div class="field">
        <label for="photo-files">${texts.addPhotos}</label>
        <input
          id="photo-files"
          type="file"
          accept="image/*"
          multiple
          ?disabled=${this.#formAction.busy.value}
          @change=${(event: Event) => this.#chosen(event)}
        />
      </div>
      <p class="hint" role="status">${this.#progress.value}</p>
    </form>`;
  }

  #row(photo: Photo): TemplateResult {
    const path = photoPath(photo);
    const remove = words.value.remove(photo.name);
    return html`<li>
      <canvas
        width="160"
        height="120"
        data-photo=${path}
        role="img"
        aria-label=${photo.name}
      ></canvas>
      ${this.#formAction.confirmButton(path, remove, () => this.#remove(photo))}
    </li>`;
  }

  #chosen({ currentTarget }: Event): void {
    const input = currentTarget as HTMLInputElement;
    const files = [...(input.files ?? [])];
    const album = input.form ? formValue(input.form, "album").trim() : "";
    input.value = "";
    if (files.length === 0) return;
    void this.#formAction.run(() => this.#add(files, album));
  }

  /** Adds one picture after the other. What cannot be read is left out and named. */
  async #add(files: readonly File[], album: string): Promise<string> {
    const texts = words.peek();
    const inAlbum = byAlbum(this.#photos.peek() ?? []).get(album) ?? [];
    const taken = new Set(inAlbum.map(({ name }) => name));
    const unreadable: string[] = [];
    let added = 0;
    try {
      for (const [at, file] of files.entries()) {
        this.#progress.value = texts.photoSending(at + 1, files.length);
        const small = await shrinkPicture(file);
        if (!small) {
          unreadable.push(file.name);
          continue;
        }
        const name = pictureName(file.name, taken);
        await upload(this.#api, photoPath({ name, album }), small);
        taken.add(name);
        added++;
      }
    } finally {
      this.#progress.value = "";
      await this.#load();
    }
    if (unreadable.length > 0) throw new Error(texts.photosUnreadable(unreadable.join(", ")));
    return texts.photosAdded(added);
  }

  #remove(photo: Photo): void {
    void this.#formAction.run(async () => {
      await this.#api.delete(photoPath(photo));
      await this.#load();
    }, words.peek().photoRemoved(photo.name));
  }
}

/** The pictures of each album; those outside albums are under `""`. */
function byAlbum(photos: readonly Photo[]): ReadonlyMap<string, readonly Photo[]> {
  const albums = new Map<string, Photo[]>();
  for (const photo of photos) {
    const { album = "" } = photo;
    albums.set(album, [...(albums.get(album) ?? []), photo]);
  }
  return albums;
}
