import assert from "node:assert/strict";
import { test, type TestContext } from "node:test";
import { defineChannels, defineService, Type } from "@mantel/plugin-sdk";
import { defineWidget, s } from "@mantel/plugin-sdk/widget";
import { mountWidget, provide } from "@mantel/plugin-sdk/widget-testing";
import { mountOnPage } from "../../helpers/page/widget.ts";

const { html, render } = await import("lit");

const channels = defineChannels({ headlines: { schema: Type.Array(Type.String()) } });
const search = defineService("acme.news.search", {
  input: Type.Object({ word: Type.String() }),
  output: Type.Array(Type.String()),
});

const widget = defineWidget({
  name: "Paper",
  size: { default: [2, 2] },
  settings: { title: s.text({ default: "News" }), lamp: s.device() },
  texts: { de: { News: "Nachrichten", "{count} lines": "{count} Zeilen" } },
  mount(root, ctx) {
    const headlines = ctx.channel<typeof channels>("headlines");
    let ticks = 0;
    ctx.every(1_000, () => void ticks++);
    ctx.effect(() => {
      const { title, lamp } = ctx.settings.value;
      const device = ctx.device(lamp).value;
      const lines = headlines.value ?? [];
      render(
        html`<h2>${ctx.t(title)}</h2>
          <p>${ctx.t("{count} lines", { count: lines.length })}</p>
          <ul>
            ${lines.map((each) => html`<li>${each}</li>`)}
          </ul>
          <b>${ctx.fmt.unit(21.5, "temperature")}</b>
          <button @click=${() => ctx.command(lamp, { on: device?.state["on"] !== true })}>
            ${device?.name} ${device?.state["on"] === true ? "on" : "off"}
          </button>`,
        root,
      );
    });
    return { handOver: () => ({ ticks }) };
  },
});

const lamp = { id: "hue:light:1", name: "Lamp", state: { on: false } };

test("a widget in the kit shows the same as in the dashboard", (t) => {
  const headlines = ["One", "Two"];
  const shown = mountWidget(widget, { channels: { headlines } });
  const inDashboard = mountOnPage(t, widget);
  inDashboard.setChannel("headlines", headlines);

  assert.deepEqual(shown.texts("h2, p, li, b, button"), inDashboard.textOf("h2, p, li, b, button"));
  shown.unmount();
});

test("settings, channels, devices and the language can change, and the widget follows", () => {
  const before = document.body.children.length;
  const shown = mountWidget(widget, { devices: [lamp] });
  assert.deepEqual([shown.text("h2"), shown.text("p"), shown.texts("li")], ["News", "0 lines", []]);

  shown.settings.value = { lamp: lamp.id };
  shown.setChannel("headlines", ["Rain"]);
  shown.setDevice({ ...lamp, state: { on: true } });
  shown.locale.value = "de-DE";

  assert.deepEqual(shown.texts("h2, p, li, b, button"), [
    "Nachrichten",
    "1 Zeilen",
    "Rain",
    "21,5°",
    "Lamp on",
  ]);
  shown.setChannel("own/headlines", undefined);
  assert.deepEqual(shown.texts("li"), []);
  shown.unmount();
  assert.equal(document.body.children.length, before);
});

test("commands are recorded and change the device", () => {
  const shown = mountWidget(widget, { settings: { lamp: lamp.id }, devices: [lamp] });

  shown.click("button");

  assert.deepEqual(shown.commands, [{ id: lamp.id, command: { on: true } }]);
  assert.equal(shown.text("button"), "Lamp on");
  assert.throws(() => shown.click("a"), /nothing matches a in /);
  shown.unmount();
});

test("timers follow the time of the test while the widget is visible, and state is handed over", () => {
  const shown = mountWidget(widget);

  shown.advance(2_500);
  shown.visible.value = false;
  shown.advance(5_000);

  assert.deepEqual(shown.unmount(), { ticks: 2 });
});

test("the time of the home begins as the test says, and advances with it", () => {
  const begin = Date.parse("2026-11-20T07:05:00Z");
  const clock = defineWidget({
    name: "Clock",
    size: { default: [2, 2] },
    mount(root, ctx) {
      const draw = () => {
        root.textContent = `${ctx.fmt.time(ctx.now())} ${ctx.fmt.relative(begin)}`;
      };
      draw();
      ctx.every(60_000, draw);
    },
  });
  const shown = mountWidget(clock, { now: begin });
  const before = shown.text();

  shown.advance(5 * 60_000);

  assert.deepEqual([before, shown.text()], ["07:05 this minute", "07:10 5 min ago"]);
  shown.unmount();
});

test("calls reach the fakes of services, which check input and answer", async () => {
  const calling = defineWidget({
    name: "Search",
    size: { default: [2, 2] },
    mount(root, ctx) {
      const show = (text: string) => render(html`<p>${text}</p>`, root);
      void ctx.call(search, { word: "rain" }).then(
        (found) => show(found.join()),
        (error: { code: string }) => show(error.code),
      );
    },
  });
  const answer = async (found: unknown) => {
    const shown = mountWidget(calling, { services: [provide(search, () => found as string[])] });
    await shown.until(() => shown.texts("p").length > 0);
    shown.unmount();
    return shown.text("p");
  };

  assert.equal(await answer(["Rain tonight"]), "Rain tonight");
  assert.equal(await answer("Rain"), "service_unavailable");
  const without = mountWidget(calling);
  await without.until(() => without.texts("p").length > 0);
  assert.equal(without.text("p"), "service_unavailable");
  without.unmount();
});

test("an error while mounting is thrown, and a later one is recorded", () => {
  const failing = defineWidget({
    name: "Failing",
    size: { default: [1, 1] },
    settings: { fail: s.bool() },
    mount(_root, ctx) {
      ctx.effect(() => {
        if (ctx.settings.value.fail) throw new Error("no luck");
      });
    },
  });

  assert.throws(() => mountWidget(failing, { settings: { fail: true } }), /no luck/);
  const shown = mountWidget(failing);
  shown.settings.value = { fail: true };
  assert.match(String(shown.faults[0]), /no luck/);
  shown.unmount();
});

test("a widget is refused what its needs do not list, with the sentence of a frame", async (t) => {
  const { messages } = collectWarnings(t);
  const answers: string[] = [];
  const note = ({ error }: { error?: { message: string } }) =>
    void answers.push(error?.message ?? "ok");
  const asking = defineWidget({
    name: "Asking",
    size: { default: [1, 1] },
    mount(root, ctx) {
      const [seen, lines] = [ctx.devices().value.length, ctx.channel("headlines").value];
      render(html`<p>${seen} ${String(lines)}</p>`, root);
      void ctx.command(lamp.id, { on: true }).then(note);
      void ctx.commandRoom("", "light", { on: true }).then(note);
      void ctx.scene("demo:scene:1").then(note);
      void ctx.call(search, { word: "rain" }).catch((error: Error) => answers.push(error.message));
      void ctx.read("/calendar/events").catch((error: Error) => answers.push(error.message));
    },
  });
  const home = {
    devices: [lamp],
    channels: { headlines: "Rain" },
    reads: { "/calendar/events": [] },
  };

  const shown = mountWidget(asking, { ...home, needs: {} });
  await shown.until(() => answers.length === 5);

  assert.equal(shown.text("p"), "0 undefined");
  assert.deepEqual(shown.commands, []);
  const add = (needs: string) => `add "needs": {${needs}} to "mantel" in its package.json`;
  assert.deepEqual(answers.toSorted(), [
    `this widget may not activate scenes: ${add('"scenes":true')}`,
    `this widget may not call the service acme.news.search: ${add('"services":["acme.news.search"]')}`,
    `this widget may not command devices: ${add('"devices":["read","command"]')}`,
    `this widget may not command rooms: ${add('"devices":["read","command"]')}`,
    `this widget may not read /calendar/events: ${add('"reads":["calendar"]')}`,
  ]);
  assert.deepEqual(messages, [
    `this widget has no access to devices: ${add('"devices":["read"]')}`,
    `this widget has no access to the channel headlines: ${add('"channels":["headlines"]')}`,
  ]);
  shown.unmount();

  const needs = { devices: ["read", "command"], channels: ["headlines"], scenes: true } as const;
  const permitted = mountWidget(asking, {
    ...home,
    needs: { ...needs, devices: [...needs.devices], channels: [...needs.channels] },
  });
  assert.equal(permitted.text("p"), "1 Rain");
  assert.deepEqual(permitted.commands.length, 1);
  permitted.unmount();
});

function collectWarnings(t: TestContext) {
  const messages: unknown[] = [];
  t.mock.method(console, "warn", (message: unknown) => void messages.push(message));
  return { messages };
}
