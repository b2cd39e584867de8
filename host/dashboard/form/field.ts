import type { FieldSchema } from "./schema.ts";

/** What a form offers for the formats `device` and `room`. */
export interface Offers {
  readonly devices: readonly {
    readonly id: string;
    readonly name: string;
    readonly kind: string;
  }[];
  readonly rooms: readonly string[];
}

export interface FormRequest {
  /** The schema of an object: one input for each of its properties. */
  readonly schema: FieldSchema;
  readonly values: Readonly<Record<string, unknown>>;
  readonly offers: Offers;
  /** What the host found wrong, by JSON pointer (RFC 6901) into the values. */
  readonly faults?: ReadonlyMap<string, string>;
  /** Starts the ids of the inputs; two forms on a page have two. */
  readonly id: string;
  /**
   * Takes all values after each change. A value that does not fit is given too, and the form says
   * what is wrong with it: what follows from it is the caller's. Absent stands for the default.
   */
  readonly onChange: (values: Readonly<Record<string, unknown>>) => void;
}

/** One input, with where its value stands and how it is changed. */
export interface Field {
  readonly key: string;
  readonly schema: FieldSchema;
  readonly value: unknown;
  /** The JSON pointer of the value. */
  readonly pointer: string;
  readonly request: FormRequest;
  readonly set: (value: unknown) => void;
}

/** The JSON pointer of what stands under a key. */
export function pointerTo(pointer: string, key: string): string {
  return `${pointer}/${key.replaceAll("~", "~0").replaceAll("/", "~1")}`;
}

/** The id of a field's input in the page. */
export function idOf({ request, pointer }: Pick<Field, "request" | "pointer">): string {
  return `${request.id}${pointer.replaceAll("/", "-")}`;
}
