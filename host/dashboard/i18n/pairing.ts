import { translated, type Translation } from "./language.ts";

const english = {
  tokenInvalid: "This token is no longer valid. It has expired or was revoked.",
  displayRevoked: (name: string) => `The display “${name}” was revoked.`,
  displayExpired: (name: string) =>
    `The display “${name}” was offline for too long. Its access has expired.`,
  pairAgain: "Approve the new code to pair it again.",

  linkUsed: "This link was already used. Create another token, or pair this screen with its code.",
  signInInstead: "Sign in as someone else?",
  signedInAs: (name: string, scope: string) => `“${name}” is signed in here (${scope}).`,
  linkBelongsTo: (name: string, scope: string) => `The link belongs to “${name}” (${scope}).`,
  staySignedInAs: (name: string) => `Stay signed in as “${name}”`,
  signInAs: (name: string) => `Sign in as “${name}”`,
  stillSignedIn: (name: string) => `“${name}” is still signed in here.`,
  close: "Close",

  pairThisScreen: "Pair this screen",
  requestingCode: "Asking for a code …",
  hostUnreachable: "Mantel cannot be reached. Trying again …",
  screenDenied: "This screen was denied access.",
  showNewCode: "Show a new code",
  spelledCode: (code: string) => `Code ${code.split("").join(" ")}`,
  howToApprove: "Scan the code with a phone that is signed in, or enter it on that phone at",
  approveHere: "Enter the code in a browser of this computer that is signed in, at",
  onlyThisMachine:
    "Phones cannot open this address: Mantel listens on this computer only. Start it with --host 0.0.0.0 to reach it from your network.",
  qrCode: "QR code that opens the approval",
  orOpenStartupLink: "Or open the link that Mantel printed at startup on this screen.",
  linkOrToken: "Link or token",
  openDashboard: "Open the dashboard",

  approveDisplay: "Approve a display",
  codeOnDisplay: "Code on the display",
  continue: "Continue",
  confirmCode: "Does the display show this code?",
  displayAddress: (address: string) => `Its address is ${address}.`,
  displayName: "Name of the display",
  displayMay: "The display may",
  mayRead: "view the home",
  mayControl: "view and control the home",
  mayEdit: "also change the layout",
  mayAdmin: "do everything",
  approve: "Approve",
  denyDisplay: "Deny",
  displayApproved: (name: string) => `“${name}” is approved and shows the dashboard in a moment.`,
  displayDenied: "The display was denied access.",
  codeUnknown: "No display is waiting with this code. The code may have changed.",
  nameTaken: "Another display or token has this name. Choose another.",
  nameInvalid: "A name has at most 64 printable characters.",
  approvalForbidden: "Your own token does not permit approving displays.",
};

const german: Translation<typeof english> = {
  tokenInvalid: "Dieses Token ist nicht mehr gültig. Es ist abgelaufen oder wurde widerrufen.",
  displayRevoked: (name) => `Das Display „${name}“ wurde widerrufen.`,
  displayExpired: (name) =>
    `Das Display „${name}“ war zu lange offline. Sein Zugang ist abgelaufen.`,
  pairAgain: "Bestätige den neuen Code, um es wieder zu koppeln.",

  linkUsed:
    "Dieser Link wurde schon verwendet. Erstelle ein anderes Token, oder koppele diesen Bildschirm mit seinem Code.",
  signInInstead: "Als jemand anderes anmelden?",
  signedInAs: (name, scope) => `„${name}“ ist hier angemeldet (${scope}).`,
  linkBelongsTo: (name, scope) => `Der Link gehört zu „${name}“ (${scope}).`,
  staySignedInAs: (name) => `Als „${name}“ angemeldet bleiben`,
  signInAs: (name) => `Als „${name}“ anmelden`,
  stillSignedIn: (name) => `„${name}“ ist hier weiterhin angemeldet.`,
  close: "Schließen",

  pairThisScreen: "Diesen Bildschirm koppeln",
  requestingCode: "Code wird angefordert …",
  hostUnreachable: "Mantel ist nicht erreichbar. Neuer Versuch …",
  screenDenied: "Diesem Bildschirm wurde der Zugang verweigert.",
  showNewCode: "Neuen Code anzeigen",
  howToApprove: "Scanne den Code mit einem angemeldeten Telefon, oder gib ihn dort ein unter",
  approveHere: "Gib den Code in einem angemeldeten Browser dieses Rechners ein, unter",
  onlyThisMachine:
    "Telefone können diese Adresse nicht öffnen, denn Mantel ist nur auf diesem Rechner erreichbar. Starte es mit --host 0.0.0.0, um es aus deinem Netz zu erreichen.",
  qrCode: "QR-Code, der die Bestätigung öffnet",
  orOpenStartupLink:
    "Oder öffne auf diesem Bildschirm den Link, den Mantel beim Start ausgegeben hat.",
  linkOrToken: "Link oder Token",
  openDashboard: "Dashboard öffnen",

  approveDisplay: "Display zulassen",
  codeOnDisplay: "Code auf dem Display",
  continue: "Weiter",
  confirmCode: "Zeigt das Display diesen Code?",
  displayAddress: (address) => `Seine Adresse ist ${address}.`,
  displayName: "Name des Displays",
  displayMay: "Das Display darf",
  mayRead: "das Zuhause ansehen",
  mayControl: "das Zuhause ansehen und steuern",
  mayEdit: "auch das Layout ändern",
  mayAdmin: "alles",
  approve: "Zulassen",
  denyDisplay: "Ablehnen",
  displayApproved: (name) => `„${name}“ ist zugelassen und zeigt gleich das Dashboard.`,
  displayDenied: "Das Display wurde abgelehnt.",
  codeUnknown: "Kein Display wartet mit diesem Code. Vielleicht hat sich der Code geändert.",
  nameTaken: "Ein anderes Display oder Token heißt schon so. Wähle einen anderen Namen.",
  nameInvalid: "Ein Name hat höchstens 64 druckbare Zeichen.",
  approvalForbidden: "Dein eigenes Token erlaubt nicht, Displays zuzulassen.",
};

/** Texts of a screen without a valid token, and of the page that approves it. */
export const words = translated("pairing", english, { de: german });
