import type { Device } from "../device.ts";
import type { Formats } from "../i18n.ts";

/** The field by which a device measures energy. Prefers the counter over power, because it misses nothing. */
export function meteredField({
  capabilities,
}: Pick<Device, "capabilities">): "energy" | "power" | undefined {
  return (["energy", "power"] as const).find((field) => {
    const capability = capabilities[field];
    return capability?.type === "number" && capability.readOnly === true;
  });
}

/** An amount of money. `currency` is a code of ISO 4217, or a text that follows the amount. */
export function costText(
  cost: number,
  currency: string,
  { number }: Pick<Formats, "number">,
): string {
  if (/^[A-Za-z]{3}$/.test(currency)) return number(cost, { style: "currency", currency });
  return `${number(cost, { minimumFractionDigits: 2, maximumFractionDigits: 2 })} ${currency}`;
}
