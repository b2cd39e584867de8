import { defineWidget, s } from "@mantel/plugin-sdk/widget";
import { signal } from "@preact/signals-core";
import { html, render } from "lit";
import styles from "./widget.css";

export default defineWidget({
  name: "Clock",
  icon: "mdi:clock-outline",
  size: { default: [4, 8], min: [2, 4], max: [12, 14] },
  settings: { seconds: s.bool({ title: "Show seconds" }) },
  styles,
  mount(root, ctx) {
    const now = signal(ctx.now());
    ctx.every(1_000, () => (now.value = ctx.now()));

    ctx.effect(() => {
      const { seconds } = ctx.settings.value;
      const parts = new Intl.DateTimeFormat(ctx.locale.value, {
        hour: "2-digit",
        minute: "2-digit",
        ...(seconds ? { second: "2-digit" } : {}),
        timeZone: ctx.timeZone.value,
      }).formatToParts(now.value);
      // The separators are separate elements, so that the digits stand out from a distance.
      const time = parts.map(({ type, value }) =>
        type === "literal" ? html`<i>${value}</i>` : html`<span class=${type}>${value}</span>`,
      );
      const twelve = parts.some(({ type }) => type === "dayPeriod");
      render(
        html`<time class="${seconds ? "seconds" : ""} ${twelve ? "twelve" : ""}" role="timer"
            >${time}</time
          >
          <p>${ctx.fmt.date(now.value)}</p>`,
        root,
      );
    });
  },
});
