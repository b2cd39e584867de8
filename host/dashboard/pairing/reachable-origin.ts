/**
 * The origin with which a phone opens this page; `undefined` if it cannot, because the host listens on loopback only.
 * `address` is the one in the answer of the host, which is absent if the page has an address that phones can use.
 */
export function originForPhones(
  page: Pick<Location, "origin">,
  address: string | null | undefined,
): string | undefined {
  return address === undefined ? page.origin : (address ?? undefined);
}
