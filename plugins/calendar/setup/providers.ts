import { MantelError, sentence, type Sentence } from "@mantel/plugin-sdk";

interface Provider {
  /** Domains of its mail addresses. */
  readonly domains: readonly string[];
  /** The end of the names of its mail servers, which domains of customers point to. */
  readonly mailServer?: string;
  /** Its CalDAV server, as its help pages name it; or the reason for having none. */
  readonly calendars: string | Sentence;
}

const GOOGLE = sentence(
  "google_sign_in",
  "Google does not take passwords here: open the calendar's settings at Google, copy its secret address in iCal format, and enter that",
);
const MICROSOFT = sentence(
  "microsoft_sign_in",
  "Microsoft does not take passwords here: publish the calendar in the settings of Outlook, copy its ICS link, and enter that",
);

/** Providers that do not publish their server as RFC 6764 has it, for all of their addresses. */
const PROVIDERS: readonly Provider[] = [
  {
    domains: ["gmail.com", "googlemail.com"],
    mailServer: "google.com",
    calendars: GOOGLE,
  },
  {
    domains: ["outlook.com", "outlook.de", "hotmail.com", "hotmail.de", "live.com", "msn.com"],
    mailServer: "mail.protection.outlook.com",
    calendars: MICROSOFT,
  },
  {
    domains: ["icloud.com", "me.com", "mac.com"],
    mailServer: "mail.icloud.com",
    calendars: "https://caldav.icloud.com/",
  },
  {
    domains: ["fastmail.com", "fastmail.fm"],
    mailServer: "messagingengine.com",
    calendars: "https://caldav.fastmail.com/",
  },
  { domains: ["gmx.de", "gmx.net", "gmx.at", "gmx.ch"], calendars: "https://caldav.gmx.net/" },
  { domains: ["web.de"], calendars: "https://caldav.web.de/" },
  {
    domains: ["posteo.de", "posteo.net"],
    mailServer: "posteo.de",
    calendars: "https://posteo.de:8443/",
  },
  { domains: ["mailbox.org"], mailServer: "mailbox.org", calendars: "https://dav.mailbox.org/" },
  { domains: ["yahoo.com", "ymail.com"], calendars: "https://caldav.calendar.yahoo.com/" },
];

/**
 * The CalDAV server of a provider with this mail domain; `undefined` for any other domain.
 * @throws MantelError `invalid` if that provider has none for passwords
 */
export function findByDomain(domain: string): string | undefined {
  return serverOf(PROVIDERS.find(({ domains }) => domains.includes(domain)));
}

/**
 * The same by the name of a mail server of a customer's own domain.
 * @throws MantelError `invalid`
 */
export function findByMailServer(name: string): string | undefined {
  const host = name.toLowerCase().replace(/\.$/, "");
  return serverOf(
    PROVIDERS.find(
      ({ mailServer }) =>
        mailServer !== undefined && (host === mailServer || host.endsWith(`.${mailServer}`)),
    ),
  );
}

function serverOf(provider: Provider | undefined): string | undefined {
  if (provider === undefined) return undefined;
  const { calendars } = provider;
  if (typeof calendars === "string") return calendars;
  throw new MantelError("invalid", calendars);
}
