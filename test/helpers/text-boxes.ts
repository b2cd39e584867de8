import assert from "node:assert/strict";
import type { Page } from "playwright-core";
import { until } from "./until.ts";

/** A line of text or an icon as it is drawn, in CSS pixels of the page. */
interface TextBox {
  readonly text: string;
  readonly left: number;
  readonly top: number;
  readonly right: number;
  readonly bottom: number;
  /** True if a part of it is where nobody can see it or scroll to it. */
  readonly cut: boolean;
}

interface Drawn {
  readonly wide: number;
  readonly inner: number;
  readonly boxes: readonly TextBox[];
}

/** Less than this is the blank around letters, in CSS pixels and as a share of their height. */
const SLACK_PX = 2;
const SLACK_SHARE = 0.1;

/**
 * Fails when the page is wider than the window, or texts and icons lie on each other, or are cut off, which
 * `mayBeCut` permits for texts that nobody gives things.
 */
export async function assertFits(page: Page, { mayBeCut = false } = {}): Promise<void> {
  // Tiles draw again once they have been measured, so a window that has just changed is looked at again.
  await until(async () => {
    const { wide, inner, boxes } = await page.evaluate<Drawn>(DRAWN);
    const cut = boxes.filter((box) => box.cut && !mayBeCut);
    const overlaps = boxes.flatMap((box, index) =>
      boxes
        .slice(index + 1)
        // Text that dots replace is on its own text.
        .filter(({ text }) => !mayBeCut || text !== box.text)
        .flatMap((other) => (overlap(box, other) ? [[box, other]] : [])),
    );
    assert.ok(boxes.length > 0, "the page shows text");
    assert.ok(wide <= inner, `the page is ${wide} px wide in a window of ${inner} px`);
    assert.deepEqual({ cut, overlaps }, { cut: [], overlaps: [] });
    return true;
  });
}

function overlap(one: TextBox, other: TextBox): boolean {
  const across = Math.min(one.right, other.right) - Math.max(one.left, other.left);
  const down = Math.min(one.bottom, other.bottom) - Math.max(one.top, other.top);
  const slack = Math.max(SLACK_PX, (one.bottom - one.top) * SLACK_SHARE);
  return across > slack && down > SLACK_PX;
}

/** Each line of each text, inside of shadow roots, as far as what is around it lets it be seen. */
const DRAWN = `(() => {
  const boxes = [];
  const parentOf = (node) => node.assignedSlot ?? node.parentElement ?? node.getRootNode().host;
  const visit = (node) => {
    if (node.nodeType === Node.TEXT_NODE) return add(node);
    if (node.nodeType === Node.ELEMENT_NODE) {
      if (node.matches(".unseen, style, script, option")) return;
      if (!node.checkVisibility({ visibilityProperty: true, opacityProperty: true })) return;
    }
    if (node.localName === "mantel-icon" || node.matches?.("svg:not(.spark)")) {
      const { left, top, right, bottom } = node.getBoundingClientRect();
      const seen = clip(node, { left, top, right, bottom });
      if (seen) boxes.push({ text: node.getAttribute("name") ?? "a picture", ...seen });
      if (node.localName === "mantel-icon") return; // its drawing is not a second picture
    }
    for (const child of (node.shadowRoot ?? node).childNodes) visit(child);
  };
  const add = (node) => {
    const text = node.data.trim();
    if (text === "") return;
    const range = document.createRange();
    range.selectNodeContents(node);
    for (const rect of range.getClientRects()) {
      if (rect.width === 0) continue;
      // The share of a line's height that letters take.
      const { left, right } = rect;
      const top = rect.top + rect.height * 0.2;
      const bottom = rect.bottom - rect.height * 0.2;
      const seen = clip(node, { left, top, right, bottom });
      if (seen) boxes.push({ text, ...seen });
    }
  };
  const clip = (node, box) => {
    let { left, top, right, bottom } = box;
    let cut = false;
    for (let at = parentOf(node); at; at = parentOf(at)) {
      const style = getComputedStyle(at);
      if (style.overflow === "visible" || at === document.documentElement) continue;
      const around = at.getBoundingClientRect();
      const scrolls = { x: /auto|scroll/.test(style.overflowX), y: /auto|scroll/.test(style.overflowY) };
      cut ||= !scrolls.x && (around.left > left + ${SLACK_PX} || around.right < right - ${SLACK_PX});
      cut ||= !scrolls.y && (around.top > top + ${SLACK_PX} || around.bottom < bottom - ${SLACK_PX});
      left = Math.max(left, around.left);
      top = Math.max(top, around.top);
      right = Math.min(right, around.right);
      bottom = Math.min(bottom, around.bottom);
      if (style.position === "fixed") break;
    }
    if (!cut && (left >= right || top >= bottom)) return undefined;
    return { left, top: top + scrollY, right, bottom: bottom + scrollY, cut };
  };
  visit(document.body);
  return { wide: document.documentElement.scrollWidth, inner: innerWidth, boxes };
})()`;
