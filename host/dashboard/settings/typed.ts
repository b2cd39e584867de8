/** What was typed or chosen in a field of a form, without the blanks around it. */
export function typed(form: EventTarget | null, name: string): string {
  const value = form instanceof HTMLFormElement ? new FormData(form).get(name) : undefined;
  return typeof value === "string" ? value.trim() : "";
}
