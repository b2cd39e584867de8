import type { Formats } from "@mantel/plugin-sdk/i18n";
import { html, nothing } from "lit";
import type { LayoutRevision } from "../../api/layout.ts";
import { now } from "../home-time.ts";
import type { EditorStore } from "./editor-store.ts";
import { words } from "./words.ts";

/** Panel for previous versions of the layout, and for export and import. */
export function versionsPanel(store: EditorStore, formats: Formats): unknown {
  const texts = words.value;
  return html`<p class="hint">${texts.restoreHint}</p>
    <div class="actions">
      <button type="button" class="pill" @click=${() => download(store.document.peek())}>
        <mantel-icon name="mdi:download"></mantel-icon>${texts.export}
      </button>
      <label class="pill">
        <mantel-icon name="mdi:upload"></mantel-icon>${texts.import}
        <input
          class="unseen"
          type="file"
          accept=".json,application/json"
          @change=${({ currentTarget }: Event) =>
            importFrom(currentTarget as HTMLInputElement, store)}
        />
      </label>
    </div>
    <ol class="versions">
      ${store.versions.value.map((version) => versionView(version, store, formats))}
    </ol>`;
}

function versionView(version: LayoutRevision, store: EditorStore, formats: Formats): unknown {
  const texts = words.value;
  const { revision, name } = version;
  const savedAt = new Date(version.savedAt);
  return html`<li>
    <div>
      <strong>${formats.date(savedAt, "short")}, ${formats.time(savedAt)}</strong>
      <span>${texts.version(revision)}${name === undefined ? nothing : html` · ${name}`}</span>
    </div>
    ${
      revision === store.base.value.revision
        ? html`<span class="chip">${texts.current}</span>`
        : html`<button
            type="button"
            class="pill"
            aria-label=${texts.restore(revision)}
            @click=${() => store.restore(revision)}
          >
            ${texts.restoreShort}
          </button>`
    }
  </li>`;
}

async function importFrom(input: HTMLInputElement, store: EditorStore): Promise<void> {
  const [file] = input.files ?? [];
  if (!file) return;
  await store.importFile(file);
  input.value = "";
}

function download(document: object): void {
  const text = `${JSON.stringify(document, undefined, 2)}\n`;
  const url = URL.createObjectURL(new Blob([text], { type: "application/json" }));
  const link = window.document.createElement("a");
  link.href = url;
  link.download = `mantel-layout-${new Date(now()).toISOString().slice(0, 10)}.json`;
  link.click();
  URL.revokeObjectURL(url);
}
