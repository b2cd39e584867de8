import { html, type TemplateResult } from "lit";
import { encode } from "uqr";

/** Width of the quiet zone around a code, in modules (ISO/IEC 18004, 6.3.8). */
const QUIET = 4;

/** A text as a QR code. It is dark on light in every theme, because readers require that. */
export function qrOf(text: string, label: string): TemplateResult {
  const { data, size } = encode(text, { ecc: "M", border: QUIET });
  const path = data
    .flatMap((row, y) => row.map((dark, x) => (dark ? `M${x} ${y}h1v1h-1z` : "")))
    .join("");
  return html`<svg class="qr" role="img" aria-label=${label} viewBox="0 0 ${size} ${size}">
    <path d=${path} shape-rendering="crispEdges" />
  </svg>`;
}
