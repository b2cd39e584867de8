import { signal } from "@preact/signals-core";
import { html, nothing, type TemplateResult } from "lit";
import type { Display, Layout } from "../layout.ts";
import type { OpenSettingsPage, SettingsDependencies } from "./page.ts";
import { selectRow, settingRow, switchInput } from "./setting-row.ts";
import { words } from "./words.ts";

type Stored = Layout & { readonly revision: number };

/** Seconds between two pages of a display that turns them by itself; 0 means never. */
const TURNING = [0, 10, 20, 30, 60, 300];

/** The displays of the layout: their pages, their look, and how they behave. */
export function displaysPage({ api, formAction }: SettingsDependencies): OpenSettingsPage {
  const layout = signal<Stored | undefined>(undefined);
  const load = async (): Promise<void> => void (layout.value = await api.get("/layout"));
  load().catch((error: unknown) => formAction.fail(error));
  const change = (id: string, part: object): void =>
    void formAction.run(async () => {
      const now = layout.peek();
      if (!now) return;
      const { revision, ...document } = now;
      const displays = now.displays.map((each) => (each.id === id ? { ...each, ...part } : each));
      await api.change("PUT", "/layout", { body: { ...document, displays }, revision });
      await load();
    }, words.peek().saved);
  const add = (): void =>
    void formAction.run(async () => {
      const now = layout.peek();
      if (!now) return;
      const { revision, ...document } = now;
      const taken = now.displays.map(({ id }) => id);
      let number = 1;
      while (taken.includes(`display-${number}`)) number++;
      const name = `${words.peek().display} ${number}`;
      const display = { id: `display-${number}`, name, pages: now.pages.map(({ id }) => id) };
      const displays = [...now.displays, display];
      await api.change("PUT", "/layout", { body: { ...document, displays }, revision });
      await load();
    }, words.peek().saved);
  return {
    view() {
      const texts = words.value;
      const now = layout.value;
      if (!now) return nothing;
      return html`<p class="hint">${texts.displaysHint}</p>
        ${now.displays.map((display) => displayView(display, now, (part) => change(display.id, part)))}
        <div class="actions">
          ${formAction.button(texts.addDisplay, add)}
          <a class="link" href="#pair">${texts.pairDisplay}</a>
        </div>`;
    },
  };
}

function displayView(
  display: Display,
  { pages }: Layout,
  change: (part: object) => void,
): TemplateResult {
  const texts = words.value;
  const { id, name, theme = "", kiosk = false, rotateSeconds = 0 } = display;
  const shown = display.pages;
  const offered = TURNING.includes(rotateSeconds) ? TURNING : [...TURNING, rotateSeconds];
  return html`<section class="panel setting-rows" data-setting="display-${id}">
    <h2 dir="auto">${name}</h2>
    ${settingRow({
      id: `name-${id}`,
      title: texts.name,
      hint: texts.displayNameHint,
      input: html`<input
        id="name-${id}"
        maxlength="64"
        dir="auto"
        autocomplete="off"
        .value=${name}
        @change=${({ currentTarget }: Event) => {
          const typed = (currentTarget as HTMLInputElement).value.trim();
          if (typed !== "") change({ name: typed });
        }}
      />`,
    })}
    <fieldset class="page-choice">
      <legend>${texts.pagesShown}</legend>
      ${pages.map(
        (page) =>
          html`<label>
            <input
              type="checkbox"
              .checked=${shown.includes(page.id)}
              ?disabled=${shown.length === 1 && shown.includes(page.id)}
              @change=${({ currentTarget }: Event) => {
                const { checked } = currentTarget as HTMLInputElement;
                const ids = pages.map((each) => each.id);
                change({
                  pages: ids.filter((each) => (each === page.id ? checked : shown.includes(each))),
                });
              }}
            />
            <span dir="auto">${page.title}</span>
          </label>`,
      )}
    </fieldset>
    ${selectRow({
      id: `theme-${id}`,
      title: texts.theme,
      value: theme,
      options: [
        ["", texts.asHome],
        ["light", texts.themeLight],
        ["dark", texts.themeDark],
        ["night", texts.themeNight],
      ],
      onChange: (next) => change({ theme: next === "" ? undefined : next }),
    })}
    ${selectRow({
      id: `turning-${id}`,
      title: texts.turnsPages,
      hint: texts.turnsPagesHint,
      value: `${rotateSeconds}`,
      options: offered.map((seconds) => [
        `${seconds}`,
        seconds === 0 ? texts.never : texts.everySeconds(seconds),
      ]),
      onChange: (seconds) =>
        change({ rotateSeconds: seconds === "0" ? undefined : Number(seconds) }),
    })}
    ${settingRow({
      id: `kiosk-${id}`,
      title: texts.kiosk,
      hint: texts.kioskHint,
      input: switchInput(`kiosk-${id}`, kiosk, (isOn) => change({ kiosk: isOn })),
    })}
    <p>
      <a class="link" href="/?display=${encodeURIComponent(id)}" target="_blank"
        >${texts.preview}</a
      >
    </p>
  </section>`;
}
