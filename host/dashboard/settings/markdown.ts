import { html, nothing, type TemplateResult } from "lit";

/** The lines that are shown of a document, and the characters of a line. */
const MOST_LINES = 2_000;
const LONGEST_LINE = 2_000;

const HEADING = /^(#{1,6})\s+(.+?)\s*#*$/;
const ITEM = /^\s{0,6}(?:[-*+]|\d{1,3}[.)])\s+(.+)$/;
const FENCE = /^\s{0,3}(```|~~~)/;
/** Code, strong and emphasised words, images and links, in one line. */
const INLINE =
  /`([^`]{1,500})`|\*\*([^*]{1,500})\*\*|__([^_]{1,500})__|\*([^*\s][^*]{0,500})\*|(!?)\[([^\]]{0,300})\]\(([^()\s]{1,500})\)/g;

/**
 * The common parts of a Markdown document (CommonMark), as templates: no HTML, images or scripts of the document reach
 * the page, and links lead only to web addresses.
 */
export function markdownView(text: string): readonly TemplateResult[] {
  const lines = text.split(/\r?\n/, MOST_LINES).map((line) => line.slice(0, LONGEST_LINE));
  const blocks: TemplateResult[] = [];
  for (let at = 0; at < lines.length;) {
    const end = endOfBlock(lines, at);
    const block = blockOf(lines.slice(at, end));
    if (block) blocks.push(block);
    at = end;
  }
  return blocks;
}

/** The line after the block that begins at this one. */
function endOfBlock(lines: readonly string[], start: number): number {
  const first = lines[start] ?? "";
  const [, fence] = FENCE.exec(first) ?? [];
  if (fence !== undefined) {
    const end = lines.findIndex((line, at) => at > start && line.trim().startsWith(fence));
    return end === -1 ? lines.length : end + 1;
  }
  if (first.trim() === "" || HEADING.test(first)) return start + 1;
  const isList = ITEM.test(first);
  let end = start + 1;
  while (end < lines.length && continues(lines[end] ?? "", isList)) end++;
  return end;
}

/** True for a line that belongs to the paragraph or list before it. */
function continues(line: string, isList: boolean): boolean {
  if (line.trim() === "" || HEADING.test(line) || FENCE.test(line)) return false;
  return isList || !ITEM.test(line);
}

function blockOf(lines: readonly string[]): TemplateResult | undefined {
  const [first = ""] = lines;
  if (FENCE.test(first)) {
    const code = lines.slice(1, FENCE.test(lines.at(-1) ?? "") ? -1 : undefined);
    return html`<pre tabindex="0"><code>${code.join("\n")}</code></pre>`;
  }
  const [, marks, title] = HEADING.exec(first) ?? [];
  if (marks !== undefined && title !== undefined) return headingOf(marks.length, title);
  if (ITEM.test(first)) return listOf(lines);
  const text = lines.join(" ").trim();
  return text === "" || /^([-*_] ?){3,}$/.test(text) ? undefined : html`<p>${inline(text)}</p>`;
}

/** The page has two levels of headings above. */
function headingOf(level: number, title: string): TemplateResult {
  const text = inline(title);
  if (level === 1) return html`<h3>${text}</h3>`;
  return level === 2 ? html`<h4>${text}</h4>` : html`<h5>${text}</h5>`;
}

function listOf(lines: readonly string[]): TemplateResult {
  const items: string[] = [];
  for (const line of lines) {
    const [, item] = ITEM.exec(line) ?? [];
    if (item === undefined) items.push(`${items.pop() ?? ""} ${line.trim()}`);
    else items.push(item);
  }
  return html`<ul>
    ${items.map((item) => html`<li>${inline(item)}</li>`)}
  </ul>`;
}

function inline(text: string): readonly unknown[] {
  const parts: unknown[] = [];
  let end = 0;
  for (const found of text.matchAll(INLINE)) {
    const [whole, code, strong, strongToo, emphasis, bang, label = "", address = ""] = found;
    parts.push(text.slice(end, found.index));
    end = found.index + whole.length;
    const bold = strong ?? strongToo;
    if (code !== undefined) parts.push(html`<code>${code}</code>`);
    else if (bold !== undefined) parts.push(html`<strong>${bold}</strong>`);
    else if (emphasis !== undefined) parts.push(html`<em>${emphasis}</em>`);
    else parts.push(bang === "!" ? label : linkOf(label, address));
  }
  parts.push(text.slice(end));
  return parts.map((part) => (part === "" ? nothing : part));
}

function linkOf(label: string, address: string): unknown {
  if (!/^https?:\/\//i.test(address) || !URL.canParse(address)) return label;
  return html`<a href=${address} target="_blank" rel="noopener noreferrer">${label}</a>`;
}
