import type { Provider as SignInAt } from "./sign-in.ts";

/** The place of a provider's calendars: its CalDAV server, as its help pages name it, or a sign-in. */
export type KnownPlace = { readonly url: string } | { readonly signInAt: SignInAt };

interface Provider {
  /** Domains of its mail addresses. */
  readonly domains: readonly string[];
  /** The end of the names of its mail servers, which domains of customers point to. */
  readonly mailServer?: string;
  readonly place: KnownPlace;
}

/** Providers that do not publish their server as RFC 6764 has it, for all of their addresses. */
const PROVIDERS: readonly Provider[] = [
  {
    domains: ["gmail.com", "googlemail.com"],
    mailServer: "google.com",
    place: { signInAt: "google" },
  },
  {
    domains: ["outlook.com", "outlook.de", "hotmail.com", "hotmail.de", "live.com", "msn.com"],
    mailServer: "mail.protection.outlook.com",
    place: { signInAt: "microsoft" },
  },
  {
    domains: ["icloud.com", "me.com", "mac.com"],
    mailServer: "mail.icloud.com",
    place: { url: "https://caldav.icloud.com/" },
  },
  {
    domains: ["fastmail.com", "fastmail.fm"],
    mailServer: "messagingengine.com",
    place: { url: "https://caldav.fastmail.com/" },
  },
  { domains: ["gmx.de", "gmx.net", "gmx.at", "gmx.ch"], place: { url: "https://caldav.gmx.net/" } },
  { domains: ["web.de"], place: { url: "https://caldav.web.de/" } },
  {
    domains: ["posteo.de", "posteo.net"],
    mailServer: "posteo.de",
    place: { url: "https://posteo.de:8443/" },
  },
  {
    domains: ["mailbox.org"],
    mailServer: "mailbox.org",
    place: { url: "https://dav.mailbox.org/" },
  },
  { domains: ["yahoo.com", "ymail.com"], place: { url: "https://caldav.calendar.yahoo.com/" } },
];

/** The place of the calendars of a provider with this mail domain; `undefined` for any other domain. */
export function findByDomain(domain: string): KnownPlace | undefined {
  return PROVIDERS.find(({ domains }) => domains.includes(domain))?.place;
}

/** The same by the name of a mail server of a customer's own domain. */
export function findByMailServer(name: string): KnownPlace | undefined {
  const host = name.toLowerCase().replace(/\.$/, "");
  return PROVIDERS.find(
    ({ mailServer }) =>
      mailServer !== undefined && (host === mailServer || host.endsWith(`.${mailServer}`)),
  )?.place;
}
