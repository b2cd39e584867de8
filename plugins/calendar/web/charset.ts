import { isUtf8 } from "node:buffer";

/**
 * A text in UTF-8, as iCalendar and vCards are unless the server names another charset (RFC 5545, 3.1.4). What is
 * UTF-8 already stays, because servers name one without looking.
 */
export function inUtf8(bytes: Uint8Array, contentType = ""): Uint8Array {
  const [, charset = "utf-8"] = /;\s*charset\s*=\s*"?([\w-]+)/i.exec(contentType) ?? [];
  const { encoding } = decoderFor(charset);
  const isWide = encoding.startsWith("utf-16"); // such a text has zeros, which are UTF-8 too
  // a fold may cut through a character, so UTF-8 is decoded only after folds are joined
  if (encoding === "utf-8" || (!isWide && isUtf8(bytes))) return bytes;
  return Buffer.from(decoderFor(charset).decode(bytes));
}

/** For a charset that is not known, the decoder of UTF-8. */
export function decoderFor(charset: string) {
  try {
    return new TextDecoder(charset);
  } catch {
    return new TextDecoder();
  }
}
