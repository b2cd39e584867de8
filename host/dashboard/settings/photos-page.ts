import { signal } from "@preact/signals-core";
import { html, nothing, type TemplateResult } from "lit";
import { upload } from "./files.ts";
import { LazyPictures } from "./lazy-pictures.ts";
import type { OpenSettingsPage, SettingsDependencies } from "./page.ts";
import { pictureName, shrinkPicture } from "./shrink-picture.ts";
import { words } from "./words.ts";

/** The pictures of the photo frame: add and remove. */
export function photosPage({ api, formAction }: SettingsDependencies): OpenSettingsPage {
  const names = signal<readonly string[] | undefined>(undefined);
  const progress = signal("");
  const pictures = new LazyPictures(api);
  const load = async (): Promise<void> => {
    names.value = (await api.get("/photos")).photos.map(({ name }) => name);
  };
  void load().catch((error: unknown) => formAction.fail(error));

  /** Adds one picture after the other. What cannot be read is left out and named. */
  const add = async (files: readonly File[]): Promise<string> => {
    const texts = words.peek();
    const taken = new Set(names.peek());
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
        await upload(api, `/photos/${encodeURIComponent(name)}`, small);
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
    input.value = "";
    let done = "";
    if (files.length === 0) return;
    void formAction
      .run(async () => (done = await add(files)))
      .then(() => {
        if (done !== "") void formAction.run(async () => undefined, done);
      });
  };
  const remove = (name: string): void =>
    void formAction.run(async () => {
      await api.delete(`/photos/${encodeURIComponent(name)}`);
      await load();
    }, words.peek().photoRemoved(name));

  return {
    view() {
      const texts = words.value;
      const row = (name: string): TemplateResult =>
        html`<li>
          <canvas
            width="160"
            height="120"
            data-photo=${name}
            role="img"
            aria-label=${name}
          ></canvas>
          ${formAction.confirmButton(`photo ${name}`, texts.remove(name), () => remove(name))}
        </li>`;
      pictures.watchSoon();
      return html`<div class="panel form">
          <p class="hint">${texts.photosHint}</p>
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
        </div>
        ${names.value?.length === 0 ? html`<p class="hint">${texts.noPhotos}</p>` : nothing}
        <ul class="photos">
          ${(names.value ?? []).map(row)}
        </ul>`;
    },
    close: () => pictures.close(),
  };
}
