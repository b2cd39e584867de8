/** The trimmed value of a form field. */
export function formValue(form: EventTarget | null, name: string): string {
  const value = form instanceof HTMLFormElement ? new FormData(form).get(name) : undefined;
  return typeof value === "string" ? value.trim() : "";
}
