import assert from "node:assert/strict";
import { test } from "node:test";
import "../../helpers/page/light-dom.ts";
import { showNotification } from "../../../host/dashboard/notification.ts";

test("a message is shown and read out, and other data is ignored", () => {
  const readOut: string[] = [];
  const announce = (text: string) => void readOut.push(text);

  for (const data of [null, "text", {}, { message: 7 }]) showNotification(data, announce);
  showNotification({ message: "The washing is done" }, announce);

  assert.deepEqual(readOut, ["The washing is done"]);
  const notice = document.querySelector(".undo-notice");
  assert.equal(notice?.textContent?.trim(), "The washing is done");

  const cause = { kind: "module", id: "washer", name: "Washing" };
  showNotification({ message: "The dryer, too", cause }, announce);
  const next = document.querySelector(".undo-notice");
  assert.equal(next?.querySelector("small")?.textContent, "from Washing");
  assert.deepEqual(readOut.at(-1), "The dryer, too");
  showNotification({ message: "The door is open", cause, from: "Evening" }, announce);
  assert.equal(document.querySelector(".undo-notice small")?.textContent, "from Evening");
  document.querySelector(".undo-notice")?.remove();
});
