import { signal } from "@preact/signals-core";
import { html, nothing } from "lit";
import { placePatch, type Town, TownSearch } from "../setup/town-search.ts";
import {
  addressOf,
  type OpenSettingsPage,
  restNeedsFullAccess,
  type SettingsDependencies,
} from "./page.ts";
import { linkRow } from "./setting-row.ts";
import { words } from "./words.ts";

interface Place {
  readonly place?: string;
  readonly latitude?: number;
  readonly longitude?: number;
}

/** The town of the home, and the modules that use it. */
export function townPage(parts: SettingsDependencies): OpenSettingsPage {
  const { api, formAction, store } = parts;
  const home = signal<Place>({});
  const load = async (): Promise<void> => {
    const { config } = await api.get("/config");
    home.value = config.home ?? {};
  };
  const choose = (town: Town): void =>
    void formAction.run(async () => {
      await api.send("PATCH", "/config", placePatch(town));
      await load();
    }, words.peek().saved);
  const search = new TownSearch({ api, id: "town", choose });
  load().catch((error: unknown) => formAction.fail(error));
  const modules = store.modules();
  return {
    view() {
      const texts = words.value;
      const users = modules.value.filter(({ permissions }) =>
        permissions.home.read.includes("location"),
      );
      return html`<section class="panel setting-rows" data-setting="town">
          <h2>${texts.town}</h2>
          <p class="hint">${texts.townHint}</p>
          <p dir="auto"><strong>${townOf(home.value)}</strong></p>
          ${parts.mayAdminister ? search.view() : nothing}
          ${
            home.value.latitude === undefined || !parts.mayAdminister
              ? nothing
              : html`<div class="actions">
                  ${formAction.button(texts.forgetTown, () => {
                    const none = { place: null, latitude: null, longitude: null };
                    void formAction.run(async () => {
                      await api.send("PATCH", "/config", { home: none });
                      await load();
                    }, texts.saved);
                  })}
                </div>`
          }
        </section>
        ${restNeedsFullAccess(parts)}
        ${
          users.length === 0
            ? nothing
            : html`<section class="panel setting-rows">
                ${users.map(({ id, name, error }) =>
                  linkRow(`uses-town-${id}`, {
                    title: name,
                    hint: error?.message ?? texts.usesTown,
                    href: addressOf("modules", id),
                  }),
                )}
              </section>`
        }`;
    },
  };
}

function townOf({ place, latitude, longitude }: Place): string {
  if (place !== undefined) return place;
  return latitude === undefined || longitude === undefined
    ? words.value.noTownYet
    : `${latitude}°, ${longitude}°`;
}
