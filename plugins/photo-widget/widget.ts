import { defineWidget, s, type WidgetContext } from "@mantel/plugin-sdk/widget";
import { computed, signal } from "@preact/signals-core";
import { html, nothing, render, type TemplateResult } from "lit";
import { orderPhotos, pathOf, type Photo, photosOf, shufflePhotos } from "./widget/order.ts";
import { Picture } from "./widget/picture.ts";
import styles from "./widget.css";
import cardStyles from "@mantel/plugin-sdk/ui/card.css";

const settings = {
  seconds: s.number({ title: "Seconds per picture", min: 5, max: 86_400, step: 1, default: 60 }),
  album: s.text({ title: "Only this album (empty: all pictures)" }),
  shuffle: s.bool({ title: "Shuffle every day", default: true }),
  order: s.choice(["name", "newest"], { title: "Order without shuffling", default: "name" }),
  fit: s.choice(["cover", "contain"], {
    title: "Fill the tile, or show the whole picture",
    default: "cover",
  }),
};
type Context = WidgetContext<typeof settings, { shown: string }>;

interface Listing {
  readonly state: "loading" | "known" | "failed";
  readonly photos: readonly Photo[];
}

const SECOND_MS = 1_000;
/** Maximum delay until new files in the folder are found. */
const LIST_MS = 5 * 60_000;

export default defineWidget<typeof settings, { shown: string }>({
  name: "Photo frame",
  icon: "mdi:image-outline",
  size: { default: [4, 7], min: [2, 4] },
  texts: {
    de: {
      "Photo frame": "Bilderrahmen",
      "Seconds per picture": "Sekunden pro Bild",
      "Only this album (empty: all pictures)": "Nur dieses Album (leer: alle Bilder)",
      "Shuffle every day": "Jeden Tag neu mischen",
      "Order without shuffling": "Reihenfolge ohne Mischen",
      name: "nach Name",
      newest: "neueste zuerst",
      "Fill the tile, or show the whole picture": "Kachel füllen oder ganzes Bild zeigen",
      cover: "füllen",
      contain: "ganzes Bild zeigen",
      "Next picture": "Nächstes Bild",
      "No pictures yet": "Noch keine Bilder",
      "Add some under Settings, Photos.": "Füge sie unter Einstellungen, Fotos hinzu.",
      "Could not load the pictures.": "Die Bilder konnten nicht geladen werden.",
    },
  },
  settings,
  preview: () => ({ "/photos": { photos: [] } }),
  styles: cardStyles + styles,
  mount(root, ctx) {
    const listing = signal<Listing>({ state: "loading", photos: [] });
    const picture = new Picture(ctx);
    let shown = ctx.handedOver?.shown ?? "";
    let left = 0;

    const list = async (): Promise<void> => {
      try {
        const { photos } = (await (await ctx.read("/photos")).json()) as { photos: Photo[] };
        listing.value = { state: "known", photos };
      } catch (error) {
        ctx.log.warn("could not list the pictures", error);
        listing.value = { ...listing.peek(), state: "failed" };
      }
    };
    const chosen = computed(() => photosOf(listing.value.photos, ctx.settings.value.album.trim()));
    /** Skips files that are not pictures. Tries each file once. */
    const next = async (from = shown, tries = chosen.peek().length): Promise<void> => {
      const { seconds, shuffle, order } = ctx.settings.peek();
      left = seconds;
      const photos = shuffle
        ? shufflePhotos(chosen.peek(), ctx.now())
        : orderPhotos(chosen.peek(), order);
      const at = photos.findIndex((each) => pathOf(each) === from);
      const photo = photos[(at + 1) % photos.length];
      if (!photo || tries === 0) return;
      const path = pathOf(photo);
      if (await picture.show(path)) shown = path;
      else await next(path, tries - 1);
    };

    void list();
    ctx.every(LIST_MS, () => void list());
    ctx.every(SECOND_MS, () => {
      if (--left <= 0 && chosen.peek().length > 1) void next();
    });
    ctx.effect(() => {
      const isStillChosen = chosen.value.some((photo) => pathOf(photo) === shown);
      if (chosen.value.length > 0 && !(picture.isShown && isStillChosen)) void next();
    });
    ctx.effect(() => {
      const { fit } = ctx.settings.value;
      const { state } = listing.value;
      const view = { picture, fit, next: () => void next() };
      render(frame(ctx, { state, photos: chosen.value }, view), root);
    });
    return { handOver: () => ({ shown }) };
  },
});

interface Shown {
  readonly picture: Picture;
  readonly fit: string;
  readonly next: () => void;
}

function frame(ctx: Context, { photos, state }: Listing, shown: Shown): TemplateResult {
  const { t } = ctx;
  if (photos.length === 0) {
    const empty = html`<strong>${t("No pictures yet")}</strong>${t(
        "Add some under Settings, Photos.",
      )}`;
    const failed = t("Could not load the pictures.");
    return html`<section
      class="card"
      aria-label=${t("Photo frame")}
      aria-busy=${state === "loading"}
    >
      <div class="empty">
        ${state === "loading" ? nothing : state === "failed" ? failed : empty}
      </div>
    </section>`;
  }
  return html`<button
    class="card photo ${shown.fit}"
    aria-label="${t("Photo frame")}: ${t("Next picture")}"
    @click=${shown.next}
  >
    ${shown.picture.element}
  </button>`;
}
