/** The prefix of element names with its colon, or an empty text for the default namespace. */
export interface DavPrefixes {
  readonly d: string;
  readonly c: string;
  readonly cs: string;
}

const USUAL: DavPrefixes = { d: "d:", c: "cal:", cs: "cs:" };

/** Writes answers of WebDAV, CalDAV and CalendarServer, under whatever names a server has for the three. */
export class DavXml {
  readonly #prefixes: DavPrefixes;
  readonly #cdata: boolean;

  constructor(prefixes = USUAL, cdata = false) {
    this.#prefixes = prefixes;
    this.#cdata = cdata;
  }

  readonly d = (name: string, content = "") => element(this.#prefixes.d + name, content);
  readonly c = (name: string, content = "") => element(this.#prefixes.c + name, content);
  readonly cs = (name: string, content = "") => element(this.#prefixes.cs + name, content);

  /** A text as content of an element. */
  readonly data = (text: string): string => {
    if (this.#cdata) return `<![CDATA[${text.replaceAll("]]>", "]]]]><![CDATA[>")}]]>`;
    return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll("\r", "&#13;");
  };

  /** The known and the unknown properties of a resource: servers answer in two parts. */
  readonly response = (path: string, known: string): string => {
    const part = (status: string, properties: string) =>
      this.d("propstat", this.d("prop", properties) + this.d("status", `HTTP/1.1 ${status}`));
    const parts = part("200 OK", known) + part("404 Not Found", this.d("quota-used-bytes"));
    return this.d("response", this.d("href", path) + parts);
  };

  readonly multistatus = (...parts: string[]): { status: number; body: string } => {
    const name = `${this.#prefixes.d}multistatus`;
    const namespaces = [
      [this.#prefixes.d, "DAV:"],
      [this.#prefixes.c, "urn:ietf:params:xml:ns:caldav"],
      [this.#prefixes.cs, "http://calendarserver.org/ns/"],
    ].map(([prefix = "", uri]) => `xmlns${prefix && `:${prefix.slice(0, -1)}`}="${uri}"`);
    const body = `<${name} ${namespaces.join(" ")}>${parts.join("")}</${name}>`;
    return { status: 207, body: `<?xml version="1.0" encoding="utf-8"?>${body}` };
  };
}

const element = (name: string, content: string) => `<${name}>${content}</${name}>`;
