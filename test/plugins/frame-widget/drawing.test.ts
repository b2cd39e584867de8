import assert from "node:assert/strict";
import { test } from "node:test";
import { mountOnPage } from "../../helpers/page/widget.ts";

const { default: frame } = await import("../../../plugins/frame-widget/widget.ts");

test("a web page is shown in a sandbox, and may store data only if the settings allow it", (t) => {
  const { config, root } = mountOnPage(t, frame, {
    config: { url: "https://example.org/times", title: "Departures" },
  });
  const shown = () => {
    const page = root.querySelector("iframe");
    return ["title", "src", "sandbox", "allow"].map((name) => page?.getAttribute(name));
  };
  const before = shown();

  config.value = { url: "https://example.org/times", storage: true };

  const href = "https://example.org/times";
  assert.deepEqual(before, ["Departures", href, "allow-scripts allow-forms", ""]);
  assert.deepEqual(shown(), [
    "example.org",
    href,
    "allow-scripts allow-forms allow-same-origin",
    "",
  ]);
});

test("an address that cannot be shown is explained", (t) => {
  const { config, textOf } = mountOnPage(t, frame);
  const fault = (url: string): string[] => {
    config.value = { url };
    return textOf("strong");
  };

  assert.deepEqual(["", "javascript:alert(1)", "http://mantel.test/"].map(fault), [
    ["No address yet"],
    ["Invalid address"],
    ["Cannot be shown here"],
  ]);
});

test("a page that the policy blocks is explained, and no other page is", (t) => {
  const { config, root, textOf } = mountOnPage(t, frame, { config: { url: "https://a.test/x" } });
  const block = (effectiveDirective: string): void => {
    const event = new Event("securitypolicyviolation");
    document.dispatchEvent(
      Object.assign(event, { effectiveDirective, blockedURI: "https://a.test" }),
    );
  };
  block("img-src");
  const image = root.querySelectorAll("iframe").length;

  block("frame-src");
  const blocked = textOf("strong");
  config.value = { url: "https://b.test/" };

  assert.deepEqual([image, blocked], [1, ["https://a.test is not allowed yet"]]);
  assert.equal(root.querySelector("iframe")?.getAttribute("src"), "https://b.test/");
});

test("a page is loaded again after the minutes of the settings", (t) => {
  t.mock.timers.enable({ apis: ["setTimeout", "Date"], now: 0 });
  const { root } = mountOnPage(t, frame, { config: { url: "https://a.test/", reloadMinutes: 2 } });
  const first = root.querySelector("iframe");

  t.mock.timers.tick(60_000);
  const after = root.querySelector("iframe");
  t.mock.timers.tick(60_000);

  assert.equal(after, first);
  assert.notEqual(root.querySelector("iframe"), first);
});
